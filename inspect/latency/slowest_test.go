package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// histogram returns the observations as a Milvus histogram.
func histogram(values []float64, whole bool) dist {
	d := dist{Count: float64(len(values)), Truncated: whole}
	for le := 1.0; le <= 131072; le *= 2 {
		d.Bounds = append(d.Bounds, le)
	}
	d.Buckets = make([]float64, len(d.Bounds))
	for _, v := range values {
		if whole {
			v = math.Floor(v)
		}
		d.Sum += v
		for i, b := range d.Bounds {
			if v <= b {
				d.Buckets[i]++
			}
		}
	}
	return d
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func almostEqual(got, want, part float64) bool { return math.Abs(got-want) <= part*want+0.06 }

// TestMean checks that the mean of exponential times is recovered after truncation to whole milliseconds, for
// calls from microseconds to seconds.
func TestMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, mean := range []float64{0.05, 0.3, 1, 3, 40, 900} {
		values := make([]float64, 40000)
		for i := range values {
			values[i] = rng.ExpFloat64() * mean
		}
		d := histogram(values, true)
		got, bounds := d.mean()
		if want := meanOf(values); !almostEqual(got, want, 0.04) || want < bounds.Low || want > bounds.High {
			t.Errorf("mean of %g ms: got %g in %v", want, got, bounds)
		}
		c := d.curve()
		if !almostEqual(c.mean(), got, 0.01) {
			t.Errorf("a curve of mean %g has mean %g", got, c.mean())
		}
		for i, b := range d.Bounds { // each bucket keeps its share
			if want := 1 - d.Buckets[i]/d.Count; math.Abs(c.at(b+1)-want) > 1e-6 {
				t.Errorf("mean %g: %g of the calls take over %g ms, want %g", mean, c.at(b+1), b+1, want)
			}
		}
		q := d.quantile(0.99)
		slices.Sort(values)
		if p99 := values[len(values)*99/100]; math.Floor(p99) < q.Low || math.Floor(p99) > q.High {
			t.Errorf("p99 of mean %g is %g, not in %v", mean, p99, q)
		}
	}
	if got, bounds := (dist{}).mean(); got != 0 || bounds != (Interval{}) {
		t.Errorf("the mean of nothing is %g in %v", got, bounds)
	}
}

// TestWait compares the wait for the slowest of random calls with a simulation, for independent calls and for
// calls that are slow together.
func TestWait(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const requests = 20000
		kinds := 1 + rng.IntN(4)
		independent, together := make([]float64, requests), make([]float64, requests)
		list := make([]calls, kinds)
		first := make([]float64, kinds)
		slow := make([]int, requests)
		common := make([]float64, requests)
		for r := range common {
			common[r] = rng.NormFloat64()
		}
		for k := range list {
			n, mean, spread := 1+rng.IntN(3), math.Exp(rng.Float64()*5), 0.2+rng.Float64()
			draw := func(z float64) float64 { return mean * math.Exp(z*spread-spread*spread/2) }
			values := make([]float64, 0, requests*n)
			for r := range requests {
				for range n {
					v := draw(rng.NormFloat64())
					values = append(values, v)
					if v > independent[r] {
						independent[r], slow[r] = v, k
					}
				}
				together[r] = max(together[r], draw(common[r]))
			}
			list[k] = calls{float64(n), histogram(values, false).curve()}
		}
		for _, k := range slow {
			first[k] += 1.0 / requests
		}
		w := wait(list)
		if want := meanOf(independent); !almostEqual(w.independent, want, 0.1) {
			t.Errorf("seed %d: independent calls take %g, got %g", seed, want, w.independent)
		}
		if want := meanOf(together); want < w.low*0.95 || want > w.high*1.05 {
			t.Errorf("seed %d: calls that are slow together take %g, not in %g to %g", seed, want, w.low, w.high)
		}
		if w.low > w.independent || w.independent > w.high {
			t.Errorf("seed %d: %g <= %g <= %g does not hold", seed, w.low, w.independent, w.high)
		}
		for k := range list {
			if math.Abs(first[k]-w.chance[k]) > 0.1 {
				t.Errorf("seed %d: kind %d is the slowest in %.2f, got %.2f", seed, k, first[k], w.chance[k])
			}
		}
	}
}

// TestWaitOfRareCalls checks that a request waits for one call if four nodes have a quarter of the calls each.
func TestWaitOfRareCalls(t *testing.T) {
	c := fixed(10)
	slow := fixed(50)
	w := wait([]calls{{0.25, c}, {0.25, c}, {0.25, c}, {0.25, slow}})
	if !almostEqual(w.independent, 20, 0.02) {
		t.Errorf("one call of four kinds takes %g, want 20", w.independent)
	}
	if w := wait([]calls{{2, c}}); !almostEqual(w.independent, 10, 0.01) || !almostEqual(w.high, 10, 0.01) {
		t.Errorf("two calls of 10 ms take %g", w.independent)
	}
	if w := wait(nil); w.independent != 0 || w.high != 0 {
		t.Errorf("no call takes %g", w.independent)
	}
}

// TestGiven checks that the time above the mean is assigned to the pieces that vary.
func TestGiven(t *testing.T) {
	got := expectedPieces([]piece{{10, 0}, {5, 100}, {5, 100}}, 40)
	if want := []float64{10, 15, 15}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := expectedPieces([]piece{{10, 5}, {30, 0}}, 20), []float64{5, 15}; !slices.Equal(got, want) {
		t.Errorf("a call that takes half: got %v, want %v", got, want)
	}
	if got := expectedPieces([]piece{{0, 0}, {0, 0}}, 3); got[0] != 0 || got[1] != 0 {
		t.Errorf("pieces of nothing: %v", got)
	}
}
