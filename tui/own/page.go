package own

import (
	"errors"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// inRun is the scope of the page.
const inRun = tui.FreeScope << 7

// runPage shows a command in full before it runs.
type runPage struct {
	o             *Options
	name, command string
	tui.Window
}

func runKind(o *Options) tui.PageKind {
	return tui.PageKind{
		Name: "run", Doc: "Your own actions (config.yaml): run NAME.", In: inRun, Places: "commands",
		Open: func(m *tui.Model, words []string) (tui.Page, error) { return o.open(m, words) },
		Words: func(*tui.Model) []string {
			var names []string
			for i := range o.Actions {
				names = append(names, o.Actions[i].Name)
			}
			return names
		},
		Empty: func(*tui.Model) bool { return len(o.Actions) == 0 },
		Keys: []tui.Binding{
			{Action: tui.ActOpen, Keys: []string{"enter"}, In: inRun, Group: tui.GroupFollow, Hint: "run it", Doc: "Run the command: it has the terminal until it ends.", Weight: 100},
			{Action: tui.ActCopyRow, Keys: []string{"y"}, In: inRun, Group: tui.GroupTake, Hint: "copy", Doc: "Copy the command.", Weight: 25},
		},
	}
}

// open is ":run NAME": always with the command shown first.
func (o *Options) open(m *tui.Model, list []string) (tui.Page, error) {
	if len(list) != 1 {
		return nil, errors.New("run needs the name of an action")
	}
	i := slices.IndexFunc(o.Actions, func(a Action) bool { return a.Name == list[0] })
	if i < 0 {
		return nil, errors.New("there is no action " + words.Harmless(list[0]) + " in config.yaml")
	}
	a := &o.Actions[i]
	resource, cell, ok := tui.Cells(m)
	if !ok && len(a.Template.Names()) > 0 || !a.isFor(resource) {
		return nil, errors.New(a.Name + " needs a row of " + a.about())
	}
	command, _, err := a.Template.Fill(cell)
	if err != nil {
		return nil, errors.New(a.Name + ": " + err.Error())
	}
	return &runPage{o: o, name: a.Name, command: command}, nil
}

func (p *runPage) Scope() tui.Scope                  { return inRun }
func (p *runPage) Crumb() string                     { return "run " + p.name }
func (p *runPage) Note(*tui.Model) string            { return p.Place() }
func (p *runPage) Can(*tui.Model, tui.Action) string { return "" }
func (p *runPage) Refresh(*tui.Model) tui.Cmd        { return nil }
func (p *runPage) Command(*tui.Model) string         { return "" }
func (p *runPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch {
	case p.Move(a):
	case a == tui.ActOpen:
		return tui.Batch(m.Back(), p.o.run(p.name, p.command))
	case a == tui.ActCopyRow:
		return m.Copy(p.command, "the command")
	case a == tui.ActBack:
		return m.Back()
	}
	return nil
}

// Body has the whole command: what does not fit is scrolled to, and nothing of it is cut.
func (p *runPage) Body(m *tui.Model, w, h int) []string {
	lines := []string{"", " " + m.Styles.Dim.On(draw.Cut("This command of yours is about to run here:", w-2)), ""}
	for line := range strings.Lines(p.command) {
		for _, part := range draw.Broken(words.Harmless(strings.TrimRight(line, "\n")), w-6, true) {
			lines = append(lines, "   "+m.Styles.Strong.On(part))
		}
	}
	lines = append(lines, "")
	for _, part := range draw.Wrap("enter runs it, y copies it, esc leaves it. kitescope itself writes to no cluster; what your command does is up to it.", w-3) {
		lines = append(lines, " "+m.Styles.Dim.On(part))
	}
	p.Fit(len(lines), h)
	return lines[p.Top:min(len(lines), p.Top+h)]
}
