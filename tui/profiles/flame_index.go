package profiles

import (
	"sort"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
)

// flameIndex is a flame tree with the data that make a window onto it fast: positions, children and display names
// of frames. It is built off the event loop and never changed.
type flameIndex struct {
	tree *flame.Tree
	// kids[first[i]:first[i+1]] are the children of frame i, from left to right.
	kids, first []int32
	// names are harmless for a terminal. short ones have no package path and no arguments.
	names, short []string
	widths       *flameWidths
	// flat and cum are the values of each name on all paths together.
	flat, cum []int64
	// classes marks the profile.Classes that occur, and classFlat is the value of each without callees.
	classes   []bool
	classFlat []int64
}

// flameWidths are the left end and the size of each frame, in the unit of the tree.
type flameWidths struct{ left, size []float64 }

func newFlameIndex(t *flame.Tree) *flameIndex {
	x := &flameIndex{tree: t}
	x.listChildren()
	x.widths = x.layOut(t.Widths())
	x.names = make([]string, len(t.Names))
	x.short = make([]string, len(t.Names))
	for i, name := range t.Names {
		x.names[i] = words.Sanitize(name)
		x.short[i] = shortName(x.names[i])
	}
	x.sumNames()
	x.classes, x.classFlat = make([]bool, len(profile.Classes())), make([]int64, len(profile.Classes()))
	for i := 1; i < len(t.Frames); i++ {
		if f := &t.Frames[i]; !t.Nodes || f.Depth > 1 {
			x.classes[t.Classes[f.Name]] = true
			if t.Leaves == nil {
				x.classFlat[t.Classes[f.Name]] += f.Self
			}
		}
	}
	for _, leaf := range t.Leaves {
		x.classFlat[leaf.Class] += leaf.Value
	}
	return x
}

// gone reports whether only the base has a frame.
func gone(f *flame.Frame) bool { return f.Total == 0 && f.Base != 0 }

// listChildren collects the children of all frames. Frames are in depth-first order, so children are in order too.
func (x *flameIndex) listChildren() {
	frames := x.tree.Frames
	x.first = make([]int32, len(frames)+1)
	for i := 1; i < len(frames); i++ {
		x.first[frames[i].Parent+1]++
	}
	for i := range frames {
		x.first[i+1] += x.first[i]
	}
	x.kids = make([]int32, max(0, len(frames)-1))
	next := append([]int32(nil), x.first...)
	for i := 1; i < len(frames); i++ {
		parent := frames[i].Parent
		x.kids[next[parent]] = int32(i)
		next[parent]++
	}
}

func (x *flameIndex) kidsOf(i int32) []int32 { return x.kids[x.first[i]:x.first[i+1]] }

// layOut places children side by side from the left end of their parent. The parent's own share stays free at the
// right.
func (x *flameIndex) layOut(sizes []int64) *flameWidths {
	frames := x.tree.Frames
	w := &flameWidths{left: make([]float64, len(frames)), size: make([]float64, len(frames))}
	next := make([]float64, len(frames)) // the left end of the next child
	for i := range frames {
		w.size[i] = float64(max(0, sizes[i]))
		if i > 0 {
			parent := frames[i].Parent
			w.left[i] = next[parent]
			next[parent] += w.size[i]
		}
		next[i] = w.left[i]
	}
	return w
}

// kidAt returns the child of parent that contains the position at or is the next one to its right, or -1 if there
// is none.
func (x *flameIndex) kidAt(w *flameWidths, parent int32, at float64) int32 {
	kids := x.kidsOf(parent)
	k := sort.Search(len(kids), func(k int) bool { return w.left[kids[k]]+w.size[kids[k]] > at })
	if k == len(kids) {
		return -1
	}
	return kids[k]
}

// sumNames adds up the values of each name on all paths. A frame below another one of the same name is not counted,
// because the outer frame includes it.
func (x *flameIndex) sumNames() {
	t := x.tree
	x.flat, x.cum = make([]int64, len(t.Names)), make([]int64, len(t.Names))
	until := make([]int32, len(t.Names)) // the end of the outermost subtree of each name
	for i := range t.Frames {
		f := &t.Frames[i]
		x.flat[f.Name] += f.Self
		if int32(i) >= until[f.Name] {
			x.cum[f.Name] += f.Total
			until[f.Name] = f.Next
		}
	}
}
