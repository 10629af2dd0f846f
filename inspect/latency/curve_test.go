package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSums: merging gives what sorting does.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for round := range 50 {
		var x, y [sumPoints]float64
		for i := range x {
			x[i], y[i] = rng.ExpFloat64()*10, rng.ExpFloat64()
			if round%3 == 0 {
				y[i] = 1 // all alike
			}
		}
		slices.Sort(x[:])
		slices.Sort(y[:])
		var want []uint64
		for _, p := range x {
			for _, q := range y {
				want = append(want, math.Float64bits(p+q))
			}
		}
		slices.Sort(want)
		var scratch [2]everySum
		if got := sums(&x, &y, &scratch); !slices.Equal(got[:], want) {
			t.Fatalf("round %d: %v, want %v", round, got[:8], want[:8])
		}
	}
}

// TestTail: few slow requests are told of where the 99th percentile is far above the mean, and there are many.
func TestTail(t *testing.T) {
	b := Budget{Request: Search, Requests: 500, Ms: 20, P99: Interval{128, 256}}
	if got, want := Tail(&b), "1% of requests take 6.4 times the mean or more: the phases describe the other 99%; kitescope slow lists them"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Request = Insert
	if got, want := Tail(&b), "1% of requests take 6.4 times the mean or more: the phases describe the other 99%"; got != want {
		t.Errorf("of inserts %q, want %q", got, want)
	}
	for name, change := range map[string]func(*Budget){
		"few":    func(b *Budget) { b.Requests = 99 },
		"near":   func(b *Budget) { b.P99.Low = 64 },
		"no p99": func(b *Budget) { b.P99 = Interval{} },
		"none":   func(b *Budget) { b.Ms = 0 },
	} {
		x := b
		change(&x)
		if got := Tail(&x); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
