package flame_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
)

var benchSamples = flag.Int("flame-samples", 50_000, "samples of the profile that is benchmarked; a million is the largest that is spoken of")

// random is a profile of stacks of about 30 frames that hardly two samples share, as a large
// Go service has them: wide near the leaves, with a few hot paths.
func random(samples, functions int) *profile.Profile {
	r := rand.New(rand.NewPCG(1, 2))
	p := &profile.Profile{
		Types:  []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Period: 10_000_000, PeriodType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, LabelSets: [][]profile.Label{nil}, Starts: []uint32{0},
	}
	for i := range functions {
		name := fmt.Sprintf("example.com/service/part%d.(*Type%d).Method%d", i%97, i%1009, i)
		p.Functions = append(p.Functions, profile.Function{Name: name, SystemName: name, File: fmt.Sprintf("/src/part%d/file%d.go", i%97, i%1009), StartLine: 1})
		p.Lines = append(p.Lines, profile.Line{Function: uint32(i), Line: 10})
		p.Locations = append(p.Locations, profile.Location{Mapping: profile.NoMapping, Address: uint64(0x400000 + i*64), FirstLine: uint32(i), Lines: 1})
	}
	for range samples {
		depth := 20 + r.IntN(21)
		stack := make([]uint32, depth)
		at := uint64(1)
		for d := range depth {
			// Each frame calls one of few functions, some far more often than others.
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

func BenchmarkNew(b *testing.B) {
	p := random(*benchSamples, 20_000)
	for _, test := range []struct {
		name string
		o    flame.Options
	}{
		{"picture", flame.Options{MaxFrames: 20_000}},
		{"terminal", flame.Options{MaxFrames: 100_000}},
		{"inverted", flame.Options{MaxFrames: 20_000, Inverted: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := flame.New(p, test.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLayout(b *testing.B) {
	tree, err := flame.New(random(*benchSamples, 20_000), flame.Options{MaxFrames: 100_000})
	if err != nil {
		b.Fatal(err)
	}
	widths := tree.Widths()
	b.ReportMetric(float64(len(tree.Frames)), "frames")
	var rows [][]flame.Span
	for b.Loop() {
		rows = tree.Layout(rows, widths, 0, 200, 0.5)
	}
}
