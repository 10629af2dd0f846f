package whatif

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
)

// oneNode returns a cluster with one node and one segment.
func oneNode(cores, seconds float64) *cluster {
	return &cluster{
		nodes:    []server{{name: "n", cores: cores, segments: 1}},
		replicas: [][]shard{{{parts: []part{{jobs: []float64{seconds}}}}}},
	}
}

func run(t *testing.T, c *cluster, l Load) *Outcome {
	t.Helper()
	o, err := c.simulate(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSimulationAgreesWithTheory compares the simulation with theory. With random arrivals and constant service time
// s, the mean wait is rho*s/(2(1-rho)) (Pollaczek-Khinchine). Sessions beyond the number of cores add only waiting
// time (Little).
func TestSimulationAgreesWithTheory(t *testing.T) {
	for _, rho := range []float64{0.2, 0.5, 0.8} {
		const s = 0.01
		o := run(t, oneNode(1, s), Load{Rate: rho / s, Seed: 3, Requests: 200_000})
		if want := s + rho*s/(2*(1-rho)); math.Abs(o.Mean.Seconds()/want-1) > 0.03 ||
			math.Abs(o.Nodes[0].Use-rho) > 0.02 || o.Saturated {
			t.Errorf("at %v of the capacity: mean %v, want %v; use %v, saturated %v", rho, o.Mean, want, o.Nodes[0].Use,
				o.Saturated)
		}
	}
	for _, n := range []int{1, 2, 4, 16} {
		o := run(t, oneNode(4, 0.01), Load{Sessions: n})
		qps := math.Min(float64(n), 4) / 0.01
		if math.Abs(o.QPS/qps-1) > 0.01 || math.Abs(o.Mean.Seconds()/(float64(n)/qps)-1) > 0.01 {
			t.Errorf("%d sessions: %v a second, mean %v, want %v", n, o.QPS, o.Mean, qps)
		}
	}
	if o := run(t, oneNode(0.25, 0.01), Load{Sessions: 1}); math.Abs(o.QPS-25) > 0.1 {
		t.Errorf("a quarter of a core: %v a second", o.QPS)
	}
	if o := run(t, oneNode(1, 0.01), Load{Rate: 150, Requests: 5000}); !o.Saturated || o.Bound != "node n's cores" {
		t.Errorf("more than it can answer: %+v", o)
	}
}

func TestSlowestPart(t *testing.T) {
	c := &cluster{
		nodes: []server{{name: "a", cores: 1}, {name: "b", cores: 1}}, wait: 0.005,
		replicas: [][]shard{{{leader: 0, call: 0.001, parts: []part{{0, []float64{0.010}}, {1, []float64{0.030}}}}}},
	}
	// The sum of a call at the leader, a call at the other node, its segment and the wait.
	if o := run(t, c, Load{Sessions: 1}); math.Abs(o.Mean.Seconds()-0.037) > 1e-6 {
		t.Errorf("a lone request takes %v", o.Mean)
	}
	if o := run(t, c, Load{Sessions: 16}); math.Abs(o.QPS-1/0.031) > 0.5 || o.Bound != "node b's cores" {
		t.Errorf("%v a second, bound by %s", o.QPS, o.Bound)
	}
	if most, limit := c.capacity(1); math.Abs(most-1/0.031) > 1e-9 || limit != 1 {
		t.Errorf("at most %v, node %d", most, limit)
	}
	c.proxies, c.proxy = server{cores: 0.5}, 0.020
	if o := run(t, c, Load{Sessions: 16}); math.Abs(o.QPS-25) > 0.5 || o.Bound != "proxies" {
		t.Errorf("%v a second, bound by %s", o.QPS, o.Bound)
	}
}

func TestPack(t *testing.T) {
	if got := pack([]float64{1, 5, 2, 3, 4}, 2.5); len(got) != 3 || math.Abs(got[0]+got[1]+got[2]-15) > 1e-9 {
		t.Errorf("%v", got)
	}
	for _, job := range pack([]float64{1, 1, 1, 1, 1, 1}, 3) {
		if job != 2 {
			t.Errorf("a job of %v", job)
		}
	}
}

func TestSimulationDeterministic(t *testing.T) {
	c := oneNode(2, 0.01)
	c.spread = 0.5
	l := Load{Sessions: 8, Seed: 9}
	if a, b := run(t, c, l), run(t, c, l); !reflect.DeepEqual(a, b) || a.P99 <= a.P50 {
		t.Errorf("%+v, then %+v", a, b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.simulate(ctx, l); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, l := range []Load{{}, {Rate: 1, Sessions: 1}, {Sessions: 1 << 24}} {
		if _, err := c.simulate(t.Context(), l); err == nil {
			t.Errorf("%+v is simulated", l)
		}
	}
}
