package flame

import "kitescope/profile"

// builder makes a Tree from the root outwards, the largest frame first. Each frame that may
// come to be is a range of items whose stacks begin with it; making it sorts that range by the
// next frame. So a stack is only read as far as it is shown, and what is small is never made.
type builder struct {
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
	leaves []weight
	// seconds are how long the base and the new side took; 0: unknown.
	seconds [2]float64

	// What grow works with: the group that a name has now, the groups, and that of each item.
	groupOf []uint32
	groups  []candidate
	ofItem  []uint32
	ends    []uint32 // where the items of each group end
	// firstNode is the name of the first of nodeNames.
	firstNode uint32

	made    []candidate
	waiting candidates
	total   weight
}

// weight is what items add up to.
type weight struct {
	value, base        int64
	events, baseEvents float64
}

func (w *weight) add(it *item) {
	if it.line&isBase != 0 {
		w.base = add(w.base, it.value)
		w.baseEvents += float64(it.events)
	} else {
		w.value = add(w.value, it.value)
		w.events += float64(it.events)
	}
}

// shareOf is the larger of both sides' shares.
func (w *weight) shareOf(total *weight) float64 {
	return max(part(w.value, total.value), part(w.base, total.base))
}

// candidate is a frame that was or may be made.
type candidate struct {
	weight
	self   weight
	share  float64
	name   uint32
	parent int32 // index of made
	lo, hi uint32
	// order tells which of two equal ones was found first.
	order uint32
}

// tree makes the Tree of all that was joined.
func (b *builder) tree() *Tree {
	root := candidate{share: 1, parent: -1, hi: uint32(len(b.items))}
	for i := range b.items {
		root.add(&b.items[i])
	}
	b.total = root.weight
	root.name = b.begin()
	b.waiting.push(root)
	least := 1.0
	for len(b.waiting.heap) > 0 && len(b.made) < b.o.MaxFrames {
		s := b.waiting.pop()
		least = s.share
		b.grow(&s)
		for i := range b.groups {
			if b.groups[i].lo != small {
				b.groups[i].parent = int32(len(b.made))
				b.waiting.push(b.groups[i])
			}
		}
		b.waiting.bound(b.o.MaxFrames)
		b.made = append(b.made, s)
	}
	if b.t.Pruned += len(b.waiting.heap) + b.waiting.dropped; b.t.Pruned > 0 {
		b.t.PrunedMin = least
	}
	b.arrange()
	if b.t.Focus == "" {
		b.t.Leaves = b.leavesByKind()
	}
	return b.t
}

// begin ends the joining: it names nodes and the root, whose name it returns.
func (b *builder) begin() (root uint32) {
	b.firstNode = uint32(len(b.table.names))
	for _, name := range b.nodeNames {
		b.table.add(name, profile.Unknown, "", "")
	}
	root = b.table.add("root", profile.Unknown, "", "")
	b.ofItem = make([]uint32, len(b.items))
	b.groupOf = make([]uint32, len(b.table.names))
	return root
}

// Marks of items and groups that go no further.
const (
	small = ^uint32(1)
	ended = ^uint32(0)
)

// grow sorts the items of a frame by the frames that come next, into groups.
func (b *builder) grow(s *candidate) {
	b.groups = b.groups[:0]
	atNodes := s.parent < 0 && b.nodeOf != nil
	collapse := b.collapse && s.name < b.firstNode
	for i := s.lo; i < s.hi; i++ {
		it := &b.items[i]
		var name uint32
		ok := true
		if atNodes {
			name = b.firstNode + b.nodeOf[i]
		} else {
			name, ok = b.peek(it)
			for ok && collapse && name == s.name {
				it.used++
				name, ok = b.peek(it)
			}
		}
		if !ok {
			s.self.add(it)
			b.ofItem[i] = ended
			continue
		}
		if !atNodes {
			it.used++
		}
		group := b.groupOf[name]
		if int(group) >= len(b.groups) || b.groups[group].name != name {
			group = uint32(len(b.groups))
			b.groupOf[name] = group
			b.groups = append(b.groups, candidate{name: name})
		}
		b.ofItem[i] = group
		b.groups[group].add(it)
		b.groups[group].hi++ // their number, for now
	}
	b.split(s)
}

// split puts the items of each group that is large enough behind each other, and all others
// behind these: where they lie, by swapping (McIlroy and others, "Engineering radix sort", 1993).
func (b *builder) split(s *candidate) {
	at := s.lo
	b.ends = b.ends[:0]
	for i := range b.groups {
		group := &b.groups[i]
		number := group.hi
		if group.share = group.shareOf(&b.total); group.share < b.o.MinShare {
			group.lo = small
			b.t.Pruned++
			b.ends = append(b.ends, 0)
			continue
		}
		group.lo, group.hi = at, at
		at += number
		b.ends = append(b.ends, at)
	}
	rest := at
	for i := range b.groups {
		group := &b.groups[i]
		for group.lo != small && group.hi < b.ends[i] {
			of := b.ofItem[group.hi]
			to := &rest
			if of != ended && b.groups[of].lo != small {
				to = &b.groups[of].hi
			}
			if int(of) != i {
				b.items[group.hi], b.items[*to] = b.items[*to], b.items[group.hi]
				b.ofItem[group.hi], b.ofItem[*to] = b.ofItem[*to], b.ofItem[group.hi]
			}
			*to++
		}
	}
}
