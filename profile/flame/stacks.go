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

	g *grower
}

// NewStacks joins equal stacks; base may be nil. Options say which and how, apart from pruning:
// all stacks are kept.
func NewStacks(base, p *profile.Profile, o Options) (*Stacks, error) {
	o.MinShare, o.MaxFrames = 0, 0
	var g *grower
	var err error
	if base != nil {
		g, err = newDiffGrower(base, p, o)
	} else {
		var kind int
		if kind, err = p.KindOf(o.SampleIndex); err != nil {
			return nil, err
		}
		if g, err = newGrower(p.Types[kind], o); err == nil {
			g.join(p, kind, 1, false)
		}
	}
	if err != nil {
		return nil, err
	}
	root := g.begin()
	return &Stacks{Type: g.t.Type, Names: g.table.names[:root], Classes: g.table.classes[:root], Files: g.table.files[:root], Diff: g.t.Diff, g: g}, nil
}

// Each calls back for each stack, in the order of names from the root on: frames are indexes of
// Names, root first (leaf first if Inverted), valid until it returns. It can be called once.
func (s *Stacks) Each(visit func(frames []uint32, value, base int64) error) error {
	g := s.g
	rank := g.ranks()
	var path []uint32
	waiting := []shoot{{parent: -1, hi: uint32(len(g.items)), name: uint32(len(g.table.names) - 1)}}
	for len(waiting) > 0 {
		at := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		depth := int(at.order) // of this frame; the root has 0, and is no part of a path
		if path = path[:max(depth-1, 0)]; depth > 0 {
			path = append(path, at.name)
		}
		if at.hi-at.lo == 1 && (depth > 0 || g.nodeOf == nil) {
			w := g.follow(at.lo, &path)
			if err := visit(path, w.value, w.base); err != nil {
				return err
			}
			continue
		}
		g.grow(&at)
		if at.self.value != 0 || at.self.base != 0 {
			if err := visit(path, at.self.value, at.self.base); err != nil {
				return err
			}
		}
		slices.SortFunc(g.groups, func(a, b shoot) int { return cmp.Compare(rank[b.name], rank[a.name]) })
		for i := range g.groups {
			g.groups[i].order = uint32(depth + 1)
			waiting = append(waiting, g.groups[i])
		}
	}
	return nil
}

// follow appends what is left of one item's stack.
func (g *grower) follow(i uint32, path *[]uint32) (w worth) {
	it := &g.items[i]
	w.add(it)
	for {
		name, ok := g.peek(it)
		if !ok {
			return w
		}
		it.used++
		if last := len(*path) - 1; !g.collapse || last < 0 || (*path)[last] != name {
			*path = append(*path, name)
		}
	}
}

// ranks are the places of names in their order.
func (g *grower) ranks() []uint32 {
	order := make([]uint32, len(g.table.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(strings.Compare(g.table.names[a], g.table.names[b]), cmp.Compare(a, b))
	})
	ranks := make([]uint32, len(order))
	for rank, name := range order {
		ranks[name] = uint32(rank)
	}
	return ranks
}
