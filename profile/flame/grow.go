package flame

import "kitescope/profile"

// grower makes a Tree from the root outwards, the largest frame first. Each frame that may
// come to be is a range of items whose stacks begin with it; making it sorts that range by the
// next frame. So a stack is only read as far as it is shown, and what is small is never made.
type grower struct {
	o        Options
	t        *Tree
	step     uint32 // to the next location of a stack, modulo 2^32
	collapse bool   // equal frames in a row are one

	sides []side
	table nameTable
	items []item
	// nodeOf are the nodes of items, with Options.Nodes, as indexes of nodeNames.
	nodeOf    []uint32
	nodeNames []string
	nodeIDs   map[string]uint32
	// leaves are what stacks end in, by name.
	leaves []worth
	// seconds are how long the base and the new side took; 0: unknown.
	seconds [2]float64

	// What grow works with: the group that a name has now, the groups, and that of each item.
	groupOf []uint32
	groups  []shoot
	ofItem  []uint32
	ends    []uint32 // where the items of each group end
	// firstNode is the name of the first of nodeNames.
	firstNode uint32

	made    []shoot
	waiting shoots
	total   worth
}

// worth is what items add up to.
type worth struct {
	value, base        int64
	events, baseEvents float64
}

func (w *worth) add(it *item) {
	if it.line&isBase != 0 {
		w.base = add(w.base, it.value)
		w.baseEvents += float64(it.events)
	} else {
		w.value = add(w.value, it.value)
		w.events += float64(it.events)
	}
}

// shareOf is the larger of both sides' shares.
func (w *worth) shareOf(total *worth) float64 {
	return max(part(w.value, total.value), part(w.base, total.base))
}

// shoot is a frame that was or may be made.
type shoot struct {
	worth
	self   worth
	share  float64
	name   uint32
	parent int32 // index of made
	lo, hi uint32
	// order tells which of two equal ones was found first.
	order uint32
}

// tree makes the Tree of all that was joined.
func (g *grower) tree() *Tree {
	root := shoot{share: 1, parent: -1, hi: uint32(len(g.items))}
	for i := range g.items {
		root.add(&g.items[i])
	}
	g.total = root.worth
	root.name = g.begin()
	g.waiting.push(root)
	least := 1.0
	for len(g.waiting.heap) > 0 && len(g.made) < g.o.MaxFrames {
		s := g.waiting.pop()
		least = s.share
		g.grow(&s)
		for i := range g.groups {
			if g.groups[i].lo != small {
				g.groups[i].parent = int32(len(g.made))
				g.waiting.push(g.groups[i])
			}
		}
		g.waiting.bound(g.o.MaxFrames)
		g.made = append(g.made, s)
	}
	if g.t.Pruned += len(g.waiting.heap) + g.waiting.dropped; g.t.Pruned > 0 {
		g.t.PrunedMin = least
	}
	g.arrange()
	if g.t.Focus == "" {
		g.t.Leaves = g.leavesByKind()
	}
	return g.t
}

// begin ends the joining: it names nodes and the root, whose name it returns.
func (g *grower) begin() (root uint32) {
	g.firstNode = uint32(len(g.table.names))
	for _, name := range g.nodeNames {
		g.table.add(name, profile.Unknown, "", "")
	}
	root = g.table.add("root", profile.Unknown, "", "")
	g.ofItem = make([]uint32, len(g.items))
	g.groupOf = make([]uint32, len(g.table.names))
	return root
}

// Marks of items and groups that go no further.
const (
	small = ^uint32(1)
	ended = ^uint32(0)
)

// grow sorts the items of a frame by the frames that come next, into groups.
func (g *grower) grow(s *shoot) {
	g.groups = g.groups[:0]
	atNodes := s.parent < 0 && g.nodeOf != nil
	collapse := g.collapse && s.name < g.firstNode
	for i := s.lo; i < s.hi; i++ {
		it := &g.items[i]
		var name uint32
		ok := true
		if atNodes {
			name = g.firstNode + g.nodeOf[i]
		} else {
			name, ok = g.peek(it)
			for ok && collapse && name == s.name {
				it.used++
				name, ok = g.peek(it)
			}
		}
		if !ok {
			s.self.add(it)
			g.ofItem[i] = ended
			continue
		}
		if !atNodes {
			it.used++
		}
		group := g.groupOf[name]
		if int(group) >= len(g.groups) || g.groups[group].name != name {
			group = uint32(len(g.groups))
			g.groupOf[name] = group
			g.groups = append(g.groups, shoot{name: name})
		}
		g.ofItem[i] = group
		g.groups[group].add(it)
		g.groups[group].hi++ // their number, for now
	}
	g.split(s)
}

// split puts the items of each group that is large enough behind each other, and all others
// behind these: where they lie, by swapping (McIlroy and others, "Engineering radix sort", 1993).
func (g *grower) split(s *shoot) {
	at := s.lo
	g.ends = g.ends[:0]
	for i := range g.groups {
		group := &g.groups[i]
		number := group.hi
		if group.share = group.shareOf(&g.total); group.share < g.o.MinShare {
			group.lo = small
			g.t.Pruned++
			g.ends = append(g.ends, 0)
			continue
		}
		group.lo, group.hi = at, at
		at += number
		g.ends = append(g.ends, at)
	}
	rest := at
	for i := range g.groups {
		group := &g.groups[i]
		for group.lo != small && group.hi < g.ends[i] {
			of := g.ofItem[group.hi]
			to := &rest
			if of != ended && g.groups[of].lo != small {
				to = &g.groups[of].hi
			}
			if int(of) != i {
				g.items[group.hi], g.items[*to] = g.items[*to], g.items[group.hi]
				g.ofItem[group.hi], g.ofItem[*to] = g.ofItem[*to], g.ofItem[group.hi]
			}
			*to++
		}
	}
}
