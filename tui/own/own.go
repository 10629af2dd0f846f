// Package own is what a person adds to the UI by their configuration: commands that are run from a row, other clusters to change to,
// and keeping what they choose. What enters are those; what leaves are keys, words and a page for the UI. Nothing of it writes to a cluster: what a
// person's own command does is up to that.
package own

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/tui"
)

// Action is a command of the person's own.
type Action struct {
	Name, Key string
	On        []string // resources that it is for; nil: all
	Template  shellquote.Template
	Text      string // the template as it was written
	// Asks: the command is shown before it runs. One with a value that had to be quoted always is.
	Asks bool
}

// Cluster is one to change to.
type Cluster struct {
	Name, About string
	Open        func(context.Context) (*tui.Source, error)
}

// Options are what a person's own things need.
type Options struct {
	Actions []Action
	// Shell makes a command that has the terminal while it runs.
	Shell func(command string) tea.ExecCommand
	// Clusters are those that are configured now; nil: there is nothing to change to.
	Clusters func() ([]Cluster, error)
}

// Make makes keys and words of it, and the page that shows a command before it runs.
func Make(o Options) tui.Own {
	all := tui.Own{KeepColumns: keepColumns, Words: keepWords()}
	if o.Clusters != nil {
		all.Words = append(all.Words, tui.Word{Text: "ctx", Doc: "Change to another cluster of the configuration: ctx NAME.", Args: o.names, Run: o.change})
	}
	for i := range o.Actions {
		a := &o.Actions[i]
		all.Words = append(all.Words, tui.Word{Text: a.Name, Doc: "Run " + words.Harmless(words.OneLine(a.Text)), Run: func(m *tui.Model, _ string) tui.Cmd {
			if resource, cell, ok := tui.Cells(m); ok || len(a.Template.Names()) == 0 {
				if a.isFor(resource) {
					return o.start(m, a, cell)
				}
			}
			m.Say(tui.ToneWarn, a.Name+" needs a row of "+a.about())
			return nil
		}})
	}
	all.Key = func(m *tui.Model, key string) (tui.Cmd, bool) {
		for i := range o.Actions {
			a := &o.Actions[i]
			if a.Key != key || key == "" || m.Top().Scope() == inRun {
				continue
			}
			if resource, cell, ok := tui.Cells(m); ok && a.isFor(resource) || len(a.Template.Names()) == 0 && a.On == nil {
				return o.start(m, a, cell), true
			}
		}
		return nil, false
	}
	all.Pages = []tui.PageKind{runKind(&o)}
	return all
}

func (a *Action) isFor(resource string) bool { return a.On == nil || slices.Contains(a.On, resource) }

func (a *Action) about() string {
	if a.On == nil {
		return "a table"
	}
	return strings.Join(a.On, " or ")
}

// start shows a command, or runs it where the person does not want to see it.
func (o *Options) start(m *tui.Model, a *Action, cell func(string) (string, error)) tui.Cmd {
	command, quoted, err := a.Template.Fill(cell)
	if err != nil {
		m.Say(tui.ToneBad, a.Name+": "+words.Harmless(err.Error()))
		return nil
	}
	if a.Asks || quoted {
		return m.Push(&runPage{o: o, name: a.Name, command: command})
	}
	return o.run(a.Name, command)
}

// run gives the terminal to a command.
func (o *Options) run(name, command string) tui.Cmd {
	return tea.Exec(o.Shell(command), func(err error) tea.Msg { return ranMsg{name, err} })
}

type ranMsg struct {
	name string
	err  error
}

func (r ranMsg) Apply(m *tui.Model) tui.Cmd {
	if r.err != nil {
		m.Say(tui.ToneWarn, r.name+": "+words.Harmless(r.err.Error()))
	} else {
		m.Say(tui.ToneInfo, r.name+" is done")
	}
	return nil
}

// names complete ":ctx".
func (o *Options) names(*tui.Model) []string {
	list, _ := o.Clusters()
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// change is ":ctx NAME"; without a name it lists the clusters.
func (o *Options) change(m *tui.Model, name string) tui.Cmd {
	list, err := o.Clusters()
	switch {
	case err != nil:
		m.Say(tui.ToneBad, words.Harmless(err.Error()))
		return nil
	case len(list) == 0:
		m.Say(tui.ToneWarn, "there are no contexts: kitescope context add --help says how to name clusters")
		return nil
	case name == "":
		n := &tui.Menu{Title: "change to"}
		for i := range list {
			n.Items = append(n.Items, tui.MenuItem{Text: words.Harmless(list[i].Name), Note: words.Harmless(list[i].About), Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
				return tui.Switch(m, list[i].Name, list[i].Open)
			}})
		}
		m.Menu = n
		return nil
	}
	i := slices.IndexFunc(list, func(c Cluster) bool { return c.Name == name })
	if i < 0 {
		m.Say(tui.ToneBad, "no context "+words.Harmless(name)+"; available: "+words.Harmless(strings.Join(o.names(m), ", ")))
		return nil
	}
	return tui.Switch(m, name, list[i].Open)
}
