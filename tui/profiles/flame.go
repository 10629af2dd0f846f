package profiles

import (
	"regexp"
	"strings"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// flamePage is a flame graph of profiles. In a sandwich it is two: what calls a function above
// what the function calls.
type flamePage struct {
	subject *profileSubject
	filter  profile.Filter
	query   flameQuery // what is asked for
	shown   flameQuery // what is shown
	made    bool
	busy    bool // a tree is on its way; a refresh waits for it
	err     error

	// graphs are everything, or what is called; and the callers, nil unless this is a sandwich.
	graphs   [2]*flameGraph
	half     int // which of them the cursor is in
	searches [2]flameSearch
	before   *flameBefore // what a sandwich was opened from

	lines   []flameLine // what each line of the graph shows
	palette *flamePalette
}

// flameQuery is how a tree is made.
type flameQuery struct {
	kind     string // the sample type; "" is the profile's own
	by       profile.By
	nodes    bool
	inverted bool
	raw      bool   // a difference that is not normalized
	focus    string // the function of a sandwich, as the profile has it
}

// flameBefore is a graph that is come back to.
type flameBefore struct {
	query  flameQuery
	graphs [2]*flameGraph
	before *flameBefore
}

// flameLine is a row of one of the graphs; depth -1 is none.
type flameLine struct{ half, depth int }

// Halves of a sandwich.
const (
	calleesHalf = iota
	callersHalf
)

func newFlamePage(s *profileSubject, q flameQuery) *flamePage {
	return &flamePage{subject: s, query: q}
}

func (p *flamePage) Scope() tui.Scope { return tui.InFlame }

func (p *flamePage) Crumb() string {
	if p.subject.diff() {
		return "flame diff " + draw.Cut(subjectOf(p.subject, &p.filter), 60)
	}
	return "flame " + draw.Cut(subjectOf(p.subject, &p.filter), 48)
}

// Note says how the search went, what is zoomed, and what is left out.
func (p *flamePage) Note(*tui.Model) string {
	g := p.graph()
	if g == nil {
		return ""
	}
	var parts []string
	if s := &p.searches[p.half]; s.text != "" {
		parts = append(parts, "/"+s.text+" "+s.summary())
	}
	t := g.index.tree
	if g.zoom != g.base {
		share, _ := t.Share(g.zoom)
		parts = append(parts, "zoom "+words.Percent(100*share))
	}
	parts = append(parts, words.Plural(len(t.Frames)-1, "frame"))
	if t.Pruned > 0 {
		parts = append(parts, words.Number(t.Pruned)+" too small left out")
	}
	return strings.Join(parts, " · ")
}

// graph is the one that the cursor is in.
func (p *flamePage) graph() *flameGraph { return p.graphs[p.half] }

func (p *flamePage) Refresh(m *tui.Model) tui.Cmd {
	if p.busy || p.made && p.shown == p.query {
		return nil
	}
	p.busy = true
	return growFlame(m, p)
}

// ask makes the tree anew, after the query has changed.
func (p *flamePage) ask(m *tui.Model) tui.Cmd {
	p.err = nil
	return p.Refresh(m)
}

// grownMsg brings the trees of a query.
type grownMsg struct {
	page   *flamePage
	query  flameQuery
	loaded *loadedProfiles
	// indexes are of what is asked for, or of callees and callers.
	indexes [2]*flameIndex
	err     error
}

func (g grownMsg) Apply(m *tui.Model) tui.Cmd {
	p := g.page
	p.busy = false
	if g.loaded != nil {
		p.subject.loaded = g.loaded
	}
	if g.query != p.query { // meanwhile something else is asked for
		return p.Refresh(m)
	}
	p.made, p.shown, p.err = true, g.query, g.err
	if g.err != nil {
		if p.graphs[0] != nil { // what is shown stays, and so does what it is of
			m.Say(tui.ToneWarn, words.OneLine(profileTrouble(g.err)))
			p.query, p.shown, p.err = p.graphsQuery(), p.graphsQuery(), nil
		}
		return nil
	}
	p.take(g.query, g.indexes, m.Width-2*flameLeft)
	p.search(p.searches[p.half].text)
	return nil
}

// graphsQuery is the query that the graphs were made by, as far as it matters when another one went wrong.
func (p *flamePage) graphsQuery() flameQuery {
	t := p.graphs[0].index.tree
	q := p.query
	q.kind, q.by, q.nodes, q.inverted, q.raw = t.Type.Type, t.By, t.Nodes, t.Inverted, t.Diff && !t.Normalized
	if t.Focus == "" {
		q.focus = ""
	}
	return q
}

// take shows new trees in rows of w cells; the cursor stays on its frame where there is one on the same path.
func (p *flamePage) take(q flameQuery, indexes [2]*flameIndex, w int) {
	old := p.graphs[0]
	p.graphs = [2]*flameGraph{}
	p.half = 0
	if q.focus != "" {
		for half, x := range indexes {
			if len(x.tree.Frames) > 1 {
				p.graphs[half] = newFlameGraph(x, 1)
				p.graphs[half].resize(w)
			}
		}
		if g := p.graphs[callersHalf]; g != nil {
			g.low++ // the function itself is drawn once
		}
		if p.graphs[0] != nil {
			return
		}
	}
	x := indexes[0]
	g := newFlameGraph(x, 0)
	g.resize(w)
	p.graphs = [2]*flameGraph{g, nil}
	if old != nil && old.base == 0 && old.index.tree.Inverted == x.tree.Inverted && old.index.tree.By == x.tree.By {
		before := old.index.tree
		g.setZoom(refind(x.tree, before, old.zoom))
		g.point(refind(x.tree, before, old.at))
	}
	if g.at == 0 {
		g.point(g.largest())
	}
}

// refind is where a frame of a tree is in another. A frame for each node may have come in between.
func refind(t, old *flame.Tree, frame int32) int32 {
	path := old.Path(frame)
	if old.Nodes && !t.Nodes && len(path) > 0 {
		path = path[1:]
	}
	if t.Nodes && !old.Nodes {
		return 0
	}
	return t.Find(path)
}

// Command returns the command line of the same graph. A sandwich exists in this page alone.
func (p *flamePage) Command(*tui.Model) string {
	if p.query.focus != "" {
		return ""
	}
	c, ok := p.subject.command("flame")
	if !ok {
		return ""
	}
	if p.subject.diff() {
		c = c.Flag("--base", p.subject.was)
	}
	c = profileFlags(c, p.query.kind, p.query.by, &p.filter)
	for _, flag := range []struct {
		name string
		on   bool
	}{
		{"--normalize", p.subject.diff() && !p.query.raw},
		{"--nodes", p.query.nodes},
		{"--inverted", p.query.inverted},
	} {
		if flag.on {
			c = c.Word(flag.name)
		}
	}
	return c.String()
}

// profileFlags adds the flags that commands about profiles share.
func profileFlags(c shellquote.Command, kind string, by profile.By, f *profile.Filter) shellquote.Command {
	if kind != "" {
		c = c.Flag("--sample", kind)
	}
	if by != profile.ByFunction {
		c = c.Flag("--by", by.String())
	}
	for _, flag := range []struct {
		name string
		re   *regexp.Regexp
	}{{"--focus", f.Focus}, {"--ignore", f.Ignore}, {"--hide", f.Hide}, {"--show", f.Show}} {
		if flag.re != nil {
			c = c.Flag(flag.name, flag.re.String())
		}
	}
	for _, node := range f.Nodes {
		c = c.Flag("--node", node)
	}
	return c
}
