package whatif

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay"
)

func TestCalibrateRefuses(t *testing.T) {
	open := at(1, 0, time.Millisecond, 900)
	open.Rate = 100
	for want, r := range map[string]*replay.Result{
		"the result is from the engine":    live("engine", at(1, 0, time.Millisecond, 900)),
		"no answered closed-loop point":    live("milvus", open),
		"closed-loop point (replay sweep ": live("milvus"),
	} {
		if _, err := Calibrate(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	k, err := Calibrate(live("milvus", at(8, 32, time.Millisecond, 900)))
	if err != nil {
		t.Fatal(err)
	}
	for ef, want := range map[int]string{64: "no point at ef 64", 32: "a point with 1 session is needed"} {
		if _, err := k.calibrate(t.Context(), nil, Load{}, ef); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ef %d: %v, want %q", ef, err, want)
		}
	}
}

// recorded returns a run of a real Milvus 2.3.5 cluster (tools/e2e/replay.sh).
func recorded(t *testing.T, name string) *Calibration {
	t.Helper()
	f, err := os.Open("testdata/live-" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.ReadResult(f)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Calibrate(r)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// newPriced returns a layout with the given cost of each segment on the engine.
func newPriced(l *replay.Layout, v *variant, cost func(s *replay.Segment) time.Duration) *pricedVariant {
	if v == nil {
		v = &variant{Layout: l}
	}
	p := &pricedVariant{
		variant: v, sample: &sample{params: segment.Params{K: 10, SearchParams: engine.SearchParams{EF: 64}}},
		recall:   -1,
		modelled: make([]bool, len(v.Segments)),
	}
	for i := range v.Segments {
		m := cost(&v.Segments[i])
		p.costs = append(p.costs, MeasuredCost{Mean: m, SD: m / 10})
	}
	return p
}

// addLoad adds a load with more sessions. Only its queries per second were recorded. It assumes that query nodes were
// at capacity, so that a request took all the CPU that was available to it.
func addLoad(k *Calibration, sessions int, qps, cores float64) {
	p := k.Points[0]
	s := *p.Served
	s.Processes = slices.Clone(s.Processes)
	cpu := 0.0
	for i := range s.Processes {
		if s.Processes[i].Role == roleQueryNode {
			cpu += s.Processes[i].CPU.Seconds() / s.Requests
		}
	}
	s.Requests = qps * s.Took.Seconds()
	for i := range s.Processes {
		x := &s.Processes[i]
		x.CPU = scaled(x.CPU, qps/p.QPS)
		if x.Role == roleQueryNode {
			x.CPU = scaled(x.CPU, min(1, cores/qps/cpu))
		}
	}
	p.QPSLow, p.QPSHigh = p.QPSLow*qps/p.QPS, p.QPSHigh*qps/p.QPS // as far apart as in the recorded load
	p.Sessions, p.QPS, p.Latency.Mean, p.Served = sessions, qps, seconds(float64(sessions)/qps), &s
	k.Points = append(k.Points, p)
}

// TestRecordedRuns compares predictions with the performance of real clusters after the change
// (docs/evidence/replay.md): the predicted gain at each number of sessions is within 45% of the measured gain, and
// its range contains that gain.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	growingCost := func(s *replay.Segment) time.Duration {
		if s.State == replay.Growing {
			return 520 * time.Microsecond
		}
		return 80 * time.Microsecond
	}
	idle := func() *replay.Layout {
		// 48 segments without an index are on one node with a quarter of a core; two more nodes have no segments.
		var list []planned
		for i := range int64(48) {
			list = append(list, planned{100 + i, 2500, replay.Unindexed, 1, []string{"c0", "c1"}[i%2]})
		}
		l := layoutOf(3, map[string]int64{"c0": 1, "c1": 1}, list)
		limit(l, 1, 0.25)
		l.Nodes[1].ID, l.Nodes[2].ID, l.Replicas[0].Nodes = 8, 9, []int64{1, 8, 9}
		return l
	}
	for _, c := range []struct {
		name   string
		layout *replay.Layout
		cost   func(s *replay.Segment) time.Duration
		change Change
		cores  float64         // of the query nodes that have segments
		before map[int]float64 // queries per second, by sessions
		after  map[int]float64
	}{
		{
			"growing", growingLayout(2), growingCost,
			Change{Name: "index", Index: true},
			0.8,
			map[int]float64{1: 36.3, 4: 43.9, 8: 61.2},
			map[int]float64{1: 97.7, 4: 160, 8: 169},
		},
		{
			"idle", idle(), func(*replay.Segment) time.Duration { return 4 * time.Millisecond / 48 },
			Change{Name: "balance", Balanced: true},
			0.25,
			map[int]float64{1: 10.8, 4: 13.9, 8: 21.2},
			map[int]float64{1: 18.2, 4: 24.1, 8: 38.4},
		},
	} {
		k := recorded(t, c.name)
		addLoad(k, 4, c.before[4], c.cores)
		addLoad(k, 8, c.before[8], c.cores)
		base := newPriced(c.layout, nil, c.cost)
		changed, err := apply(c.layout, c.change)
		if err != nil {
			t.Fatal(err)
		}
		after := newPriced(c.layout, changed, c.cost)
		for n, qps := range c.before {
			x := &prediction{
				report: &Report{Load: Load{Sessions: n, NQ: 1, K: 10, Seed: 1}}, base: base, sample: base.sample,
				costs: &costs{},
			}
			x.Calibration, x.Progress = k, func(string) {}
			if err := x.calibrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if x.report.Check.Calibrated == "" {
				t.Fatalf("%s: not calibrated: %q", c.name, x.report.Notes)
			}
			if x.report.Base, err = x.predict(t.Context(), base, Change{}); err != nil {
				t.Fatal(err)
			}
			if x.before, err = x.rates(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			out, err := x.predict(t.Context(), after, c.change)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.gains(t.Context(), after, &out); err != nil {
				t.Fatal(err)
			}
			g, measured := out.AtLoad, c.after[n]/qps
			t.Logf("%s at %d sessions: gain %.2f, likely %.2f to %.2f; measured %.2f (%+.0f%%)", c.name, n, g.Gain,
				g.Low, g.High, measured, 100*(g.Gain/measured-1))
			if math.Abs(g.Gain/measured-1) > 0.45 || measured < g.Low || measured > g.High {
				t.Errorf("%s at %d sessions: gain %.2f, likely %.2f to %.2f; measured %.2f", c.name, n, g.Gain, g.Low,
					g.High, measured)
			}
		}
	}
}

// limit sets the ids of the nodes, from first on, and the cores of each.
func limit(l *replay.Layout, first int64, cores float64) {
	for i := range l.Nodes {
		l.Nodes[i].ID, l.Nodes[i].Cores = first+int64(i), cores
		l.Replicas[0].Nodes[i] = l.Nodes[i].ID
	}
}

// growingLayout has 30,000 indexed rows (HNSW) and 40,000 growing rows, in two shards on two nodes with 0.4 cores
// each.
func growingLayout(first int64) *replay.Layout {
	l := layoutOf(2, map[string]int64{"c0": first, "c1": first + 1}, []planned{
		{11, 15_000, replay.Indexed, first, "c0"},
		{12, 15_000, replay.Indexed, first, "c1"},
		{13, 20_000, replay.Growing, first, "c0"},
		{14, 20_000, replay.Growing, first + 1, "c1"},
	})
	limit(l, first, 0.4)
	l.ChunkRows = 128
	return l
}

func TestNoRequestCost(t *testing.T) {
	s := recorded(t, "idle").Points[0].Served
	limits := map[int64]float64{1: 1, 8: 1, 9: 1, 77: 1}
	if requestCostOf(s, limits, 2) != nil {
		t.Error("a node that reported nothing is in the account")
	}
	delete(limits, 77)
	if a := requestCostOf(s, limits, 2); a == nil || a.cpu < 0.015 || a.cpu > 0.03 {
		t.Errorf("account of all nodes: %+v", a)
	}
	none := *s
	none.Requests = 0
	if requestCostOf(&none, limits, 2) != nil || requestCostOf(nil, limits, 2) != nil {
		t.Error("an account of no requests")
	}
	s.Processes[0].Here = false // not all processes share one machine: only proxies count outside of query nodes
	if a := requestCostOf(s, limits, 2); a.cores != 2 || a.front <= 0 {
		t.Errorf("front %v on %v cores", a.front, a.cores)
	}
}
