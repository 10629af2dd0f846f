package simulate

import (
	"context"
	"math"
	"testing"
	"time"

	"kitescope/replay/schedule"
)

// knobs lets so many groups run at once, and merges nothing.
func knobs(cores float64, concurrency int) schedule.Knobs {
	return schedule.Knobs{Cores: cores, ConcurrencyRatio: float64(concurrency) / cores}
}

// queues is a cluster of so many nodes each of which has one segment of the same collection.
func queues(n int, read schedule.Knobs, mean, sd time.Duration) *Cluster {
	c := &Cluster{Collections: []Collection{{Name: "c", Weight: 1, Replicas: [][]Shard{{}}}}}
	for i := range n {
		c.Nodes = append(c.Nodes, Node{ID: int64(i), Read: read})
		c.Collections[0].Replicas[0] = append(c.Collections[0].Replicas[0], Shard{Leader: i, Segments: []Segment{{Node: i, Mean: mean, SD: sd}}})
	}
	return c
}

// erlangC is the mean time in a queue with c servers.
func erlangC(lambda, mu float64, c int) float64 {
	a := lambda / mu
	term, sum := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= a / float64(k)
		sum += term
	}
	last := term * a / float64(c) / (1 - a/float64(c))
	wait := last / (sum + last)
	return wait/(float64(c)*mu-lambda) + 1/mu
}

// repair is the mean response of one server asked by n who think so long between: the recursion of mean value analysis.
func repair(n int, mu, think float64) float64 {
	var waiting, response float64
	for k := 1; k <= n; k++ {
		response = (1 + waiting) / mu
		waiting = float64(k) / (think + response) * response
	}
	return response
}

// Where the cores are shared (many may run), mean times do not depend on how costs are spread, and formulas of exponential costs hold for any (Kelly,
// Reversibility and Stochastic Networks, 1979, chapter 3: symmetric queues).
func TestMeansAreThoseOfTheory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cluster     *Cluster
		load        Load
		exponential bool
		want        float64 // seconds
	}{
		{"M/M/1, cores shared, costs log-normal", queues(1, knobs(1, 100), ms, ms), Load{Rate: 700}, false, 0.001 / 0.3},
		{"M/M/1, first come first served", queues(1, knobs(1, 1), ms, ms), Load{Rate: 800}, true, 0.001 / 0.2},
		{"M/M/4, cores shared, costs log-normal", queues(1, knobs(4, 400), ms, 2*ms), Load{Rate: 3400}, false, erlangC(3400, 1000, 4)},
		{"M/M/4, first come first served", queues(1, knobs(4, 4), ms, ms), Load{Rate: 3400}, true, erlangC(3400, 1000, 4)},
		{"M/D/1", queues(1, knobs(1, 1), ms, 0), Load{Rate: 800}, false, 0.001 * (1 + 0.8/(2*0.2))},
		{"M/G/1, costs log-normal", queues(1, knobs(1, 1), ms, ms*3/2), Load{Rate: 500}, false, 0.001 * (1 + 0.5*(1+2.25)/(2*0.5))},
		{"machine repair", queues(1, knobs(1, 100), ms, ms), Load{Sessions: 20, Think: 15 * ms}, false, repair(20, 1000, 0.015)},
		{"machine repair, exponential", queues(1, knobs(1, 1), ms, ms), Load{Sessions: 8, Think: 10 * ms}, true, repair(8, 1000, 0.010)},
		// Nelson and Tantawi, "Approximate analysis of fork/join synchronization in parallel queues", 1988: exact for two.
		{"fork and join of two", queues(2, knobs(1, 1), ms, ms), Load{Rate: 700}, true, (12 - 0.7) / 8 * 0.001 / 0.3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := c.load
			l.Duration, l.Warmup, l.Seed = 200*time.Second, 5*time.Second, 1
			o, err := run(context.Background(), c.cluster, l, c.exponential)
			if err != nil {
				t.Fatal(err)
			}
			low, high := o.MeanLow.Seconds(), o.MeanHigh.Seconds()
			if c.want < low || c.want > high {
				t.Errorf("mean %v (%v to %v), theory %.6f s", o.Mean, o.MeanLow, o.MeanHigh, c.want)
			}
			if high-low > 0.15*c.want {
				t.Errorf("the interval %.6f to %.6f is too wide to show anything", low, high)
			}
			if l.Rate > 0 && (l.Rate < o.QPSLow || l.Rate > o.QPSHigh) {
				t.Errorf("%.1f requests a second came and %.1f (%.1f to %.1f) were answered", l.Rate, o.QPS, o.QPSLow, o.QPSHigh)
			}
			if use := o.Nodes[0].Use * c.cluster.Nodes[0].Read.Cores; math.Abs(use-o.QPS*0.001) > 0.05*use {
				t.Errorf("cores in use %.4f, %.4f were asked for", use, o.QPS*0.001)
			}
			t.Logf("mean %v (%v to %v), theory %.6f s, %.0f QPS", o.Mean, o.MeanLow, o.MeanHigh, c.want, o.QPS)
		})
	}
}

// The quantiles of M/M/1 are those of an exponential distribution.
func TestQuantilesAreThoseOfTheory(t *testing.T) {
	t.Parallel()
	l := Load{Rate: 700, Duration: 400 * time.Second, Warmup: 5 * time.Second, Seed: 3}
	o, err := run(context.Background(), queues(1, knobs(1, 1), time.Millisecond, 0), l, true)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.001 / 0.3
	for q, got := range map[float64]time.Duration{0.5: o.P50, 0.9: o.P90, 0.95: o.P95, 0.99: o.P99} {
		want := -math.Log(1-q) * mean
		if math.Abs(got.Seconds()-want) > 0.07*want {
			t.Errorf("quantile %v: %v, theory %.6f s", q, got, want)
		}
	}
	if want := -math.Log(0.01) * mean; want < o.P99Low.Seconds() || want > o.P99High.Seconds() {
		t.Errorf("p99 %v (%v to %v), theory %.6f s", o.P99, o.P99Low, o.P99High, want)
	}
	if math.Abs(o.SD.Seconds()-mean) > 0.07*mean {
		t.Errorf("standard deviation %v, theory %.6f s", o.SD, mean)
	}
}
