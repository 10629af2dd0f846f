package profiles

import "math"

// span is a drawn frame and its cells in a row.
type span struct {
	frame  int32
	x0, x1 int
}

// flameGraph is a window onto a flame tree: the frame that fills the width, the frame under the cursor and the
// visible rows. Only visible rows are laid out, and in them only frames that contain the middle of a cell. So the
// cost does not depend on the number of frames.
type flameGraph struct {
	index   *flameIndex
	base    int32 // the root of everything shown: the root of the tree, or the function of a sandwich
	zoom    int32 // the frame that fills the width, as all its callers do
	at      int32 // the frame under the cursor
	deepest int32 // the deepest frame that the cursor came up from
	back    []int32
	w       int

	low    int // the first row of the graph
	top    int // the first visible row
	height int
	follow bool // scroll to the cursor; the mouse wheel turns this off

	// spans[starts[d]:starts[d+1]] is row d, for the rows laid out so far.
	spans  []span
	starts []int
}

// newFlameGraph shows the subtree of a frame.
func newFlameGraph(x *flameIndex, base int32) *flameGraph {
	return &flameGraph{
		index: x, base: base, zoom: base, at: base, deepest: base, low: int(x.tree.Frames[base].Depth), follow: true,
	}
}

// invalidate drops the layout after something that it depends on has changed.
func (g *flameGraph) invalidate() { g.spans, g.starts = g.spans[:0], g.starts[:0] }

// resize sets the width of the rows in cells.
func (g *flameGraph) resize(w int) {
	if w != g.w {
		g.w = w
		g.invalidate()
	}
}

// row lays out row d and the rows above it. It returns nil below the deepest frame.
func (g *flameGraph) row(d int) []span {
	if len(g.starts) == 0 {
		g.starts = append(g.starts, 0)
	}
	for len(g.starts) < d+2 {
		if !g.layOut(len(g.starts) - 1) {
			return nil
		}
		g.starts = append(g.starts, len(g.spans))
	}
	return g.spans[g.starts[d]:g.starts[d+1]]
}

// layOut appends the spans of row d and reports whether there are any.
func (g *flameGraph) layOut(d int) bool {
	frames := g.index.tree.Frames
	if len(frames) == 0 || g.w <= 0 {
		return false
	}
	if zoom := int(frames[g.zoom].Depth - frames[0].Depth); d <= zoom {
		f := g.zoom
		for range zoom - d {
			f = frames[f].Parent
		}
		g.spans = append(g.spans, span{f, 0, g.w})
		return true
	}
	before := len(g.spans)
	for _, above := range g.spans[g.starts[d-1]:g.starts[d]] {
		g.appendChildren(above)
	}
	return len(g.spans) > before
}

// appendChildren appends the children of a span. Each cell shows the child that contains the middle of the cell.
func (g *flameGraph) appendChildren(above span) {
	w := g.index.widths
	origin, size := w.left[g.zoom], w.size[g.zoom]
	if size <= 0 {
		return
	}
	cell := size / float64(g.w)
	for x := above.x0; x < above.x1; {
		at := origin + (float64(x)+0.5)*cell
		kid := g.index.kidAt(w, above.frame, at)
		if kid < 0 {
			return
		}
		if w.left[kid] > at { // rounding, at the left end of the zoomed frame
			x++
			continue
		}
		end := int(math.Ceil((w.left[kid]+w.size[kid]-origin)/cell - 0.5))
		end = min(max(end, x+1), above.x1)
		g.spans = append(g.spans, span{kid, x, end})
		x = end
	}
}

// find returns the span of a frame, and whether the frame has cells.
func (g *flameGraph) find(frame int32) (s span, ok bool) {
	for _, s := range g.row(g.rowOf(frame)) {
		if s.frame == frame {
			return s, true
		}
	}
	return span{}, false
}

// rowOf returns the row of a frame.
func (g *flameGraph) rowOf(frame int32) int {
	return int(g.index.tree.Frames[frame].Depth - g.index.tree.Frames[0].Depth)
}

// inSubtree reports whether frame is in the subtree of root.
func (g *flameGraph) inSubtree(frame, root int32) bool {
	return frame >= root && frame < g.index.tree.Frames[root].Next
}

// setZoom fills the width with a frame and puts the cursor on it.
func (g *flameGraph) setZoom(frame int32) {
	if frame == g.zoom {
		return
	}
	g.zoom = frame
	g.invalidate()
	g.point(frame)
}

// point puts the cursor on a frame.
func (g *flameGraph) point(frame int32) {
	g.at, g.follow = frame, true
	if !g.inSubtree(g.deepest, frame) {
		g.deepest = frame
	}
}

// zoomIn zooms to the frame under the cursor.
func (g *flameGraph) zoomIn() {
	if g.at != g.zoom {
		g.back = append(g.back, g.zoom)
		g.setZoom(g.at)
	}
}

// zoomOut restores the previous zoom. The cursor stays.
func (g *flameGraph) zoomOut() bool {
	if g.zoom == g.base {
		return false
	}
	to := g.base
	if n := len(g.back); n > 0 {
		to, g.back = g.back[n-1], g.back[:n-1]
	}
	at := g.at
	g.setZoom(to)
	g.point(at)
	return true
}

// reset shows everything.
func (g *flameGraph) reset() {
	at := g.at
	g.back = nil
	g.setZoom(g.base)
	g.point(at)
}

// reveal puts the cursor on a frame that may be too narrow to be visible, or outside the zoomed frame. It zooms to
// the widest caller in which the frame has at least 3 cells.
func (g *flameGraph) reveal(frame int32) {
	const enough = 3
	if !g.inSubtree(frame, g.zoom) && !g.inSubtree(g.zoom, frame) {
		g.back = append(g.back, g.zoom)
		g.setZoom(g.base)
	}
	if _, ok := g.find(frame); !ok {
		w, frames := g.index.widths, g.index.tree.Frames
		to := frame
		for p := frames[to].Parent; p >= 0 && w.size[frame]*float64(g.w) >= enough*w.size[p]; p = frames[p].Parent {
			to = p
		}
		g.back = append(g.back, g.zoom)
		g.setZoom(to)
	}
	g.point(frame)
}

// scroll scrolls to the cursor, unless the mouse wheel moved the window, and keeps the window inside the
// graph. If the frame under the cursor is too narrow to be drawn, the cursor moves to its caller.
func (g *flameGraph) scroll() {
	for g.at != g.base { // a frame that became too narrow passes the cursor to its caller
		if _, ok := g.find(g.at); ok {
			break
		}
		g.at = g.index.tree.Frames[g.at].Parent
	}
	row := g.rowOf(g.at)
	if g.follow {
		g.top = min(max(g.top, row-g.height+1), row)
		if zoom := g.rowOf(g.zoom); zoom > g.low && row-zoom < g.height-2 { // two rows above the zoomed frame
			g.top = max(min(g.top, zoom-1), row-g.height+1, zoom-2)
		}
	}
	for g.top > g.low && len(g.row(g.top+g.height-1)) == 0 {
		g.top--
	}
	g.top = max(g.low, g.top)
}
