package profiles

// Movements are by what is called by what; which key is which depends on whether the graph
// grows down or up.

// toParent goes to the caller.
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

// zoomOutTo shows a frame above the zoomed one in its place.
func (g *flameGraph) zoomOutTo(frame int32) {
	deep := g.deep
	g.back = append(g.back, g.zoom)
	g.setZoom(frame)
	g.deep = deep
}

// toChild goes to the child that the cursor came up from, else to the largest.
func (g *flameGraph) toChild() {
	if kid := g.childTowards(); kid >= 0 {
		g.point(kid)
	}
}

// childTowards is that child, of those that have cells; -1 if there is none.
func (g *flameGraph) childTowards() int32 {
	largest, w := int32(-1), g.index.widths
	for _, s := range g.row(g.rowOf(g.at) + 1) {
		if g.index.tree.Frames[s.frame].Parent != g.at {
			continue
		}
		if g.deep != g.at && g.within(g.deep, s.frame) {
			return s.frame
		}
		if largest < 0 || w.size[s.frame] > w.size[largest] {
			largest = s.frame
		}
	}
	return largest
}

// largest is the largest child of the first frame, which is itself if it has none: where a
// person looks first.
func (g *flameGraph) largest() int32 {
	at, w := g.base, g.index.widths
	for _, kid := range g.index.kidsOf(g.base) {
		if at == g.base || w.size[kid] > w.size[at] {
			at = kid
		}
	}
	return at
}

// toSide goes along the row, to the next frame that has cells.
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
	g.deep = g.at
	for {
		kid := g.childTowards()
		if kid < 0 {
			return
		}
		g.point(kid)
	}
}

// toTop goes to the zoomed frame, and from there to the first.
func (g *flameGraph) toTop() {
	if g.at == g.zoom {
		g.reset()
		g.point(g.base)
		return
	}
	g.at, g.follow = g.zoom, true
}

// nextMatch goes to the next frame that matches, and reports whether there is any.
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
