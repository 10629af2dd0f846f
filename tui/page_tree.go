package tui

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui/draw"
)

// treePage is a collection with its partitions, vchannels, segments and indexes.
type treePage struct {
	tableView
	word  string // the collection as the user typed it
	label string
	env   *view.Env // the Env that root was built from
	busy  bool      // a build is in flight; a refresh waits for it
	root  *view.Node
	err   error
	// open records which nodes the user expanded (true) or collapsed (false). Other nodes are expanded if their
	// depth is less than depth.
	open   map[nodeKey]bool
	depth  int
	filter string // lower case
	lines  []treeLine
	// options are the requested options, builtOptions the options that root was built with.
	options, builtOptions view.TreeOptions
}

// treeLine is a visible node.
type treeLine struct {
	node   *view.Node
	parent *view.Node // nil for the root
	depth  int
	open   bool
}

// nodeKey identifies a node across refreshes. It includes the parent because a vchannel occurs in several
// partitions.
type nodeKey struct{ kind, id, parent string }

func keyOf(n, parent *view.Node) nodeKey {
	k := nodeKey{kind: n.Kind, id: n.Ref.ID}
	if parent != nil {
		k.parent = parent.Ref.ID
	}
	return k
}

// findings returns the findings about a node. For a collapsed node it includes the findings about its descendants.
func (l *treeLine) findings() table.Tally {
	if l.open {
		return l.node.Findings
	}
	return l.node.Worst
}

// findingSign returns the glyph of the worst finding, for the cell before the line.
func findingSign(l treeLine) string { return cmp.Or(render.TallyGlyph(l.findings()), " ") }

func findingStyle(st *draw.Styles, l treeLine) string {
	if sign := findingSign(l); sign != " " {
		return st.Roles[l.findings().Role()].On(sign)
	}
	return " "
}

func (l *treeLine) key() nodeKey { return keyOf(l.node, l.parent) }

// smallTree is the maximum number of nodes of a tree that is fully expanded at first.
const smallTree = 60

func treeKind() PageKind {
	return PageKind{
		Name: "tree", Aliases: []string{"x"}, Doc: "A collection with its partitions, vchannels, segments, indexes.",
		Args: "COLLECTION", Open: newTreePage, Words: collectionNames,
	}
}

func newTreePage(m *Model, words []string) (Page, error) {
	if len(words) == 0 {
		if name, ok := onlyCollection(m); ok {
			words = []string{name}
		} else {
			return nil, errors.New("collection required: tree NAME (tab completes)")
		}
	}
	return makeTreePage(words[0], words[0]), nil
}

func onlyCollection(m *Model) (string, bool) {
	names := collectionNames(m)
	if len(names) == 1 {
		return names[0], true
	}
	return "", false
}

// openTree opens the tree of a collection.
func openTree(m *Model, id model.CollectionID) Cmd {
	name := m.data.cluster.CollectionName(id)
	if name == "" {
		name = id.String()
	}
	return m.Push(makeTreePage(id.String(), name))
}

func makeTreePage(word, name string) *treePage {
	return &treePage{word: word, label: "tree of " + words.Sanitize(name), open: map[nodeKey]bool{}, depth: 2}
}

func (t *treePage) Scope() Scope  { return InTree }
func (t *treePage) Crumb() string { return draw.Cut(t.label, 40) }

func (t *treePage) Note(m *Model) string {
	parts := FilterNote(t.filter)
	if t.root != nil && t.root.Omitted > 0 {
		parts = append(parts, words.Number(t.root.Omitted)+" dropped hidden ("+KeyOf(m, ActAll)+")")
	}
	if len(t.lines) > 0 {
		parts = append(parts, "line "+words.Number(t.Cursor+1)+" / "+words.Number(len(t.lines)))
	}
	return strings.Join(parts, " · ")
}

func (t *treePage) Body(m *Model, w, h int) []string {
	switch {
	case t.err != nil:
		return append([]string{""}, draw.Sentence(m.Styles, words.Sanitize(words.OneLine(t.err.Error())), w)...)
	case t.root == nil:
		return []string{"", "   " + m.Styles.Dim.On("…")}
	case len(t.lines) == 0:
		return []string{"", "   " + m.Styles.Dim.On("nothing below matches "+t.filter+"; esc clears the filter")}
	}
	t.height = h
	t.clamp(len(t.lines))
	shown := t.lines[t.top:min(t.top+h, len(t.lines))]
	return t.draw(m.Styles, shown, w)
}

// draw draws the visible lines. It aligns the labels and the fields of the same name.
func (t *treePage) draw(st *draw.Styles, shown []treeLine, w int) []string {
	labels := 0
	for _, l := range shown {
		labels = max(labels, 2*l.depth+2+draw.Width(words.Sanitize(l.node.Label)))
	}
	labels = min(labels, max(28, w*2/5)) // fits a full id at the depth of segments
	f := draw.Fields{Wide: w >= 110, Room: w - labels - 4}
	for _, l := range shown {
		f.Measure(l.node)
	}
	out := make([]string, len(shown))
	for i, l := range shown {
		indent := draw.Pad(2 * l.depth)
		label := draw.Fit(indent+t.sign(l)+draw.CutName(words.Sanitize(l.node.Label), labels-draw.Width(indent)-2),
			labels)
		if t.top+i == t.Cursor {
			out[i] = st.Cursor.On(draw.Fit(findingSign(l)+label+"  "+f.Text(nil, l.node), w))
			continue
		}
		if l.depth < 2 {
			label = st.Strong.On(label)
		}
		out[i] = findingStyle(st, l) + label + "  " + draw.Cut(f.Text(st, l.node), w-labels-4)
	}
	return out
}

// sign returns the mark that shows whether a node is a leaf, expanded or collapsed.
func (t *treePage) sign(l treeLine) string {
	switch {
	case len(l.node.Children) == 0:
		return "· "
	case l.open:
		return "▾ "
	}
	return "▸ "
}

// flatten lists the visible nodes.
func (t *treePage) flatten() {
	t.lines = t.lines[:0]
	if t.root != nil {
		t.walk(t.root, nil, 0)
	}
	t.clamp(len(t.lines))
}

// walk lists a node and its visible descendants.
func (t *treePage) walk(n, parent *view.Node, depth int) {
	if t.filter != "" && !matchesBelow(n, t.filter) {
		return
	}
	l := treeLine{node: n, parent: parent, depth: depth}
	if len(n.Children) > 0 {
		l.open = t.expanded(l.key(), depth)
	}
	t.lines = append(t.lines, l)
	if !l.open {
		return
	}
	for _, c := range n.Children {
		t.walk(c, n, depth+1)
	}
}

func (t *treePage) expanded(k nodeKey, depth int) bool {
	if t.filter != "" {
		return true
	}
	if open, ok := t.open[k]; ok {
		return open
	}
	return depth < t.depth
}

func matchesBelow(n *view.Node, filter string) bool {
	if strings.Contains(strings.ToLower(n.Label), filter) || strings.Contains(n.Ref.ID, filter) {
		return true
	}
	for _, f := range n.Fields() {
		if f.Column.Kind == table.State && strings.Contains(strings.ToLower(f.Cell.Text), filter) {
			return true
		}
	}
	for _, c := range n.Children {
		if matchesBelow(c, filter) {
			return true
		}
	}
	return false
}

func (t *treePage) current() (treeLine, bool) {
	if t.Cursor >= len(t.lines) {
		return treeLine{}, false
	}
	return t.lines[t.Cursor], true
}

func (t *treePage) Object(*Model) (model.Ref, bool) {
	l, ok := t.current()
	if !ok {
		return model.Ref{}, false
	}
	return l.node.Ref, true
}

func (t *treePage) Command(*Model) string {
	c := shellquote.Shell("tree").Arg(t.word)
	if t.options.All {
		c = c.Word("--all")
	}
	return c.String()
}

func (t *treePage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || t.busy ||
		t.env != nil && t.env.Cluster == m.data.cluster && t.env.Judgement == m.data.judged.display &&
			t.builtOptions == t.options {
		return nil
	}
	t.busy = true
	return buildTree(treeQuery{t, m.data.rowsEnv(), t.word, t.options})
}

// treeQuery holds the inputs for building a tree outside the event loop.
type treeQuery struct {
	page    *treePage
	env     *view.Env
	word    string
	options view.TreeOptions
}

// treeMsg delivers the result of a treeQuery.
type treeMsg struct {
	query treeQuery
	root  *view.Node
	err   error
}

func (p treeMsg) Apply(m *Model) Cmd {
	t := p.query.page
	t.busy = false
	at, had := t.current()
	first := t.root == nil
	t.env, t.err, t.builtOptions = p.query.env, p.err, p.query.options
	t.root = p.root
	if p.err != nil {
		return t.Refresh(m)
	}
	t.label = "tree of " + words.Sanitize(p.root.Label)
	if first && p.root.Count() <= smallTree {
		t.depth = math.MaxInt
	}
	t.flatten()
	if had {
		t.goBack(at.key())
	}
	return t.Refresh(m)
}

// goBack moves the cursor to the node with the given key, if it is visible.
func (t *treePage) goBack(k nodeKey) {
	for i := range t.lines {
		if t.lines[i].key() == k {
			t.put(i, len(t.lines))
			return
		}
	}
}
