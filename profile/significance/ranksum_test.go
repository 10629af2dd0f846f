package significance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// TestTiesAreThoseOfBenchmath: on sides of one size, where its distribution is symmetric, benchmath counts the same.
func TestTiesAreThoseOfBenchmath(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	thresholds := benchmath.DefaultThresholds
	for range 100 {
		x, y := make([]float64, 2+r.IntN(8)), []float64(nil)
		for i := range x {
			x[i] = float64(r.IntN(6))
			y = append(y, float64(1+r.IntN(6)))
		}
		got := RankSum(x, y).P
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(x), &thresholds), benchmath.NewSample(slices.Clone(y), &thresholds)).P
		if math.Abs(got-min(1, want)) > 1e-9 {
			t.Fatalf("%v and %v: %v, benchmath says %v", x, y, got, want)
		}
	}
}
