package flame

import "kitescope/profile"

// builder builds a Tree from the root, largest frame first. Each candidate frame is a range of items whose
// stacks begin with it. Adding the frame partitions that range by the next frame. A stack is therefore read
// only as far as it is shown, and small frames are never added.
type builder struct {
	o        Options
	t        *Tree
	step     uint32 // step to the next location of a stack, modulo 2^32
	collapse bool   // merge consecutive equal frames

	sides []side
	table nameTable
	items []item
	// nodeOf holds the node of each item as an index in nodeNames, if Options.Nodes is set.
	nodeOf    []uint32
	nodeNames []string
	nodeIDs   map[string]uint32
	// leaves holds the total values of the innermost frames, by name.
	leaves []weight
	// seconds holds the durations of the base and the new side, 0 if unknown.
	seconds [2]float64

	// Work space of grow: the current group of each name, the groups, and the group of each item.
	groupOf   []uint32
	groups    []candidate
	itemGroup []uint32
	ends      []uint32 // end of each group's items
	// firstNode is the name index of nodeNames[0].
	firstNode uint32

	added   []candidate
	waiting candidates
	total   weight
}

// weight holds the sums of a set of items, one for each side of a comparison.
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

// shareOf returns the larger of the shares of both sides.
func (w *weight) shareOf(total *weight) float64 {
	return max(part(w.value, total.value), part(w.base, total.base))
}

// candidate is a frame that was or may be added.
type candidate struct {
	weight
	self   weight
	share  float64
	name   uint32
	parent int32 // index in added
	lo, hi uint32
	// order breaks ties: the candidate that was found first has the lower order.
	order uint32
}

// tree builds the Tree of all joined profiles.
func (b *builder) tree() *Tree {
	root := candidate{share: 1, parent: -1, hi: uint32(len(b.items))}
	for i := range b.items {
		root.add(&b.items[i])
	}
	b.total = root.weight
	root.name = b.begin()
	b.waiting.push(root)
	least := 1.0
	for len(b.waiting.heap) > 0 && len(b.added) < b.o.MaxFrames {
		s := b.waiting.pop()
		least = s.share
		b.grow(&s)
		for i := range b.groups {
			if b.groups[i].lo != markSmall {
				b.groups[i].parent = int32(len(b.added))
				b.waiting.push(b.groups[i])
			}
		}
		b.waiting.bound(b.o.MaxFrames)
		b.added = append(b.added, s)
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

// begin adds the names of nodes and the root after all profiles were joined. It returns the root's name.
func (b *builder) begin() (root uint32) {
	b.firstNode = uint32(len(b.table.names))
	for _, name := range b.nodeNames {
		b.table.add(name, profile.Unknown, "", "")
	}
	root = b.table.add("root", profile.Unknown, "", "")
	b.itemGroup = make([]uint32, len(b.items))
	b.groupOf = make([]uint32, len(b.table.names))
	return root
}

// markEnded, in itemGroup, marks an item whose stack has no further frame. markSmall, as the lo of a group, marks a
// group that is too small to show.
const (
	markSmall = ^uint32(1)
	markEnded = ^uint32(0)
)

// grow partitions the items of a frame into groups by their next frame.
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
			b.itemGroup[i] = markEnded
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
		b.itemGroup[i] = group
		b.groups[group].add(it)
		b.groups[group].hi++ // the number of items, for now
	}
	b.split(s)
}

// split moves the items of each sufficiently large group together, followed by all other items. It permutes
// them in place by swapping (McIlroy and others, "Engineering radix sort", 1993).
func (b *builder) split(s *candidate) {
	at := s.lo
	b.ends = b.ends[:0]
	for i := range b.groups {
		group := &b.groups[i]
		number := group.hi
		if group.share = group.shareOf(&b.total); group.share < b.o.MinShare {
			group.lo = markSmall
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
		for group.lo != markSmall && group.hi < b.ends[i] {
			of := b.itemGroup[group.hi]
			to := &rest
			if of != markEnded && b.groups[of].lo != markSmall {
				to = &b.groups[of].hi
			}
			if int(of) != i {
				b.items[group.hi], b.items[*to] = b.items[*to], b.items[group.hi]
				b.itemGroup[group.hi], b.itemGroup[*to] = b.itemGroup[*to], b.itemGroup[group.hi]
			}
			*to++
		}
	}
}
