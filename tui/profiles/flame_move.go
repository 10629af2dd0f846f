package profiles

// Movements follow calls. The key for a movement depends on whether the graph grows down or up.

// toParent moves to the caller.
func (g *flameGraph) toParent() {
	if g.at == g.base {
		return
	}
	parent := g.index.tree.Frames[g.at].Parent
	if g.at == g.zoom {
		g.zoomOutTo(parent)
	}
	g.at, g.follow = parent, true
}

// zoomOutTo zooms to a caller of the zoomed frame.
func (g *flameGraph) zoomOutTo(frame int32) {
	deep := g.deepest
	g.back = append(g.back, g.zoom)
	g.setZoom(frame)
	g.deepest = deep
}

// toChild moves to the child that the cursor came up from, or else to the largest child.
func (g *flameGraph) toChild() {
	if kid := g.childTowards(); kid >= 0 {
		g.point(kid)
	}
}

// childTowards returns the child that toChild moves to, among the visible ones, or -1 if there is none.
func (g *flameGraph) childTowards() int32 {
	largest, w := int32(-1), g.index.widths
	for _, s := range g.row(g.rowOf(g.at) + 1) {
		if g.index.tree.Frames[s.frame].Parent != g.at {
			continue
		}
		if g.deepest != g.at && g.inSubtree(g.deepest, s.frame) {
			return s.frame
		}
		if largest < 0 || w.size[s.frame] > w.size[largest] {
			largest = s.frame
		}
	}
	return largest
}

// largest returns the largest child of the first frame, or the first frame if it has no children. Users look there
// first.
func (g *flameGraph) largest() int32 {
	at, w := g.base, g.index.widths
	for _, kid := range g.index.kidsOf(g.base) {
		if at == g.base || w.size[kid] > w.size[at] {
			at = kid
		}
	}
	return at
}

// toSide moves along the row to the next visible frame.
func (g *flameGraph) toSide(by int) {
	row := g.row(g.rowOf(g.at))
	for i, s := range row {
		if s.frame == g.at {
			if k := i + by; k >= 0 && k < len(row) {
				g.point(row[k].frame)
			}
			return
		}
	}
}

// toLeaf follows the largest child to the end.
func (g *flameGraph) toLeaf() {
	g.deepest = g.at
	for {
		kid := g.childTowards()
		if kid < 0 {
			return
		}
		g.point(kid)
	}
}

// toTop moves to the zoomed frame, and from there to the first frame.
func (g *flameGraph) toTop() {
	if g.at == g.zoom {
		g.reset()
		g.point(g.base)
		return
	}
	g.at, g.follow = g.zoom, true
}

// nextMatch moves to the next frame that matches, and reports whether there is one.
func (g *flameGraph) nextMatch(found []bool, by int) bool {
	frames := g.index.tree.Frames
	w := g.index.widths
	n := len(frames)
	for k := 1; k <= n; k++ {
		i := ((int(g.at)+by*k)%n + n) % n
		if int32(i) > g.base && found[frames[i].Name] && w.size[i] > 0 {
			g.reveal(int32(i))
			return true
		}
	}
	return false
}
