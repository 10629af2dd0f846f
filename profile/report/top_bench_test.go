package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kitescope/profile"
	"kitescope/profile/report"
)

// synthetic makes a profile of so many samples and functions, a few inlined, with stacks of 36 frames.
func synthetic(samples, functions int) *profile.Profile {
	r := rand.New(rand.NewPCG(1, 2))
	p := &profile.Profile{
		Types:      []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Mappings: []profile.Mapping{{File: "/opt/service"}}, Starts: []uint32{0},
	}
	for i := range functions {
		p.Functions = append(p.Functions, profile.Function{Name: fmt.Sprintf("github.com/example/service/package%d.(*Type).Method%d", i%100, i), File: fmt.Sprintf("/src/package%d/file.go", i%100)})
	}
	for i := range functions {
		first := uint32(len(p.Lines))
		p.Lines = append(p.Lines, profile.Line{Function: uint32(i), Line: int64(i)})
		if i%10 == 0 && i > 0 {
			p.Lines = append(p.Lines, profile.Line{Function: uint32(i - 1), Line: int64(i)})
		}
		p.Locations = append(p.Locations, profile.Location{Address: uint64(i) * 64, FirstLine: first, Lines: uint32(len(p.Lines)) - first})
	}
	for range samples {
		at := r.IntN(functions)
		for range 36 {
			p.Stacks = append(p.Stacks, uint32(at))
			at = (at*7 + r.IntN(5)) % functions
		}
		p.Starts = append(p.Starts, uint32(len(p.Stacks)))
		p.Values = append(p.Values, 1, 10_000_000)
	}
	return p
}

func BenchmarkTop(b *testing.B) {
	p := synthetic(1_000_000, 20_000)
	for b.Loop() {
		if _, err := report.NewTop(p, report.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTopByClass(b *testing.B) {
	p := synthetic(1_000_000, 20_000)
	for b.Loop() {
		if _, err := report.NewTop(p, report.Options{By: profile.ByClass}); err != nil {
			b.Fatal(err)
		}
	}
}
