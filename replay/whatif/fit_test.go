package whatif

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/replay"
)

func TestFitRowsFindsTheLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var points []rowPoint
	for _, bytes := range []float64{1e4, 5e4, 1e5, 1e6, 1e7, 4e7} {
		points = append(points, rowPoint{bytes, (900 + 0.08*bytes) * (1 + 0.03*r.NormFloat64())})
	}
	f, ok := fitRows(points)
	if !ok || math.Abs(f.fixed-900) > 150 || math.Abs(f.perByte-0.08) > 0.008 {
		t.Errorf("%+v, %v", f, ok)
	}
	errors := leaveOneOut(points, fitRows, func(f rowFit, p rowPoint) float64 { return f.at(p.bytes) }, func(p rowPoint) float64 { return p.ns })
	if median, worst := medianAndWorst(errors); !(median > 0 && median < 0.1 && worst < 0.3 && worst >= median) {
		t.Errorf("off by %v and %v", median, worst)
	}
}

func TestFitRowsHasNoNegativeCosts(t *testing.T) {
	for name, points := range map[string][]rowPoint{
		"falling":  {{1e3, 900}, {1e6, 300}},
		"too flat": {{1e3, 10}, {1e4, 1000}, {1e5, 100_000}},
		"one":      {{1e5, 5000}},
		"equal":    {{1e5, 5000}, {1e5, 5100}},
	} {
		f, ok := fitRows(points)
		if !ok || f.fixed < 0 || f.perByte < 0 || f.at(1e6) <= 0 {
			t.Errorf("%s: %+v, %v", name, f, ok)
		}
	}
	if _, ok := fitRows(nil); ok {
		t.Error("a fit to nothing")
	}
}

func TestFitWalksFindsItsPowers(t *testing.T) {
	truth := walkFit{c: 1.5, byEF: 0.9, byRows: 0.15, fixed: 2000, each: 12}
	r := rand.New(rand.NewPCG(3, 4))
	var points []walkPoint
	for _, rows := range []float64{5e3, 1e4, 2e4, 4e4, 8e4} {
		for _, ef := range []float64{32, 64, 128} {
			d := truth.distances(rows, ef) * (1 + 0.01*r.NormFloat64())
			points = append(points, walkPoint{rows, ef, d, (truth.fixed + truth.each*d) * (1 + 0.02*r.NormFloat64())})
		}
	}
	f, ok := fitWalks(points)
	if !ok || math.Abs(f.byEF-0.9) > 0.03 || math.Abs(f.byRows-0.15) > 0.02 || math.Abs(f.each-12) > 1 {
		t.Errorf("%+v, %v", f, ok)
	}
	// ten times the rows that were seen
	if got, want := f.at(1e6, 64), truth.at(1e6, 64); math.Abs(got-want)/want > 0.1 {
		t.Errorf("at a million rows %v, the truth is %v", got, want)
	}
}

func TestFitWalksOfOneGraphTakesThePriors(t *testing.T) {
	f, ok := fitWalks([]walkPoint{{rows: 1e4, ef: 64, distances: 900, ns: 12_000}})
	if !ok || math.Abs(f.byEF-priorByEF) > 0.05 || math.Abs(f.byRows-priorByRows) > 0.05 || math.Abs(f.at(1e4, 64)-12_000) > 1500 {
		t.Errorf("%+v, %v: %v", f, ok, f.at(1e4, 64))
	}
	if f.distances(500, 1000) > 500 {
		t.Errorf("%v distances to 500 rows", f.distances(500, 1000))
	}
	if _, ok := fitWalks(nil); ok {
		t.Error("a fit to nothing")
	}
}

func TestCurve(t *testing.T) {
	c := &curve{bytes: []float64{1 << 17, 1 << 19, 1 << 21}, scan: []float64{1, 1, 3}, walk: []float64{1, 2, 5}}
	for _, x := range []struct {
		state replay.State
		bytes float64
		want  float64
	}{
		{replay.Growing, 0, 1}, {replay.Growing, 1 << 19, 1}, {replay.Growing, 1 << 20, 2}, {replay.Unindexed, 1 << 40, 3}, {replay.Indexed, 1 << 18, 1.5}, {replay.Indexed, 1 << 21, 5},
	} {
		if got := c.at(x.state, x.bytes); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s, %v bytes: %v, want %v", x.state, x.bytes, got, x.want)
		}
	}
	if got := (&curve{}).at(replay.Indexed, 5); got != 1 {
		t.Errorf("without a measurement %v", got)
	}
	if got := rising([]float64{2, 1, 3, 2.5, 200}); !slices.Equal(got, []float64{1, 1, 1.5, 1.5, 20}) {
		t.Errorf("%v", got)
	}
}
