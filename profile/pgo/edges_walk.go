package pgo

import (
	"math"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// calls holds the calls of a profile as the compiler sees them (EdgesOf), before they are grouped by name: the
// positions that call each other and the samples of each call.
type calls struct {
	p    *profile.Profile
	kind int // index of the selected sample type

	nodes []node
	links []link
	// Samples with the same leaf and caller have the same calls, so they are counted together. The calls of ends[i]
	// are links[s] for s in steps[starts[i]:starts[i+1]].
	ends   []end
	starts []uint32
	steps  []uint32

	// named holds the calls by name; named[edgeOf[i]] is the name of links[i].
	named  []Edge
	edgeOf []uint32

	hasStartLine bool
}

// node is a position in a function, as internal/profile distinguishes them (NodeInfo), and the weights of its
// samples.
type node struct {
	position
	flat, cum int64
}

type position struct {
	name            string
	address         uint64
	startLine, line int64
}

// link is a call between two nodes.
type link struct {
	from, to uint32
	weight   int64
	// outOfLine reports that in some sample the call connects two locations, i.e. it was not inlined there.
	outOfLine bool
}

// end is the end of a stack: its leaf and the leaf's caller.
type end struct {
	leaf, caller uint32
	weight       int64
	events       float64 // number of samples, 0 if unknown
}

// none marks a missing index.
const none = math.MaxUint32

// maxFrames limits the number of frames that are walked, summed over all distinct ends of stacks. A million
// ends have about five million frames.
const maxFrames = 200_000_000

// counts reports whether the compiler counts a call. It ignores nodes whose samples add up to 0 (internal/profile:
// selectNodesForGraph).
func (c *calls) counts(l link) bool {
	return c.nodes[l.from].flat != 0 || c.nodes[l.from].cum != 0
}

// callsOf returns the calls of all samples with a nonzero value.
func callsOf(p *profile.Profile) (*calls, error) {
	c := &calls{p: p, kind: kindOf(p), starts: []uint32{0}}
	if p.Len() == 0 {
		return c, nil
	}
	if c.kind < 0 {
		return nil, wrongType(p).err()
	}
	c.collectEnds()
	w := &walker{
		calls: c, bare: map[uint32]uint32{}, ids: map[position]uint32{}, linkIDs: map[uint64]uint32{},
		first: make([]uint32, len(p.Lines)),
	}
	for i := range w.first {
		w.first[i] = none
	}
	if err := w.walk(); err != nil {
		return nil, err
	}
	c.name()
	for _, n := range c.nodes {
		c.hasStartLine = c.hasStartLine || n.startLine != 0 && (n.flat != 0 || n.cum != 0)
	}
	return c, nil
}

func (c *calls) collectEnds() {
	events, _ := c.p.Events(c.kind)
	at := map[uint64]uint32{}
	for i := range c.p.Len() {
		stack, weight := c.p.Stack(i), c.p.Value(i, c.kind)
		if weight == 0 || len(stack) == 0 {
			continue
		}
		e := end{leaf: stack[0], caller: none}
		if len(stack) > 1 {
			e.caller = stack[1]
		}
		key := uint64(e.leaf)<<32 | uint64(e.caller)
		to, ok := at[key]
		if !ok {
			to = uint32(len(c.ends))
			at[key] = to
			c.ends = append(c.ends, e)
		}
		c.ends[to].weight += weight
		c.ends[to].events += events(i)
	}
}

// name groups the links by name. Links that differ only in addresses are one call.
func (c *calls) name() {
	ids := map[Edge]uint32{}
	c.edgeOf = make([]uint32, len(c.links))
	for i, l := range c.links {
		from := &c.nodes[l.from]
		e := Edge{Caller: from.name, Callee: c.nodes[l.to].name, Offset: int(from.line) - int(from.startLine)}
		id, ok := ids[e]
		if !ok {
			id = uint32(len(c.named))
			ids[e] = id
			c.named = append(c.named, e)
		}
		c.edgeOf[i] = id
	}
}

// walker walks over the ends of stacks.
type walker struct {
	*calls
	first   []uint32          // node of each line of the profile
	bare    map[uint32]uint32 // node of each location without lines
	ids     map[position]uint32
	linkIDs map[uint64]uint32
	// seenNode and seenLink hold the index of the last end that had the node or link, plus 1.
	seenNode, seenLink []uint32
}

func (w *walker) walk() error {
	var path []uint32
	left := maxFrames
	for i := range w.ends {
		e := &w.ends[i]
		path = path[:0]
		if e.caller != none {
			path = w.frames(path, e.caller)
		}
		inCaller := len(path)
		path = w.frames(path, e.leaf)
		if left -= len(path); left < 0 {
			return hints.Errorf("is it a profile of a Go program? if it is, profile a shorter time",
				"count the calls: %w: the ends of its stacks have more than %d frames", profile.ErrTooLarge, maxFrames)
		}
		w.addPath(path, inCaller, uint32(i)+1, e.weight)
		w.starts = append(w.starts, uint32(len(w.steps)))
	}
	return nil
}

// frames appends the nodes of a location, the outermost first.
func (w *walker) frames(path []uint32, location uint32) []uint32 {
	l := &w.p.Locations[location]
	if l.Lines == 0 {
		id, ok := w.bare[location]
		if !ok {
			id = w.node(position{address: l.Address})
			w.bare[location] = id
		}
		return append(path, id)
	}
	for i := l.FirstLine + l.Lines; i > l.FirstLine; i-- {
		id := w.first[i-1]
		if id == none {
			at := position{address: l.Address}
			if line := w.p.Lines[i-1]; int64(line.Function) < int64(len(w.p.Functions)) {
				f := &w.p.Functions[line.Function]
				at.name, at.startLine, at.line = f.Name, f.StartLine, line.Line
			}
			id = w.node(at)
			w.first[i-1] = id
		}
		path = append(path, id)
	}
	return path
}

func (w *walker) node(at position) uint32 {
	id, ok := w.ids[at]
	if !ok {
		id = uint32(len(w.nodes))
		w.ids[at] = id
		w.nodes = append(w.nodes, node{position: at})
		w.seenNode = append(w.seenNode, 0)
	}
	return id
}

// addPath counts the calls of a path. The first inCaller nodes belong to the caller (internal/profile: NewGraph).
func (w *walker) addPath(path []uint32, inCaller int, stamp uint32, weight int64) {
	parent := uint32(none)
	for i, n := range path {
		if w.seenNode[n] != stamp {
			w.seenNode[n] = stamp
			w.nodes[n].cum += weight
		}
		if parent != none && parent != n {
			id := w.link(parent, n)
			if i == inCaller {
				w.links[id].outOfLine = true
			}
			if w.seenLink[id] != stamp {
				w.seenLink[id] = stamp
				w.links[id].weight += weight
				w.steps = append(w.steps, id)
			}
		}
		parent = n
	}
	w.nodes[parent].flat += weight
}

func (w *walker) link(from, to uint32) uint32 {
	key := uint64(from)<<32 | uint64(to)
	id, ok := w.linkIDs[key]
	if !ok {
		id = uint32(len(w.links))
		w.linkIDs[key] = id
		w.links = append(w.links, link{from: from, to: to})
		w.seenLink = append(w.seenLink, 0)
	}
	return id
}
