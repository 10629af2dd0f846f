package flame

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/profile"
)

// Stacks are all distinct stacks of a Profile, or of two, for formats that list them.
type Stacks struct {
	Type profile.ValueType
	// Names, Classes and Files are of the names that stacks refer to.
	Names   []string
	Classes []profile.Class
	Files   []string
	// Diff: stacks have values on both sides.
	Diff bool

	b *builder
}

// NewStacks joins equal stacks; base may be nil. Options say which and how, apart from pruning:
// all stacks are kept.
func NewStacks(base, p *profile.Profile, o Options) (*Stacks, error) {
	o.MinShare, o.MaxFrames = 0, 0
	var b *builder
	var err error
	if base != nil {
		b, err = newDiffBuilder(base, p, o)
	} else {
		var kind int
		if kind, err = p.KindOf(o.SampleIndex); err != nil {
			return nil, err
		}
		if b, err = newBuilder(p.Types[kind], o); err == nil {
			b.join(p, kind, 1, false)
		}
	}
	if err != nil {
		return nil, err
	}
	root := b.begin()
	return &Stacks{Type: b.t.Type, Names: b.table.names[:root], Classes: b.table.classes[:root], Files: b.table.files[:root], Diff: b.t.Diff, b: b}, nil
}

// Each calls back for each stack, in the order of names from the root on: frames are indexes of
// Names, root first (leaf first if Inverted), valid until it returns. It can be called once.
func (s *Stacks) Each(visit func(frames []uint32, value, base int64) error) error {
	b := s.b
	rank := b.ranks()
	var path []uint32
	waiting := []candidate{{parent: -1, hi: uint32(len(b.items)), name: uint32(len(b.table.names) - 1)}}
	for len(waiting) > 0 {
		at := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		depth := int(at.order) // of this frame; the root has 0, and is no part of a path
		if path = path[:max(depth-1, 0)]; depth > 0 {
			path = append(path, at.name)
		}
		if at.hi-at.lo == 1 && (depth > 0 || b.nodeOf == nil) {
			w := b.follow(at.lo, &path)
			if err := visit(path, w.value, w.base); err != nil {
				return err
			}
			continue
		}
		b.grow(&at)
		if at.self.value != 0 || at.self.base != 0 {
			if err := visit(path, at.self.value, at.self.base); err != nil {
				return err
			}
		}
		slices.SortFunc(b.groups, func(x, y candidate) int { return cmp.Compare(rank[y.name], rank[x.name]) })
		for i := range b.groups {
			b.groups[i].order = uint32(depth + 1)
			waiting = append(waiting, b.groups[i])
		}
	}
	return nil
}

// follow appends what is left of one item's stack.
func (b *builder) follow(i uint32, path *[]uint32) (w weight) {
	it := &b.items[i]
	w.add(it)
	for {
		name, ok := b.peek(it)
		if !ok {
			return w
		}
		it.used++
		if last := len(*path) - 1; !b.collapse || last < 0 || (*path)[last] != name {
			*path = append(*path, name)
		}
	}
}

// ranks are the places of names in their order.
func (b *builder) ranks() []uint32 {
	order := make([]uint32, len(b.table.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		return cmp.Or(strings.Compare(b.table.names[x], b.table.names[y]), cmp.Compare(x, y))
	})
	ranks := make([]uint32, len(order))
	for rank, name := range order {
		ranks[name] = uint32(rank)
	}
	return ranks
}
