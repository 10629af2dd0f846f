package profiles

import (
	"io"
	"strings"

	flamegraph "kitescope/render/flame"
	"kitescope/render/profiles"
	"kitescope/tui"
)

const flameFile = "kitescope-flame.html"

// saveMenu offers to save the graph for browsers and the profile for other tools.
func (p *flamePage) saveMenu() *tui.Menu {
	n := &tui.Menu{Title: "save the graph", Items: []tui.MenuItem{
		{Text: "web page", Note: "html", Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd { return saveFlame(m, p) }},
		{
			Text: "profile for pprof", Note: "pb.gz",
			Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd { return saveProfile(m, p.subject) },
		},
	}}
	if p.subject.diff() {
		n.Items[1].Why = "this is a comparison"
	}
	return n
}

// saveFlame saves the graph as an HTML page. For a sandwich it saves the whole tree, because the page can show the
// sandwich itself.
func saveFlame(m *tui.Model, p *flamePage) tui.Cmd {
	o := flamegraph.Options{Title: p.subject.label, Subtitle: p.subtitle()}
	if p.query.focus == "" {
		t := p.graph().index.tree
		return tui.Save(m, flameFile, func(w io.Writer) error { return flamegraph.HTML(w, t, o) })
	}
	q, filter, read := p.query, p.filter, reader(m, p.subject)
	q.focus, q.nodes, q.inverted = "", false, false
	return tui.Save(m, flameFile, func(w io.Writer) error {
		l, err := read()
		if err != nil {
			return err
		}
		l, filter := l.filterNodes(filter)
		indexes, err := q.build(l, filter)
		if err != nil {
			return err
		}
		return flamegraph.HTML(w, indexes[0].tree, o)
	})
}

// subtitle returns the duration and the start of the profiles.
func (p *flamePage) subtitle() string {
	l := p.subject.loaded
	if l == nil {
		return ""
	}
	var parts []string
	if text := profiles.Length(l.profile.Origin.Merged, l.profile.Duration); text != "" {
		parts = append(parts, text)
	}
	if !l.profile.Time.IsZero() {
		parts = append(parts, "from "+l.profile.Time.UTC().Format("2006-01-02 15:04:05")+" UTC")
	}
	return strings.Join(parts, ", ")
}
