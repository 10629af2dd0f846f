package tui

import (
	"io"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
)

// clipboardLimit is the largest text that is copied, in bytes: terminals drop longer
// OSC 52 sequences without a word (xterm and others near 100 kB of base64).
const clipboardLimit = 74_000

// copyLimit is the largest text that a program is given: beyond it a file is what a person wants.
const copyLimit = 16 << 20

// mostCopied is the largest text that can be copied here.
func mostCopied(m *Model) int {
	if m.Config.Clipboard != nil {
		return copyLimit
	}
	return clipboardLimit
}

// Copy puts a text on the clipboard, and says on which once it is there. The terminal itself is asked last (OSC 52): it does not say
// whether it did as it was told.
func (m *Model) Copy(text, what string) Cmd {
	what = words.Harmless(what)
	switch {
	case len(text) > mostCopied(m):
		m.Say(ToneWarn, what+" is too much to copy: save it to a file")
		return nil
	case m.Config.Clipboard == nil:
		return copiedMsg{text: render.Pasted(text), what: what}.Apply(m)
	}
	m.Say(ToneInfo, "copying "+what+"…")
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		c := copiedMsg{text: render.Pasted(text), what: what}
		c.to, c.why, c.err = m.Config.Clipboard(ctx, c.text)
		return c
	}
}

// copyMade copies what is made off the loop: a text that stops soon after the most that can be copied.
func (m *Model) copyMade(what string, text func(most int) string) Cmd {
	most := mostCopied(m)
	m.Say(ToneInfo, "copying "+what+"…")
	return func() tea.Msg { return madeMsg{text(most), what} }
}

// madeMsg brings a text that is to be copied.
type madeMsg struct{ text, what string }

func (t madeMsg) Apply(m *Model) Cmd { return m.Copy(t.text, t.what) }

// copiedMsg says which clipboard has a text; to is "" where none but the terminal's is left.
type copiedMsg struct {
	text, what, to, why string
	err                 error
}

func (c copiedMsg) Apply(m *Model) Cmd {
	why := ""
	if c.why != "" {
		why = " (" + words.Harmless(c.why) + ")"
	}
	switch {
	case c.err != nil:
		m.Say(ToneBad, "not copied: "+words.Harmless(c.err.Error()))
	case c.to != "":
		m.Say(ToneGood, "copied to "+c.to+": "+c.what)
	case len(c.text) > clipboardLimit:
		m.Say(ToneWarn, "not copied"+why+": "+c.what+" is more than a terminal takes: save it to a file")
	default:
		m.Say(ToneInfo, "sent to the terminal (OSC 52)"+why+": "+c.what)
		return tea.SetClipboard(c.text)
	}
	return nil
}

// Tabular is a page that can be copied as a table.
type Tabular interface {
	// TSVTable is the table as TSV with a header, and how many rows it has.
	TSVTable() (tsv string, rows int)
}

// copyMenu offers the forms in which the page can be copied.
func copyMenu(m *Model) *Menu {
	n := &Menu{Title: "copy"}
	top := m.Top()
	if c, ok := top.(copier); ok {
		n.Items = append(n.Items, c.copies(m)...)
	}
	command := top.Command(m)
	item := MenuItem{Text: "the command that prints this", Run: func(m *Model, _ *Menu) Cmd {
		return m.copyCommand(command)
	}}
	if command == "" {
		item.Why = "there is none"
	}
	n.Items = append(n.Items, item)
	if g, ok := top.(*gridPage); ok && g.rows.Table != nil {
		t, list, columns := g.rows.Table, g.taken(), g.columnList() // a refresh while the menu is open changes the page
		count := words.Plural(len(list), "row")
		n.Items = append(n.Items,
			MenuItem{Text: "table as TSV", Note: count, Run: func(m *Model, _ *Menu) Cmd {
				return m.copyMade(count, writeTSV(t, list, columns, true))
			}},
			MenuItem{Text: "ids, one per line", Run: func(m *Model, _ *Menu) Cmd { return m.copyMade("ids", writeIDs(t, list)) }})
	}
	if t, ok := top.(Tabular); ok {
		text, rows := t.TSVTable()
		if rows > 0 {
			n.Items = append(n.Items, MenuItem{Text: "table as TSV", Note: words.Plural(rows, "row"), Run: func(m *Model, _ *Menu) Cmd {
				return m.Copy(text, words.Plural(rows, "row"))
			}})
		}
	}
	return n
}

func (m *Model) copyCommand(command string) Cmd {
	line := commandLine(m, command)
	return m.Copy(line, line)
}

// reaching is what a fix says to run, with the way to this cluster in kitescope's own commands: where they are pasted nobody knows it. Commands
// that name processes or files have theirs.
func reaching(m *Model, fix string) string {
	lines := strings.Split(fix, "\n")
	for i, line := range lines {
		if command, ours := strings.CutPrefix(line, "kitescope "); ours && !needsNoCluster(command) {
			lines[i] = commandLine(m, command)
		}
	}
	return strings.Join(lines, "\n")
}

// commandLine is a command of kitescope with the way to the cluster that is shown, as it was at the moment that is shown.
func commandLine(m *Model, command string) string {
	line := command
	if at, away := m.Shown(); away && knowsPast(command) {
		line += " --at rev:" + strconv.FormatInt(at, 10)
	} else if m.Config.NodeFlags != "" && !needsNoCluster(command) {
		line = m.Config.NodeFlags + " " + line
	}
	if m.Config.Command != "" {
		line = m.Config.Command + " " + line
	}
	return line
}

// knowsPast reports whether a command takes --at.
func knowsPast(command string) bool {
	verb, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{"get", "describe", "tree", "overview", "balance", "diagnose"}, verb)
}

// needsNoCluster reports whether a command reads files only.
func needsNoCluster(command string) bool {
	verb, _, _ := strings.Cut(command, " ")
	return verb == "explain" || verb == "profile" || verb == "pgo" || verb == "compare" || verb == "replay"
}

// copyRows copies the marked rows, else the current one.
func (g *gridPage) copyRows(m *Model) Cmd {
	if len(g.marks) > 0 {
		list := g.taken()
		return m.copyMade(words.Plural(len(list), "marked row"), writeTSV(g.rows.Table, list, g.columnList(), false))
	}
	row, _ := g.current()
	return m.Copy(writeTSV(g.rows.Table, []int32{int32(row)}, g.columnList(), false)(mostCopied(m)), g.resource.Singular+" "+refName(g.rows.Table.Ref(row)))
}

// taken are the rows that copy and save are about: those marked, else all shown.
func (g *gridPage) taken() []int32 {
	n := g.rows.Count()
	rows := make([]int32, 0, n)
	for i := range n {
		row := g.rows.Row(i)
		if len(g.marks) > 0 {
			if _, ok := g.marks[g.rows.Table.Ref(row).ID]; !ok {
				continue
			}
		}
		rows = append(rows, int32(row))
	}
	return rows
}

// Command is the command line that prints the same table.
func (g *gridPage) Command(*Model) string {
	l := listing{Resource: g.resource, Where: g.where, Filter: &g.filter, Order: g.order, All: g.all, Wide: g.wide, Chosen: g.chosen}
	return l.Command()
}

// saveMenu offers the formats in which the rows can be saved.
func saveMenu(g *gridPage) *Menu {
	t, list := g.rows.Table, g.taken()
	n := &Menu{Title: "save " + words.Number(len(list)) + " " + g.resource.Name}
	for _, word := range []string{"json", "csv", "jsonl", "yaml"} {
		format, err := render.ListFormats().Parse(word)
		if err != nil {
			continue
		}
		n.Items = append(n.Items, MenuItem{Text: word, Note: format.Doc(), Run: func(m *Model, _ *Menu) Cmd {
			grid := view.NewGrid(t, list, g.savedColumns(format))
			return Save(m, FileName(g.resource.Name, "")+"."+word, func(w io.Writer) error {
				return clusters.Grid(w, grid, render.Options{Format: format})
			})
		}})
	}
	return n
}

// SaveReport offers the formats that a report has on a command line too.
func SaveReport[F any](title, name string, parse func(word string) (F, error), write func(io.Writer, F) error) *Menu {
	n := &Menu{Title: title}
	for _, word := range []string{"csv", "json", "markdown"} {
		format, err := parse(word)
		if err != nil {
			continue
		}
		extension := map[bool]string{true: "md", false: word}[word == "markdown"]
		n.Items = append(n.Items, MenuItem{Text: word, Run: func(m *Model, _ *Menu) Cmd {
			return Save(m, FileName(name, "")+"."+extension, func(w io.Writer) error { return write(w, format) })
		}})
	}
	return n
}

// savedColumns are the chosen columns, else all that the format has.
func (g *gridPage) savedColumns(f render.Format) []int {
	if g.chosen != nil {
		return g.chosen
	}
	return g.resource.ColumnsFor(f.Show(), g.known())
}

// FileName makes a file name of what is saved.
func FileName(resource, id string) string {
	name := "kitescope-" + resource
	if id != "" {
		name += "-" + id
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}
