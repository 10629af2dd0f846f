package profiles

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/profile"
	"kitescope/tui/tuitest"
)

func TestFlameZoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-hnsw.pb.gz"), 100, 30)
		first := d.frame()
		d.Keys("enter")
		g := d.flame().graph()
		if s, ok := g.find(g.at); !ok || s.x0 != 0 || s.x1 != g.w {
			t.Errorf("the zoomed frame has the cells %v of %d", s, g.w)
		}
		d.Shows("zoom 53.7%")
		d.Keys("down*2 enter")
		inner := g.at
		d.Keys("backspace")
		if g.at != inner || g.index.tree.NameOf(&g.index.tree.Frames[g.zoom]) != first {
			t.Error("backspace does not go back one step")
		}
		d.Keys("esc")
		if g.zoom != 0 {
			t.Error("esc does not show everything")
		}
		d.Keys("down enter u")
		d.Lacks("zoom 5")
		d.Keys("backspace")
		d.Shows("already zoomed out")
	})
}

func TestFlameMovesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-hnsw.pb.gz"), 200, 50)
		d.Keys("up down right*9 down*2")
		g := d.flame().graph()
		at := g.at
		if g.index.tree.Frames[at].Depth != 3 {
			t.Fatalf("the cursor is at depth %d, want 3", g.index.tree.Frames[at].Depth)
		}
		d.Keys("up*3")
		if g.at != 0 {
			t.Errorf("three up, and the cursor is on %s", d.frame())
		}
		d.Keys("down*3")
		if g.at != at {
			t.Errorf("down again it comes to another frame, %s", d.frame())
		}
	})
}

func TestFlameSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-hnsw.pb.gz"), 120, 40)
		d.Keys("/").Typed("CGOCALL")
		d.Shows("9 frames, 10% of total")
		d.Keys("enter n")
		if name := d.frame(); !strings.Contains(name, "cgocall") {
			t.Errorf("n goes to %s", name)
		}
		g := d.flame().graph()
		first := g.at
		frames := d.flame().searches[0].frames
		d.Keys(fmt.Sprintf("n*%d", frames))
		if g.at != first {
			t.Errorf("%d times n does not come round", frames)
		}
		d.Keys("N n")
		if g.at != first {
			t.Error("N is not the reverse of n")
		}
		if s, ok := g.find(g.at); !ok || s.x1 <= s.x0 {
			t.Error("the match is not on the screen")
		}
		d.Keys("esc u /").Typed("(*LocalSegment).Se")
		d.Shows("matched as text", "8.9% of total")
		d.Keys("esc /").Typed("nothing has this")
		d.Shows("not found")
		d.Keys("enter n")
		d.Shows("not found")
	})
}

func TestFlameSandwich(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-hnswcos-nq1.pb.gz"), 120, 40)
		d.Keys("/").Typed("^runtime.mallocgc$").Keys("enter n c")
		p := d.flame()
		d.Shows("callers above, callees below", "runtime.mallocgc")
		if p.graphs[callersHalf] == nil || d.frame() != "runtime.mallocgc" {
			t.Fatalf("no sandwich of %s", d.frame())
		}
		total := p.graph().index.tree.Root().Total
		if got := p.graphs[callersHalf].index.tree.Root().Total; got != total {
			t.Errorf("callers come to %d, callees to %d", got, total)
		}
		d.Keys("up")
		if p.half != callersHalf {
			t.Error("up does not go to the callers")
		}
		caller := d.frame()
		d.Keys("down")
		if p.half != calleesHalf || d.frame() != "runtime.mallocgc" {
			t.Errorf("down again, and the cursor is on %s", d.frame())
		}
		d.Keys("up c")
		if d.frame() != caller {
			t.Errorf("a sandwich of the caller is of %s, want %s", d.frame(), caller)
		}
		d.Keys("esc esc")
		if p.graphs[callersHalf] != nil || p.query.focus != "" {
			t.Error("esc does not leave the sandwich")
		}
	})
}

func TestFlameToggles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 40)
		d.Shows("split by node", "querynode3")
		d.Keys("A")
		d.Lacks("split by node")
		d.Keys("b")
		d.Shows("by package")
		d.Keys("K")
		d.Shows("samples ")
		d.Keys("%")
		d.Shows("only for comparisons")
		d = driveProfiles(t, comparedView(), 120, 40)
		d.Shows("normalized", "gone")
		d.Keys("%")
		d.Shows("9.54 s→7.79 s")
		d.Lacks("normalized ·")
	})
}

func TestFlameExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, comparedView(), 100, 30)
		d.Keys("s 1")
		if len(d.Saved) != 0 {
			t.Error("it was saved without being told where to")
		}
		d.Keys("enter")
		d.Shows("saved /saved/kitescope-flame-")
		for name, text := range d.Saved {
			if !strings.HasSuffix(name, ".html") || !strings.Contains(text, "<html") ||
				!strings.Contains(text, "libknowhere") {
				t.Errorf("%s is no page of the graph", name)
			}
		}
		d.Keys("Y 1")
		if want := "kitescope profile flame milvus-cpu-hnsw.pb.gz --base milvus-cpu-flat.pb.gz --normalize"; d.Clip !=
			want {
			t.Errorf("the command is %q, want %q", d.Clip, want)
		}
		d.Keys("b i Y 1")
		if want := "kitescope profile flame milvus-cpu-hnsw.pb.gz --base milvus-cpu-flat.pb.gz --by package " +
			"--normalize --inverted"; d.Clip != want {
			t.Errorf("the command is %q, want %q", d.Clip, want)
		}
		d.Keys("v Y 1")
		if want := "kitescope profile diff milvus-cpu-flat.pb.gz milvus-cpu-hnsw.pb.gz --normalize --by " +
			"package"; d.Clip != want {
			t.Errorf("the command is %q, want %q", d.Clip, want)
		}
		d.Keys("esc y")
		if !strings.Contains(d.Clip, "points") {
			t.Errorf("y copies %q", d.Clip)
		}
	})
}

// TestSandwichExport checks that a page saved from a sandwich contains the callers, the callees and everything
// else.
func TestSandwichExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-hnswcos-nq1.pb.gz"), 100, 30)
		d.Keys("/").Typed("runtime.mallocgc").Keys("enter n c s 1 enter")
		d.Shows("saved /saved/kitescope-flame-")
		for _, text := range d.Saved {
			// the function, a caller, a callee, an unrelated function
			for _, want := range []string{
				`"runtime.mallocgc"`, `"runtime.newobject"`, `"runtime.nextFreeFast"`, `"runtime.findRunnable"`,
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %s", want)
				}
			}
		}
	})
}

// TestNodeDrillDown checks the path from the table by node to the table of a single node, and on to its flame
// graph.
func TestNodeDrillDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 100, 30)
		d.Keys("c")
		d.Shows("a node is not a function")
		d.Keys("v")
		p := d.m.Top().(*topPage)
		for p.shown.by != profile.ByNode {
			d.Keys("b")
		}
		node := p.entry().Function
		total := p.entry().Flat
		d.Keys("enter")
		d.Shows("top "+node+" of", "FUNCTION")
		if p := d.m.Top().(*topPage); p.top.Total != total {
			t.Errorf("the node's table is worth %d, want %d", p.top.Total, total)
		}
		d.Keys("esc z")
		if root := d.flame().graph().index.tree.Root().Total; root != total {
			t.Errorf("the node's graph is worth %d, want %d", root, total)
		}
		d.Keys("Y 1")
		if !strings.HasSuffix(d.Clip, " --node "+node) {
			t.Errorf("the command is %q", d.Clip)
		}
	})
}

// TestNoClusterPages checks that cluster pages are not offered without a cluster.
func TestNoClusterPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-heap.pb.gz"), 80, 24)
		d.Keys(":")
		d.Shows("profiles")
		d.Lacks("balance", "segments", "findings")
		d.Keys("esc ?")
		d.Shows("Sandwich", "no zoom, no search")
		d.Lacks("Collapse", "Segments.")
	})
}

// TestWordsOf checks that several profiles are named on a command line unless it would name others.
func TestWordsOf(t *testing.T) {
	item := func(words ...string) Item { return Item{Words: words} }
	for _, x := range []struct {
		items []Item
		want  string
	}{
		{[]Item{item("a"), item("b")}, "a b"},
		{[]Item{item("a", "--fold-preempt"), item("b", "--fold-preempt")}, "a b --fold-preempt"},
		{
			[]Item{item("x.kite", "--kind", "cpu", "--node", "n1"), item("x.kite", "--kind", "cpu", "--node", "n2")},
			"x.kite --kind cpu --node n1 --node n2",
		},
		{[]Item{item("x.kite", "--node", "n1"), item("y.kite", "--node", "n2")}, ""},
		{[]Item{item("a"), item()}, ""},
	} {
		if got := strings.Join(wordsOf(x.items), " "); got != x.want {
			t.Errorf("%v are %q, want %q", x.items, got, x.want)
		}
	}
}

// TestFlameOfHostileNames checks that frames with hostile names are drawn safely.
func TestFlameOfHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := profile.NewBuilder(profile.ValueType{Type: "c\x1b[31mpu", Unit: "\x07"})
		names := []string{
			"\x1b]0;owned\x07", "图像向量检索库::搜索(图像)", "a\nb\r\tc", "\u202eevil", strings.Repeat("x", 5000),
			"👩‍👩‍👧‍👦 family", "e\u0301\u0301\u0301",
		}
		for i, name := range names {
			leaf, root := b.Frame(name, profile.NoMapping), b.Frame(names[(i+1)%len(names)], profile.NoMapping)
			if err := b.Sample([]uint32{leaf, root}, []int64{int64(1 + i*7)}); err != nil {
				t.Fatal(err)
			}
		}
		p := b.Profile()
		v := View{
			Items: []Item{
				{Node: "n\x1b[1m", Kind: "cpu", Load: func(context.Context) (*profile.Profile, error) {
					return p,
						nil
				}},
			},
		}
		for _, size := range tuitest.Sizes {
			d := driveProfiles(t, v, size.W, size.H)
			for key := range strings.FieldsSeq("down right right c esc i b b v enter esc esc 9") {
				d.Keys(key)
				d.Fits()
				for i, line := range strings.Split(d.Plain(), "\n") {
					if strings.ContainsAny(line, "\x1b\x07\r\t\u202e") {
						t.Fatalf("after %s line %d has a control character: %q", key, i, line)
					}
				}
			}
		}
	})
}
