package trend

import (
	"math"
	"testing"
)

// TestTrendIsBounded: of many rounds each moment is the mean of several, and a gap stays one.
func TestTrendIsBounded(t *testing.T) {
	x, nothing := &Trend{}, math.NaN()
	const rounds = 1000
	for i := range rounds {
		at := Moment{float64(i), nothing, 1}
		if i < 500 {
			at[2] = nothing
		}
		x.Add(at)
	}
	values := x.Values(0)
	if len(values) > most || len(values) < most/2 {
		t.Fatalf("%d moments of %d rounds", len(values), rounds)
	}
	sum := 0.0
	for i, v := range values {
		if i > 0 && v <= values[i-1] {
			t.Errorf("moment %d is %g after %g", i, v, values[i-1])
		}
		sum += v * x.counts[i][0]
	}
	if sum != rounds*(rounds-1)/2 {
		t.Errorf("the rounds add up to %g", sum)
	}
	rates := x.Values(2)
	if !math.IsNaN(rates[0]) || rates[len(rates)-1] != 1 || !math.IsNaN(x.Values(1)[3]) {
		t.Errorf("rates %v", rates)
	}
	for range most * x.step {
		x.Add(Nothing())
	}
	if x.Forgotten() {
		t.Error("what is remembered is forgotten")
	}
}
