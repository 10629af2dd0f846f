package flame

import (
	"cmp"
	"slices"
	"strings"
)

// arrange fills Frames in depth-first order, and Names with the names in use.
func (b *builder) arrange() {
	t := b.t
	rename := b.usedNames()
	childrenOf, children := b.children(rename)
	t.Frames = make([]Frame, 0, len(b.added))
	ps := make([]weight, 0, len(b.added))
	type step struct{ made, parent int32 }
	stack := []step{{0, -1}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s := &b.added[at.made]
		f := Frame{
			Name: rename[s.name], Parent: at.parent, Total: s.value, Self: s.self.value, Base: s.base,
			BaseSelf: s.self.base,
		}
		if at.parent >= 0 {
			f.Depth = t.Frames[at.parent].Depth + 1
			t.Depth = max(t.Depth, int(f.Depth))
		}
		id := int32(len(t.Frames))
		t.Frames, ps = append(t.Frames, f), append(ps, s.weight)
		below := children[childrenOf[at.made]:childrenOf[at.made+1]]
		for _, child := range slices.Backward(below) {
			stack = append(stack, step{child, id})
		}
	}
	t.setEnds()
	if t.Diff {
		t.judge(ps, b.seconds)
	}
}

// setEnds sets the end of each subtree.
func (t *Tree) setEnds() {
	for i := range t.Frames {
		t.Frames[i].Next = int32(i + 1)
	}
	for i := len(t.Frames) - 1; i > 0; i-- {
		f := &t.Frames[i]
		if parent := &t.Frames[f.Parent]; f.Next > parent.Next {
			parent.Next = f.Next
		}
	}
}

// usedNames adds the names of frames to the Tree in sorted order. It returns the new index of each name.
func (b *builder) usedNames() []uint32 {
	rename := make([]uint32, len(b.table.names))
	var used []uint32
	for i := range b.added {
		if name := b.added[i].name; rename[name] == 0 {
			rename[name] = 1
			used = append(used, name)
		}
	}
	slices.SortFunc(used, func(x, y uint32) int {
		return cmp.Or(strings.Compare(b.table.names[x], b.table.names[y]), cmp.Compare(x, y))
	})
	t := b.t
	for i, name := range used {
		rename[name] = uint32(i)
		t.Names, t.Classes = append(t.Names, b.table.names[name]), append(t.Classes, b.table.classes[name])
		t.Files, t.Libraries = append(t.Files, b.table.files[name]), append(t.Libraries, b.table.libraries[name])
	}
	return rename
}

// children returns the children of each frame, sorted by name. Frame i has the children
// children[offsets[i]:offsets[i+1]].
func (b *builder) children(rename []uint32) (offsets, children []int32) {
	offsets = make([]int32, len(b.added)+1)
	for i := range b.added[1:] {
		offsets[b.added[i+1].parent+1]++
	}
	for i := range b.added {
		offsets[i+1] += offsets[i]
	}
	children = make([]int32, len(b.added)-1)
	at := slices.Clone(offsets)
	for i := 1; i < len(b.added); i++ {
		parent := b.added[i].parent
		children[at[parent]] = int32(i)
		at[parent]++
	}
	for i := range b.added {
		slices.SortFunc(children[offsets[i]:offsets[i+1]], func(x, y int32) int {
			return cmp.Compare(rename[b.added[x].name], rename[b.added[y].name])
		})
	}
	return offsets, children
}
