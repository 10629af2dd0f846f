package flame

import (
	"cmp"
	"math"
	"slices"

	"kitescope/profile"
)

// item is what is left to do of a sample: its value, and the part of its stack that is not in
// the tree yet.
type item struct {
	value int64
	// at is an index of the side's stacks, and left the number of locations from there on.
	at, left uint32
	// line counts the frames of the location at which are done; above it are flags.
	line   uint32
	events float32
	// ahead are the next names, those from used to read: stacks lie far apart in memory, so that
	// reading several frames of one at a time takes a fraction of the time.
	ahead      [readAhead]uint32
	used, read uint8
}

const readAhead = 8

// Flags of item.line.
const (
	isBase   = 1 << 31 // the value is the base's
	ofSecond = 1 << 30 // the stack is of sides[1]
	lineMask = ofSecond - 1
)

// side is one of the Profiles that are joined.
type side struct {
	stacks []uint32
	starts []uint32
	frames *profile.Frames
	// names are what the grower calls the names of frames; nil: the same.
	names []uint32
}

// peek is the name of the frame that an item comes to next; ok is false at the end of its stack.
// The item goes on by used++.
func (g *grower) peek(it *item) (name uint32, ok bool) {
	if it.used == it.read {
		it.used, it.read = 0, 0
		for it.read < readAhead {
			if name, ok = g.next(it); !ok {
				break
			}
			it.ahead[it.read] = name
			it.read++
			it.line++
		}
		if it.read == 0 {
			return 0, false
		}
	}
	return it.ahead[it.used], true
}

// next is the name of the first frame that was not read ahead; the item goes on by line++.
func (g *grower) next(it *item) (name uint32, ok bool) {
	s := &g.sides[it.line>>30&1]
	for it.left > 0 {
		of := s.frames.Of(s.stacks[it.at])
		if done := it.line & lineMask; int(done) < len(of) {
			if !g.o.Inverted {
				done = uint32(len(of)) - 1 - done
			}
			name = of[done]
			if s.names != nil {
				name = s.names[name]
			}
			return name, true
		}
		it.line &^= lineMask
		it.left--
		it.at += g.step
	}
	return 0, false
}

// join adds the samples of a Profile, values times a factor.
func (g *grower) join(p *profile.Profile, kind int, factor float64, base bool) {
	if base {
		g.seconds[0] = p.Duration.Seconds()
	} else {
		g.seconds[1] = p.Duration.Seconds()
	}
	p = p.Filter(&g.o.Filter)
	s := side{stacks: p.Stacks, starts: p.Starts, frames: p.Frames(g.o.By)}
	s.names = g.table.addFrames(s.frames, librariesOf(p, s.frames))
	flags := uint32(0)
	if len(g.sides) > 0 {
		flags = ofSecond
	}
	if base {
		flags |= isBase
	}
	g.sides = append(g.sides, s)
	g.leaves = append(g.leaves, make([]worth, len(g.table.names)-len(g.leaves))...)
	events, total := p.Events(kind)
	g.items = append(make([]item, 0, len(g.items)+p.Len()), g.items...)
	for i := range p.Len() {
		value := p.Value(i, kind)
		if factor != 1 {
			value = int64(math.Round(float64(value) * factor))
		}
		if value == 0 {
			continue
		}
		it := item{value: value, line: flags}
		if value < 0 {
			it.value, it.line = magnitude(value), flags^isBase
			g.t.Diff, total = true, -1
		}
		if total >= 0 {
			it.events = float32(events(i))
		}
		if it.at, it.left = p.Starts[i], p.Starts[i+1]-p.Starts[i]; !g.o.Inverted {
			it.at += it.left - 1
		}
		if g.o.Nodes {
			g.nodeOf = append(g.nodeOf, g.node(p, i))
		}
		g.leaf(&s, p.Stack(i), &it)
		g.items = append(g.items, it)
	}
	g.counted(base, total)
}

// leaf adds an item to what its stack ends in.
func (g *grower) leaf(s *side, stack []uint32, it *item) {
	for _, location := range stack {
		if of := s.frames.Of(location); len(of) > 0 {
			name := of[0]
			if s.names != nil {
				name = s.names[name]
			}
			g.leaves[name].add(it)
			return
		}
	}
}

// leavesByKind adds leaves up by class, and native ones by library.
func (g *grower) leavesByKind() []Leaf {
	type kind struct {
		class   profile.Class
		library string
	}
	sums := map[kind]*worth{}
	for name := range g.leaves {
		w := &g.leaves[name]
		if w.value == 0 && w.base == 0 {
			continue
		}
		k := kind{class: g.table.classes[name]}
		if k.class == profile.Native {
			k.library = g.table.libraries[name]
		}
		if sums[k] == nil {
			sums[k] = &worth{}
		}
		sums[k].value, sums[k].base = add(sums[k].value, w.value), add(sums[k].base, w.base)
	}
	leaves := make([]Leaf, 0, len(sums))
	for k, w := range sums {
		leaves = append(leaves, Leaf{k.class, k.library, w.value, w.base})
	}
	slices.SortFunc(leaves, func(a, b Leaf) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.Base, a.Base), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Library, b.Library))
	})
	return leaves
}

// counted keeps how many events a side has.
func (g *grower) counted(base bool, total int64) {
	switch {
	case base:
		g.t.BaseSamples = total
	case len(g.sides) == 1: // no base was joined before
		g.t.SamplesTotal, g.t.BaseSamples = total, -1
	default:
		g.t.SamplesTotal = total
	}
}

func magnitude(v int64) int64 {
	switch {
	case v == math.MinInt64:
		return math.MaxInt64
	case v < 0:
		return -v
	}
	return v
}

// noNode is the frame of samples of which the node is not known.
const noNode = "(no node)"

// node is the index of the node that a sample comes from.
func (g *grower) node(p *profile.Profile, sample int) uint32 {
	name := noNode
	for _, l := range p.Labels(sample) {
		if l.Key == profile.NodeLabel && !l.IsNum {
			name = l.Str
			break
		}
	}
	id, ok := g.nodeIDs[name]
	if !ok {
		if g.nodeIDs == nil {
			g.nodeIDs = map[string]uint32{}
		}
		id = uint32(len(g.nodeNames))
		g.nodeNames = append(g.nodeNames, name)
		g.nodeIDs[name] = id
	}
	return id
}
