package profiles

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
)

// randomTree returns a flame tree of random stacks. Some values are negative, and some are math.MaxInt64 / 300.
func randomTree(t *testing.T, seed uint64, diff bool) *flame.Tree {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 7))
	grow := func() *profile.Profile {
		b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		for range rnd.IntN(300) {
			stack := make([]uint32, rnd.IntN(12))
			for i := range stack {
				stack[i] = b.Frame(fmt.Sprintf("f%d", rnd.IntN(6)), profile.NoMapping)
			}
			value := int64(rnd.IntN(1000))
			switch rnd.IntN(50) {
			case 0:
				value = math.MaxInt64 / 300
			case 1:
				value = -value
			}
			if err := b.Sample(stack, []int64{value}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Profile()
	}
	tree, err := flame.New(grow(), flame.Options{})
	if diff {
		tree, err = flame.NewDiff(grow(), grow(), flame.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestFlameLayout checks the invariants of the layout: frames of a row are side by side inside their callers, all
// frames that are wide enough are drawn, and no frame is wider than its value.
func TestFlameLayout(t *testing.T) {
	for seed := range uint64(20) {
		tree := randomTree(t, seed, seed%2 == 1)
		x := newFlameIndex(tree)
		for _, w := range []int{1, 2, 58, 198} {
			for _, zoom := range []int32{0, int32(len(tree.Frames) / 3), int32(len(tree.Frames) - 1)} {
				g := newFlameGraph(x, 0)
				g.resize(w)
				g.setZoom(zoom)
				checkLayout(t, g)
			}
		}
	}
}

func checkLayout(t *testing.T, g *flameGraph) {
	t.Helper()
	frames, w := g.index.tree.Frames, g.index.widths
	cell := w.size[g.zoom] / float64(g.w)
	drawn := map[int32]span{}
	for d := 0; ; d++ {
		row := g.row(d)
		if len(row) == 0 {
			break
		}
		at := 0
		for _, s := range row {
			if s.x0 < at || s.x1 <= s.x0 || s.x1 > g.w {
				t.Fatalf("row %d has frame %d in cells %d to %d of %d, after %d", d, s.frame, s.x0, s.x1, g.w, at)
			}
			at = s.x1
			drawn[s.frame] = s
			above, ok := drawn[frames[s.frame].Parent]
			if d > 0 && (!ok || s.x0 < above.x0 || s.x1 > above.x1) {
				t.Fatalf("frame %d in cells %v is not below its caller's %v", s.frame, s, above)
			}
			if g.inSubtree(s.frame, g.zoom) && float64(s.x1-s.x0) > w.size[s.frame]/cell*(1+1e-9)+1 {
				t.Fatalf("frame %d has %d cells and is worth %g", s.frame, s.x1-s.x0, w.size[s.frame]/cell)
			}
		}
	}
	for i := g.zoom; i < frames[g.zoom].Next; i++ {
		if _, ok := drawn[i]; !ok && w.size[i] > 1.01*cell && w.size[g.zoom] > 0 {
			t.Fatalf("frame %d is worth %g cells and is not drawn", i, w.size[i]/cell)
		}
	}
}

// TestFlameMoves moves at random and checks that the cursor stays on a frame below the first one, and that every
// revealed frame is visible.
func TestFlameMoves(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		x := newFlameIndex(randomTree(t, seed, false))
		g := newFlameGraph(x, 0)
		g.resize(60)
		g.height = 10
		found := make([]bool, len(x.names))
		for i := range found {
			found[i] = i%2 == 1
		}
		for range 400 {
			switch rnd.IntN(9) {
			case 0:
				g.toParent()
			case 1, 2:
				g.toChild()
			case 3:
				g.toSide(1 - 2*rnd.IntN(2))
			case 4:
				g.zoomIn()
			case 5:
				g.zoomOut()
			case 6:
				g.toLeaf()
			case 7:
				if g.nextMatch(found, 1) {
					if _, ok := g.find(g.at); !ok {
						t.Fatalf("the match %d is not on the screen", g.at)
					}
				}
			case 8:
				g.toTop()
			}
			g.scroll()
			if row := g.rowOf(g.at); g.follow && (row < g.top || row >= g.top+g.height) {
				t.Fatalf("row %d is out of the window from %d on", row, g.top)
			}
			if !g.inSubtree(g.at, g.zoom) && !g.inSubtree(g.zoom, g.at) {
				t.Fatalf("the cursor is on %d, beside the zoomed %d", g.at, g.zoom)
			}
		}
	}
}
