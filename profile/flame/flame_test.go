package flame_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/flame"
)

// stacks returns a Profile of lines "root;..;leaf value", each optionally followed by " @node".
func stacks(t testing.TB, lines ...string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	b.Meta().Period, b.Meta().PeriodType = 1, profile.ValueType{Type: "samples", Unit: "count"}
	for _, line := range lines {
		var stack, node string
		var value int64
		if _, err := fmt.Sscan(line, &stack, &value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, after, ok := strings.Cut(line, " @"); ok {
			node = after
		}
		names := strings.Split(stack, ";")
		var locations []uint32
		for _, name := range slices.Backward(names) {
			locations = append(locations, b.Frame(name, profile.NoMapping))
		}
		var labels []profile.Label
		if node != "" {
			labels = []profile.Label{{Key: profile.NodeLabel, Str: node}}
		}
		if err := b.Sample(locations, []int64{value}, labels...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

// show returns a tree as an outline with total and self values, followed by the base's in a difference.
func show(t *flame.Tree) string {
	var b strings.Builder
	for i := range t.Frames {
		f := &t.Frames[i]
		fmt.Fprintf(&b, "%s%s %d %d", strings.Repeat(" ", int(f.Depth)), t.NameOf(f), f.Total, f.Self)
		if t.Diff {
			fmt.Fprintf(&b, " | %d %d", f.Base, f.BaseSelf)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// wellFormed checks the invariants of a tree.
func wellFormed(t testing.TB, tree *flame.Tree) {
	t.Helper()
	deepest := 0
	for i := range tree.Frames {
		f := &tree.Frames[i]
		deepest = max(deepest, int(f.Depth))
		if int(f.Next) <= i || int(f.Next) > len(tree.Frames) {
			t.Fatalf("frame %d ends at %d of %d", i, f.Next, len(tree.Frames))
		}
		total, base, before := f.Self, f.BaseSelf, ""
		for c := int32(i) + 1; c < f.Next; c = tree.Frames[c].Next {
			child := &tree.Frames[c]
			if child.Parent != int32(i) || child.Depth != f.Depth+1 {
				t.Fatalf("frame %d lies in %d, but says %d at depth %d", c, i, child.Parent, child.Depth)
			}
			if name := tree.NameOf(child); name < before {
				t.Fatalf("%q comes before %q", before, name)
			} else {
				before = name
			}
			total, base = total+child.Total, base+child.Base
		}
		if total > f.Total || base > f.Base || tree.Pruned == 0 && (total != f.Total || base != f.Base) {
			t.Fatalf("frame %d %s is %d, %d, what is in it %d, %d", i, tree.NameOf(f), f.Total, f.Base, total, base)
		}
	}
	if deepest != tree.Depth {
		t.Fatalf("depth is %d, said is %d", deepest, tree.Depth)
	}
	widths := tree.Widths()
	for i := range tree.Frames {
		var sum int64
		for c := int32(i) + 1; c < tree.Frames[i].Next; c = tree.Frames[c].Next {
			sum += widths[c]
		}
		if sum > widths[i] {
			t.Fatalf("children of frame %d are %d wide, it %d", i, sum, widths[i])
		}
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		o     flame.Options
		want  string
	}{
		{"joins what begins alike", []string{"a;b;c 1", "a;b 2", "a;d 3", "e 4"}, flame.Options{}, `
root 10 0
 a 6 0
  b 3 2
   c 1 1
  d 3 3
 e 4 4
`},
		{"recursion stays", []string{"a;a;a 1", "a;a 2"}, flame.Options{}, `
root 3 0
 a 3 0
  a 3 2
   a 1 1
`},
		{"inverted", []string{"a;b;c 1", "d;c 2", "c 4", "a 8"}, flame.Options{Inverted: true}, `
root 15 0
 a 8 8
 c 7 4
  b 1 0
   a 1 1
  d 2 2
`},
		{"by node", []string{"a;b 1 @n2", "a;b 2 @n1", "a;c 3 @n1", "a 5"}, flame.Options{Nodes: true}, `
root 11 0
 (no node) 5 0
  a 5 5
 n1 5 0
  a 5 0
   b 2 2
   c 3 3
 n2 1 0
  a 1 0
   b 1 1
`},
		{"small ones are left out", []string{"a;b 90", "a;c 6", "a;d;e 4"}, flame.Options{MinShare: 0.05}, `
root 100 0
 a 100 0
  b 90 90
  c 6 6
`},
		{"only so many", []string{"a;b 90", "a;c 6", "a;d;e 4"}, flame.Options{MaxFrames: 3}, `
root 100 0
 a 100 0
  b 90 90
`},
		{"a difference that was saved", []string{"a;b 5", "a;c -3"}, flame.Options{}, `
root 5 0 | 3 0
 a 5 0 | 3 0
  b 5 5 | 0 0
  c 0 0 | 3 3
`},
		{"no samples", nil, flame.Options{}, "\nroot 0 0\n"},
		{"nothing but zeros", []string{"a;b 0"}, flame.Options{}, "\nroot 0 0\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := flame.New(stacks(t, test.lines...), test.o)
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, tree)
			if diff := cmp.Diff(test.want[1:], show(tree)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewDiff(t *testing.T) {
	base := stacks(t, "a;b 10", "a;gone 5", "a;same 5")
	next := stacks(t, "a;b 30", "a;new 4", "a;same 6")
	tests := []struct {
		name string
		o    flame.Options
		want string
	}{
		{"as they are", flame.Options{}, `
root 40 0 | 20 0
 a 40 0 | 20 0
  b 30 30 | 10 10
  gone 0 0 | 5 5
  new 4 4 | 0 0
  same 6 6 | 5 5
`},
		{"normalized", flame.Options{Normalize: true}, `
root 20 0 | 20 0
 a 20 0 | 20 0
  b 15 15 | 10 10
  gone 0 0 | 5 5
  new 2 2 | 0 0
  same 3 3 | 5 5
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := flame.NewDiff(base, next, test.o)
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, tree)
			if diff := cmp.Diff(test.want[1:], show(tree)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLayout(t *testing.T) {
	tree, err := flame.New(stacks(t, "a;b 3", "a;c 1", "d 4"), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type span = flame.Span
	widths := tree.Widths()
	rows := tree.Layout(nil, widths, 0, 80, 0)
	want := [][]span{{{0, 0, 80}}, {{1, 0, 40}, {4, 40, 80}}, {{2, 0, 30}, {3, 30, 40}}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	rows = tree.Layout(rows, widths, tree.Find([]string{"a", "b"}), 80, 0)
	if diff := cmp.Diff([][]span{{{0, 0, 80}}, {{1, 0, 80}}, {{2, 0, 80}}}, rows); diff != "" {
		t.Errorf("zoomed (-want +got):\n%s", diff)
	}
	rows = tree.Layout(rows, widths, 0, 80, 11)
	if len(rows[2]) != 1 || rows[2][0].Frame != 2 {
		t.Errorf("narrow frames were not left out: %v", rows)
	}
}

func TestHugeValuesDoNotOverflow(t *testing.T) {
	tree, err := flame.New(stacks(t, fmt.Sprintf("a;b %d", math.MaxInt64), fmt.Sprintf("a;c %d", math.MaxInt64),
		fmt.Sprintf("a;d %d", math.MinInt64)), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if root := tree.Root(); root.Total != math.MaxInt64 || root.Base != math.MaxInt64 {
		t.Errorf("the root is %d, %d", root.Total, root.Base)
	}
}

func TestPruneMatchesNew(t *testing.T) {
	p := random(3000, 500)
	whole, err := flame.New(p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, whole)
	if whole.Pruned != 0 || whole.PrunedMin != 0 {
		t.Fatalf("%d frames were left out, down to %v", whole.Pruned, whole.PrunedMin)
	}
	for _, o := range []flame.Options{
		{MinShare: 0.01}, {MaxFrames: 100}, {MaxFrames: 1}, {MinShare: 0.002, MaxFrames: 500},
	} {
		want, err := flame.New(p, o)
		if err != nil {
			t.Fatal(err)
		}
		most := o.MaxFrames
		if most == 0 {
			most = len(whole.Frames)
		}
		got := whole.Prune(most, o.MinShare)
		wellFormed(t, want)
		wellFormed(t, got)
		if len(got.Frames) != len(want.Frames) || got.PrunedMin != want.PrunedMin || got.Pruned == 0 ||
			want.Pruned == 0 {
			t.Errorf("%+v: %d frames down to %v, %d left out; New has %d down to %v, %d",
				o, len(got.Frames), got.PrunedMin, got.Pruned, len(want.Frames), want.PrunedMin, want.Pruned)
		}
		if o.MaxFrames > 0 && o.MinShare == 0 && len(got.Frames) != o.MaxFrames {
			t.Errorf("%d frames, where %d were asked for", len(got.Frames), o.MaxFrames)
		}
	}
}

func TestMergeConsecutiveFrames(t *testing.T) {
	p := stacks(t, "example.com/a.F;example.com/a.G;example.com/b.H;example.com/b.I;example.com/a.F 3",
		"example.com/a.G 2")
	for _, o := range []flame.Options{{By: profile.ByPackage}, {By: profile.ByPackage, Inverted: true}} {
		tree, err := flame.New(p, o)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, tree)
		want := `root 5 0
 example.com/a 5 2
  example.com/b 3 0
   example.com/a 3 3
`
		if diff := cmp.Diff(want, show(tree)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", o, diff)
		}
	}
}

func TestDeepStacks(t *testing.T) {
	deep := strings.Repeat("f;", 100_000) + "leaf 1"
	tree, err := flame.New(stacks(t, deep, "f;other 1"), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tree.Depth != 100_001 || len(tree.Frames) != 100_003 {
		t.Errorf("%d frames, %d deep", len(tree.Frames), tree.Depth)
	}
	if rows := tree.Layout(nil, tree.Widths(), 0, 100, 1); len(rows) != 100_002 {
		t.Errorf("%d rows", len(rows))
	}
}

// random returns a profile of stacks with about 30 frames. Hardly two stacks are equal, as in a large Go
// service. They diverge near the leaves and have a few hot paths.
func random(samples, functions int) *profile.Profile {
	r := rand.New(rand.NewPCG(1, 2))
	p := &profile.Profile{
		Types:  []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Period: 10_000_000, PeriodType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		LabelSets: [][]profile.Label{nil}, Starts: []uint32{0},
	}
	for i := range functions {
		name := fmt.Sprintf("example.com/service/part%d.(*Type%d).Method%d", i%97, i%1009, i)
		p.Functions = append(p.Functions, profile.Function{
			Name: name, SystemName: name, File: fmt.Sprintf("/src/part%d/file%d.go", i%97, i%1009), StartLine: 1,
		})
		p.Lines = append(p.Lines, profile.Line{Function: uint32(i), Line: 10})
		p.Locations = append(p.Locations, profile.Location{
			Mapping: profile.NoMapping, Address: uint64(0x400000 + i*64), FirstLine: uint32(i), Lines: 1,
		})
	}
	for range samples {
		depth := 20 + r.IntN(21)
		stack := make([]uint32, depth)
		at := uint64(1)
		for d := range depth {
			// Each frame calls one of a few functions, some far more often than others.
			choice := uint64(r.ExpFloat64() * float64(1+d/4))
			at = (at*6364136223846793005 + choice*1442695040888963407 + 1) % uint64(functions)
			stack[depth-1-d] = uint32(at)
		}
		p.Stacks = append(p.Stacks, stack...)
		p.Starts = append(p.Starts, uint32(len(p.Stacks)))
		p.Values = append(p.Values, 1, 10_000_000)
	}
	return p
}
