package flame

// Widths returns the widths of all frames in the unit of Tree.Type. Each is at least the sum of its
// children's. In a difference a frame is wide enough for either side, and vanished frames are included.
func (t *Tree) Widths() []int64 {
	widths := make([]int64, len(t.Frames))
	if !t.Diff {
		for i := range t.Frames {
			widths[i] = t.Frames[i].Total
		}
		return widths
	}
	// rest[i] is the value of frame i on each side, without its children in the tree.
	rest := make([][2]int64, len(t.Frames))
	for i := range t.Frames {
		rest[i] = [2]int64{t.Frames[i].Total, t.Frames[i].Base}
	}
	for i := len(t.Frames) - 1; i > 0; i-- {
		f := &t.Frames[i]
		rest[f.Parent][0] -= f.Total
		rest[f.Parent][1] -= f.Base
	}
	for i := len(t.Frames) - 1; i >= 0; i-- {
		widths[i] = add(widths[i], max(rest[i][0], rest[i][1], 0))
		if i > 0 {
			parent := t.Frames[i].Parent
			widths[parent] = add(widths[parent], widths[i])
		}
	}
	return widths
}

// Span is the horizontal position of a frame.
type Span struct {
	Frame    int32
	From, To float64
}

// Layout positions the frames below zoom in columns from 0 to width, with one row per depth and each row sorted
// from left to right. The callers of zoom get the whole width. Frames narrower than minWidth columns are skipped
// with all their descendants. widths is the result of Widths. If rows is not nil, Layout reuses it for the
// result.
func (t *Tree) Layout(rows [][]Span, widths []int64, zoom int32, width, minWidth float64) [][]Span {
	for i := range rows {
		rows[i] = rows[i][:0]
	}
	put := func(depth int32, s Span) {
		for int(depth) >= len(rows) {
			rows = append(rows, nil)
		}
		rows[depth] = append(rows[depth], s)
	}
	for f := zoom; f >= 0; f = t.Frames[f].Parent {
		put(t.Frames[f].Depth, Span{f, 0, width})
	}
	scale := 0.0
	if widths[zoom] > 0 {
		scale = width / float64(widths[zoom])
	}
	// at holds the start of the next child by depth.
	first := t.Frames[zoom].Depth
	at := make([]float64, 1, t.Depth+2)
	for i := zoom + 1; i < t.Frames[zoom].Next; {
		f := &t.Frames[i]
		level := int(f.Depth - first)
		from := at[level-1]
		to := min(width, from+float64(widths[i])*scale)
		at[level-1] = to
		if widths[i] <= 0 || to-from < minWidth {
			i = f.Next
			continue
		}
		put(f.Depth, Span{i, from, to})
		at = append(at[:level], from)
		i++
	}
	for len(rows) > 0 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Path returns the names from the frame below the root to the given frame.
func (t *Tree) Path(frame int32) []string {
	names := make([]string, t.Frames[frame].Depth)
	for f := frame; f > 0; f = t.Frames[f].Parent {
		names[t.Frames[f].Depth-1] = t.Names[t.Frames[f].Name]
	}
	return names
}

// Find returns the frame at a path of names, or its deepest ancestor that exists.
func (t *Tree) Find(path []string) int32 {
	at := int32(0)
next:
	for _, name := range path {
		for i := at + 1; i < t.Frames[at].Next; i = t.Frames[i].Next {
			if t.Names[t.Frames[i].Name] == name {
				at = i
				continue next
			}
		}
		return at
	}
	return at
}
