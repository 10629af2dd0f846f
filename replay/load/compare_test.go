package load_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/replay/load"
)

// measured returns a point with rounds of the given QPS.
func measured(sessions, ef int, recall float64, qps ...float64) load.Point {
	p := load.Point{Plan: load.Plan{Sessions: sessions}, EF: ef, Recall: recall, Open: sessions}
	for _, q := range qps {
		l := load.Latency{Count: 10, P50: time.Duration(1e9 / q), P99: 20 * time.Millisecond}
		p.Repeats = append(p.Repeats, load.Round{QPS: q, Queries: int64(q), CPU: time.Second, Latency: l})
		p.Latency = l
	}
	p.QPS, p.QPSLow, p.QPSHigh = load.MeanInterval(qps)
	p.CPUPerQuery = time.Duration(1e9 / p.QPS)
	return p
}

// verdicts returns the verdicts of a change by figure.
func verdicts(c *load.Change) map[string]load.Verdict {
	all := map[string]load.Verdict{}
	for _, f := range c.Figures {
		all[f.Name] = f.Verdict
	}
	return all
}

func TestCompare(t *testing.T) {
	faster := measured(8, 64, 0.95, 200, 204, 202, 206, 208, 210)
	slower := measured(8, 64, 0.95, 100, 102, 101, 103, 104, 105)
	noisy := measured(8, 64, 0.95, 99, 103.5, 100.5, 104.5, 101.5, 102.5)
	few := measured(8, 64, 0.9, 200, 201, 202)
	sharp := slower
	sharp.RecallLow, sharp.RecallHigh = 0.94, 0.96
	blunt := slower
	blunt.Recall, blunt.RecallLow, blunt.RecallHigh = 0.9, 0.88, 0.92
	unknown := slower
	unknown.Recall, unknown.CPUPerQuery = -1, 0
	set := func(qps, p50, p99, recall, cpu load.Verdict) map[string]load.Verdict {
		return map[string]load.Verdict{"qps": qps, "p50": p50, "p99": p99, "recall": recall, "cpu_per_query": cpu}
	}
	for name, c := range map[string]struct {
		base, other load.Point
		want        map[string]load.Verdict
	}{
		"faster":  {slower, faster, set(load.Better, load.Better, load.Same, load.Same, load.Better)},
		"slower":  {faster, slower, set(load.Worse, load.Worse, load.Same, load.Same, load.Worse)},
		"noise":   {slower, noisy, set(load.Same, load.Same, load.Same, load.Same, load.Same)},
		"few":     {slower, few, set(load.Better, load.Better, load.Same, load.Unknown, load.Better)}, // 6 + 3 suffice
		"too few": {few, few, set(load.TooFew, load.TooFew, load.TooFew, load.Same, load.TooFew)},
		"recall":  {sharp, blunt, set(load.Same, load.Same, load.Same, load.Worse, load.Same)},
		"unknown": {slower, unknown, set(load.Same, load.Same, load.Same, load.Unknown, load.Unknown)},
	} {
		all := load.Compare([]load.Point{c.base}, []load.Point{c.other})
		if len(all) != 1 {
			t.Fatalf("%s: %d changes", name, len(all))
		}
		if diff := cmp.Diff(c.want, verdicts(&all[0])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	f := load.Compare([]load.Point{slower}, []load.Point{faster})[0].Figures[0]
	if math.Abs(f.Relative-1) > 1e-9 || f.Low > 1 || f.High < 1 || f.Low < 0.9 || f.High > 1.1 || !(f.P < 0.05) {
		t.Errorf("twice the QPS: %+v", f)
	}
}

// TestTooFewRounds checks that five rounds a side suffice for one point, but not for seven: one
// of seven points reaches their smallest p-value by chance.
func TestTooFewRounds(t *testing.T) {
	side := func(points int, shift float64) (all []load.Point) {
		for i := range points {
			by := 0.0
			if i == 0 {
				by = shift
			}
			all = append(all, measured(i+1, 0, -1, 100+by, 101+by, 102+by, 103+by, 104+by))
		}
		return all
	}
	for points, want := range map[int]load.Verdict{1: load.Better, 7: load.TooFew} {
		if got := verdicts(&load.Compare(side(points, 0), side(points, 50))[0])["qps"]; got != want {
			t.Errorf("%d points: %s, not %s", points, got, want)
		}
	}
}

func TestCompareMatchesByLoad(t *testing.T) {
	base := []load.Point{measured(1, 16, -1, 100), measured(2, 16, -1, 150), measured(1, 64, -1, 70)}
	other := []load.Point{
		measured(1, 64, -1, 80), measured(4, 16, -1, 170), measured(1, 16, -1, 90), measured(1, 16, -1, 1),
	}
	var got []string
	for _, c := range load.Compare(base, other) {
		s := fmt.Sprintf("%d/%d", c.Load.Sessions, c.Load.EF)
		if c.Base != nil {
			s += fmt.Sprintf(" base %.0f", c.Base.QPS)
		}
		if c.Other != nil {
			s += fmt.Sprintf(" other %.0f", c.Other.QPS)
		}
		got = append(got, fmt.Sprintf("%s %d", s, len(c.Figures)))
	}
	want := []string{"1/16 base 100 other 90 5", "2/16 base 150 0", "1/64 base 70 other 80 5", "4/16 other 170 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCompareOfNoise checks that comparisons of runs without a change find hardly any change, regardless of the
// number of figures.
func TestCompareOfNoise(t *testing.T) {
	found := 0
	for seed := range 40 {
		values := spreads(2*8*6, uint64(seed))
		sides := [2][]load.Point{}
		for s := range sides {
			for i := range 8 {
				var qps []float64
				for j := range 6 {
					qps = append(qps, 100+math.Log(float64(values[(s*8+i)*6+j])))
				}
				sides[s] = append(sides[s], measured(i+1, 0, -1, qps...))
			}
		}
		for _, c := range load.Compare(sides[0], sides[1]) {
			if v := verdicts(&c)["qps"]; v != load.Same {
				found++
			}
		}
	}
	if found > 6 { // 2 are expected
		t.Errorf("%d changes of 320 in noise", found)
	}
}

func TestMeanInterval(t *testing.T) {
	// Student's t is 2.776 for 4 degrees of freedom, and 12.706 for 1.
	for _, c := range []struct {
		values          []float64
		mean, low, high float64
	}{
		{nil, 0, 0, 0},
		{[]float64{7}, 7, 0, 0},
		{[]float64{1, 3}, 2, 2 - 12.7062, 2 + 12.7062},
		{[]float64{1, 2, 3, 4, 5}, 3, 3 - 2.77645*math.Sqrt(0.5), 3 + 2.77645*math.Sqrt(0.5)},
		{[]float64{4, 4, 4}, 4, 4, 4},
	} {
		mean, low, high := load.MeanInterval(c.values)
		if math.Abs(mean-c.mean) > 1e-3 || math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%v: %v, %v to %v", c.values, mean, low, high)
		}
	}
}

// TestFront covers ties: equal recall with less QPS, equal QPS with less recall, and both equal.
func TestFront(t *testing.T) {
	points := []load.Point{
		measured(1, 16, 0.8, 1000), measured(1, 32, 0.9, 700), measured(1, 48, 0.9, 650), measured(1, 64, 0.95, 700),
		measured(1, 128, 0.99, 300), measured(1, 8, -1, 5000), measured(1, 256, 0.98, 200), measured(1, 129, 0.99, 300),
		{Recall: 1},
		measured(1, 130, math.NaN(), 9000), measured(1, 131, 1, math.NaN()), measured(1, 132, 1, math.Inf(1)),
	}
	var got, marked []int
	for _, p := range load.Front(points) {
		got = append(got, p.EF)
	}
	if diff := cmp.Diff([]int{16, 64, 128, 129}, got); diff != "" {
		t.Error(diff)
	}
	for i, on := range load.OnFront(points) {
		if on {
			marked = append(marked, points[i].EF)
		}
	}
	if diff := cmp.Diff(got, marked); diff != "" {
		t.Error(diff)
	}
}
