package load_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/replay/load"
)

// spreads returns random durations from 1 ns to 10 hours.
func spreads(n int, seed uint64) []time.Duration {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(math.Exp(random.Float64() * math.Log(float64(10*time.Hour))))
	}
	return all
}

func histogram(all []time.Duration) *load.Histogram {
	var h load.Histogram
	for _, d := range all {
		h.Record(d)
	}
	return &h
}

func TestQuantileAccuracy(t *testing.T) {
	for _, n := range []int{1, 2, 10, 100, 1000, 50_000} {
		all := spreads(n, uint64(n))
		h := histogram(all)
		slices.Sort(all)
		for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			// The nearest rank, in integers.
			rank := max(1, (int(math.Round(q*1000))*n+999)/1000)
			if got, want := h.Quantile(q), all[rank-1]; !almostEqual(got, want) {
				t.Errorf("%v of %d: %v, not %v", q, n, got, want)
			}
		}
	}
}

func TestHistogramFigures(t *testing.T) {
	all := spreads(20_000, 3)
	all = append(all, 0, -time.Second)
	l := histogram(all).Latency()
	all[len(all)-1] = 0
	var sum, squares float64
	for _, d := range all {
		sum += float64(d)
	}
	mean := sum / float64(len(all))
	for _, d := range all {
		squares += (float64(d) - mean) * (float64(d) - mean)
	}
	sd := math.Sqrt(squares / float64(len(all)))
	if l.Count != int64(len(all)) || l.Min != 0 || l.Max != slices.Max(all) {
		t.Errorf("count %d, min %v, max %v", l.Count, l.Min, l.Max)
	}
	if math.Abs(float64(l.Mean)-mean) > mean/1e9 || math.Abs(float64(l.SD)-sd) > sd/1e9 {
		t.Errorf("mean %v, not %v; SD %v, not %v", l.Mean, time.Duration(mean), l.SD, time.Duration(sd))
	}
	// A difference of almost equal squares would vanish in floating point.
	hours := []time.Duration{time.Hour, time.Hour + 2, time.Hour + 4, time.Hour + 2}
	if l := histogram(hours).Latency(); l.Mean != time.Hour+2 || l.SD != 1 {
		t.Errorf("mean %v, SD %v", l.Mean, l.SD)
	}
	if diff := cmp.Diff(load.Latency{}, histogram(nil).Latency()); diff != "" {
		t.Error(diff)
	}
}

func TestMerge(t *testing.T) {
	a, b := spreads(5000, 1), spreads(3000, 2)
	both := histogram(slices.Concat(a, b)).Latency()
	h := histogram(a)
	h.Merge(histogram(nil))
	h.Merge(histogram(b))
	if diff := cmp.Diff(both, h.Latency()); diff != "" {
		t.Error(diff)
	}
	h.Reset()
	h.Merge(histogram(a))
	if diff := cmp.Diff(histogram(a).Latency(), h.Latency()); diff != "" {
		t.Error(diff)
	}
}

func TestBars(t *testing.T) {
	same := slices.Repeat([]time.Duration{5 * time.Millisecond}, 10)
	for name, all := range map[string][]time.Duration{
		"wide": spreads(5000, 1), "one": {time.Millisecond}, "zero": {0, 0, 3}, "same": same,
		"all":         {0, 1, math.MaxInt64},
		"narrow":      {time.Millisecond, 1010 * time.Microsecond, 1020 * time.Microsecond},
		"nanoseconds": {1, 2, 3, 4, 5, 6, 7},
	} {
		bars := histogram(all).Latency().Bars
		if len(bars) < 2 && name != "zero" || len(bars) > 60 {
			t.Errorf("%s: %d bars", name, len(bars))
		}
		for i, b := range bars {
			var want int64
			for _, d := range all {
				if d <= b.UpTo && (i == 0 || d > bars[i-1].UpTo) {
					want++
				}
			}
			if b.Count != want || i > 0 && b.UpTo <= bars[i-1].UpTo || i == 0 && b.Count != 0 && b.UpTo != 0 {
				t.Errorf("%s: bar %d of %d: %+v, %d fall into it", name, i, len(bars), b, want)
			}
		}
	}
}
