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

// flamePage is a flame graph of profiles. A sandwich has two graphs: the callers of a function above its callees.
type flamePage struct {
	subject *profileSubject
	filter  profile.Filter
	query   flameQuery // the requested query
	shown   flameQuery // the query that the graphs show
	made    bool
	busy    bool // a tree is being made; a refresh waits for it
	err     error

	// graphs holds the graph or the callees, and the callers, which are nil unless this is a sandwich.
	graphs   [2]*flameGraph
	half     int // index of the graph with the cursor
	searches [2]flameSearch
	previous *flameState // the graph that the sandwich was opened from

	lines   []flameLine // the content of each line on the screen
	palette *flamePalette
}

// flameQuery holds the options that a tree is made with.
type flameQuery struct {
	kind     string // the sample type; "" is the profile's default
	by       profile.Granularity
	nodes    bool
	inverted bool
	raw      bool   // do not normalize a comparison
	focus    string // the function of a sandwich, named as in the profile
}

// flameState is a graph to return to.
type flameState struct {
	query    flameQuery
	graphs   [2]*flameGraph
	previous *flameState
}

// flameLine is a line of the screen: a row of one of the graphs, or an empty line if depth is -1.
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

// Note returns the result of the search, the share of the zoomed frame, and the number of frames, shown and left
// out.
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
		parts = append(parts, words.Number(t.Pruned)+" hidden (too small)")
	}
	return strings.Join(parts, " · ")
}

// graph returns the graph with the cursor.
func (p *flamePage) graph() *flameGraph { return p.graphs[p.half] }

func (p *flamePage) Refresh(m *tui.Model) tui.Cmd {
	if p.busy || p.made && p.shown == p.query {
		return nil
	}
	p.busy = true
	return buildFlame(m, p)
}

// rebuild rebuilds the tree after the query has changed.
func (p *flamePage) rebuild(m *tui.Model) tui.Cmd {
	p.err = nil
	return p.Refresh(m)
}

// treesMsg delivers the trees of a query.
type treesMsg struct {
	page   *flamePage
	query  flameQuery
	loaded *loadedProfiles
	// indexes holds the requested tree, or those of callees and callers.
	indexes [2]*flameIndex
	err     error
}

func (g treesMsg) Apply(m *tui.Model) tui.Cmd {
	p := g.page
	p.busy = false
	if g.loaded != nil {
		p.subject.loaded = g.loaded
	}
	if g.query != p.query { // the query has changed in the meantime
		return p.Refresh(m)
	}
	p.made, p.shown, p.err = true, g.query, g.err
	if g.err != nil {
		if p.graphs[0] != nil { // the graph and its query stay
			m.Notify(tui.ToneWarn, words.OneLine(profileTrouble(g.err)))
			p.query, p.shown, p.err = p.graphsQuery(), p.graphsQuery(), nil
		}
		return nil
	}
	p.setGraphs(g.query, g.indexes, m.Width-2*flameLeft)
	p.search(p.searches[p.half].text)
	return nil
}

// graphsQuery returns the query that the graphs were made by, as far as it matters after another query has failed.
func (p *flamePage) graphsQuery() flameQuery {
	t := p.graphs[0].index.tree
	q := p.query
	q.kind, q.by, q.nodes, q.inverted, q.raw = t.Type.Type, t.By, t.Nodes, t.Inverted, t.Diff && !t.Normalized
	if t.Focus == "" {
		q.focus = ""
	}
	return q
}

// setGraphs shows new trees in rows of w cells. The cursor stays on its frame if the new tree has one on the same path.
func (p *flamePage) setGraphs(q flameQuery, indexes [2]*flameIndex, w int) {
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

// refind returns the position of a frame of old in t. If only old has a frame for each node, that frame is skipped.
// If only t has them, the result is 0, the root.
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

// Command returns the command line for the same graph, or "" for a sandwich, which exists only in the UI.
func (p *flamePage) Command(*tui.Model) string {
	if p.query.focus != "" {
		return ""
	}
	c, ok := p.subject.command("flame")
	if !ok {
		return ""
	}
	if p.subject.diff() {
		c = c.Flag("--base", p.subject.baseArg)
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

// profileFlags adds the flags that the profile commands share.
func profileFlags(c shellquote.Command, kind string, by profile.Granularity, f *profile.Filter) shellquote.Command {
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
