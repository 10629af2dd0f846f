package flame

import (
	"cmp"
	"math"
	"slices"

	"kitescope/profile"
)

// item is the remainder of a sample: its value, and the part of its stack that is not yet in the tree.
type item struct {
	value int64
	// at is an index in the side's stacks. remaining is the number of locations from there on.
	at, remaining uint32
	// line counts the processed frames of the location at index at. Its upper bits are flags.
	line   uint32
	events float32
	// buffer buffers the next names; buffer[used:read] are pending. Stacks are far apart in memory, so reading
	// several frames of a stack at a time takes a fraction of the time.
	buffer     [readAhead]uint32
	used, read uint8
}

const readAhead = 8

// Flags of item.line.
const (
	isBase   = 1 << 31 // the value belongs to the base
	inSecond = 1 << 30 // the stack belongs to sides[1]
	lineMask = inSecond - 1
)

// side is one of the joined Profiles.
type side struct {
	stacks []uint32
	starts []uint32
	frames *profile.Frames
	// names maps frame names to the builder's names. If nil, they are equal.
	names []uint32
}

// peek returns the name of an item's next frame. ok is false at the end of the stack. To advance, increment
// used.
func (b *builder) peek(it *item) (name uint32, ok bool) {
	if it.used == it.read {
		it.used, it.read = 0, 0
		for it.read < readAhead {
			if name, ok = b.next(it); !ok {
				break
			}
			it.buffer[it.read] = name
			it.read++
			it.line++
		}
		if it.read == 0 {
			return 0, false
		}
	}
	return it.buffer[it.used], true
}

// next returns the name of the first frame that was not read ahead. To advance, increment line.
func (b *builder) next(it *item) (name uint32, ok bool) {
	s := &b.sides[it.line>>30&1]
	for it.remaining > 0 {
		of := s.frames.IDs(s.stacks[it.at])
		if done := it.line & lineMask; int(done) < len(of) {
			if !b.o.Inverted {
				done = uint32(len(of)) - 1 - done
			}
			name = of[done]
			if s.names != nil {
				name = s.names[name]
			}
			return name, true
		}
		it.line &^= lineMask
		it.remaining--
		it.at += b.step
	}
	return 0, false
}

// join adds the samples of a Profile, with values multiplied by factor.
func (b *builder) join(p *profile.Profile, kind int, factor float64, base bool) {
	if base {
		b.seconds[0] = p.Duration.Seconds()
	} else {
		b.seconds[1] = p.Duration.Seconds()
	}
	_, all := p.Events(kind)
	p = p.Filter(&b.o.Filter)
	s := side{stacks: p.Stacks, starts: p.Starts, frames: p.Frames(b.o.By)}
	s.names = b.table.addFrames(s.frames, librariesOf(p, s.frames))
	flags := uint32(0)
	if len(b.sides) > 0 {
		flags = inSecond
	}
	if base {
		flags |= isBase
	}
	b.sides = append(b.sides, s)
	b.leaves = append(b.leaves, make([]weight, len(b.table.names)-len(b.leaves))...)
	events, total := p.Events(kind)
	if all < 0 { // the number is unknown for all samples, even if it seems known for some
		total = -1
	}
	b.items = append(make([]item, 0, len(b.items)+p.Len()), b.items...)
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
			b.t.Diff, total = true, -1
		}
		if total >= 0 {
			it.events = float32(events(i))
		}
		if it.at, it.remaining = p.Starts[i], p.Starts[i+1]-p.Starts[i]; !b.o.Inverted {
			it.at += it.remaining - 1
		}
		if b.o.Nodes {
			b.nodeOf = append(b.nodeOf, b.node(p, i))
		}
		b.leaf(&s, p.Stack(i), &it)
		b.items = append(b.items, it)
	}
	b.setEvents(base, total)
}

// leaf adds an item to the innermost frame of its stack.
func (b *builder) leaf(s *side, stack []uint32, it *item) {
	for _, location := range stack {
		if of := s.frames.IDs(location); len(of) > 0 {
			name := of[0]
			if s.names != nil {
				name = s.names[name]
			}
			b.leaves[name].add(it)
			return
		}
	}
}

// leavesByKind sums up leaves by class, and native ones by library.
func (b *builder) leavesByKind() []Leaf {
	type kind struct {
		class   profile.Class
		library string
	}
	sums := map[kind]*weight{}
	for name := range b.leaves {
		w := &b.leaves[name]
		if w.value == 0 && w.base == 0 {
			continue
		}
		k := kind{class: b.table.classes[name]}
		if k.class == profile.Native {
			k.library = b.table.libraries[name]
		}
		if sums[k] == nil {
			sums[k] = &weight{}
		}
		sums[k].value, sums[k].base = add(sums[k].value, w.value), add(sums[k].base, w.base)
	}
	leaves := make([]Leaf, 0, len(sums))
	for k, w := range sums {
		leaves = append(leaves, Leaf{k.class, k.library, w.value, w.base})
	}
	slices.SortFunc(leaves, func(x, y Leaf) int {
		return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(y.Base, x.Base), cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.Library, y.Library))
	})
	return leaves
}

// setEvents records the number of events of a side.
func (b *builder) setEvents(base bool, total int64) {
	switch {
	case base:
		b.t.BaseSamples = total
	case len(b.sides) == 1: // no base was joined before
		b.t.SamplesTotal, b.t.BaseSamples = total, -1
	default:
		b.t.SamplesTotal = total
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

// noNode is the frame name for samples of an unknown node.
const noNode = "(no node)"

// node returns the index of a sample's node.
func (b *builder) node(p *profile.Profile, sample int) uint32 {
	name := noNode
	for _, l := range p.Labels(sample) {
		if l.Key == profile.NodeLabel && !l.IsNum {
			name = l.Str
			break
		}
	}
	id, ok := b.nodeIDs[name]
	if !ok {
		if b.nodeIDs == nil {
			b.nodeIDs = map[string]uint32{}
		}
		id = uint32(len(b.nodeNames))
		b.nodeNames = append(b.nodeNames, name)
		b.nodeIDs[name] = id
	}
	return id
}
