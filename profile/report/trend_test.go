package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kitescope/profile"
)

// record makes profiles of one node, ten minutes apart, with the shares that share tells of each point.
func record(t *testing.T, r *rand.Rand, points, samples int, share func(point int) map[string]float64) []*profile.Profile {
	t.Helper()
	var ps []*profile.Profile
	for i := range points {
		counts := map[string]int{}
		for range samples {
			at, name := r.Float64(), "rest"
			for _, f := range slices.Sorted(mapKeys(share(i))) {
				if at -= share(i)[f]; at < 0 {
					name = f
					break
				}
			}
			counts[name]++
		}
		var list []string
		for name, n := range counts {
			list = append(list, fmt.Sprintf("%s;main %d", name, n))
		}
		p := *stacks(t, list...)
		p.Time, p.Duration = time.Date(2026, 11, 20, 8, 10*i, 0, 0, time.UTC), 10*time.Second
		p.Origin.Node = "querynode-7"
		ps = append(ps, &p)
	}
	return ps
}

func mapKeys(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func trendOf(t *testing.T, ps []*profile.Profile) NodeTrend {
	t.Helper()
	trend, err := NewTrend(ps, TrendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(trend.Nodes) != 1 {
		t.Fatalf("%d nodes", len(trend.Nodes))
	}
	return trend.Nodes[0]
}

func TestTrend(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	ps := record(t, r, 12, 1000, func(i int) map[string]float64 {
		return map[string]float64{"leak": 0.02 + 0.01*float64(i), "steady": 0.3, "rare": 0.002}
	})
	slices.Reverse(ps) // the order of files is not that of time
	n := trendOf(t, ps)
	if !n.Timed || len(n.Points) != 12 || !n.Points[0].Time.Before(n.Points[11].Time) {
		t.Fatalf("timed %v, %d points", n.Timed, len(n.Points))
	}
	top := n.Movers[0]
	if got := fmt.Sprintf("%s %s", top.Function, top.Verdict); got != "leak more" && got != "rest less" {
		t.Errorf("first is %s", got)
	}
	for _, m := range n.Movers {
		want := map[string]Verdict{"leak": More, "rest": Less}[m.Function]
		if want == 0 {
			want = Noise
		}
		if m.Verdict != want {
			t.Errorf("%s: %s, p %v", m.Function, m.Verdict, m.P)
		}
		// A percent every ten minutes: six an hour, eleven over the whole record.
		if m.Function == "leak" && (math.Abs(m.Slope-0.06) > 0.01 || math.Abs(m.Change-0.11) > 0.02) {
			t.Errorf("slope %v, change %v", m.Slope, m.Change)
		}
	}
}

// TestTrendOfScatter: a share that jumps about more than sampling explains, as loads do, has no trend.
func TestTrendOfScatter(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	alarms := 0
	for range 50 {
		n := trendOf(t, record(t, r, 8, 1000, func(i int) map[string]float64 {
			level := rand.New(rand.NewPCG(uint64(i), r.Uint64())).Float64()
			return map[string]float64{"bursts": 0.1 + 0.3*level}
		}))
		for _, m := range n.Movers {
			if m.Verdict != Noise {
				alarms++
			}
		}
	}
	if alarms > 4 {
		t.Errorf("%d alarms in 50 records", alarms)
	}
}

func TestTrendOfFew(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	two := trendOf(t, record(t, r, 2, 1000, func(i int) map[string]float64 { return map[string]float64{"a": 0.1 + 0.2*float64(i)} }))
	if m := two.Movers[0]; m.Verdict == Noise || m.Verdict == Undecided {
		t.Errorf("two profiles: %+v", m)
	}
	one := trendOf(t, record(t, r, 1, 100, func(int) map[string]float64 { return map[string]float64{"a": 0.5} }))
	for _, m := range one.Movers {
		if m.Verdict != Undecided || !math.IsNaN(m.Slope) {
			t.Errorf("one profile: %+v", m)
		}
	}
	// Profiles without times are followed in the order in which they are given.
	ps := record(t, r, 6, 1000, func(i int) map[string]float64 { return map[string]float64{"a": 0.1 + 0.05*float64(i)} })
	for _, p := range ps {
		p.Time = time.Time{}
	}
	if n := trendOf(t, ps); n.Timed || math.Abs(n.Movers[0].Slope) < 0.04 {
		t.Errorf("timed %v, slope %v", n.Timed, n.Movers[0].Slope)
	}
	if n, err := NewTrend(nil, TrendOptions{}); err != nil || len(n.Nodes) > 0 {
		t.Errorf("of nothing: %+v, %v", n, err)
	}
}

// TestTrendOfHeap: of heaps the events are unknown, so that nothing is called significant.
func TestTrendOfHeap(t *testing.T) {
	p := load(t, "milvus-heap.pb.gz")
	n := trendOf(t, []*profile.Profile{p, p, p})
	if len(n.Movers) == 0 {
		t.Fatal("no movers")
	}
	for _, m := range n.Movers {
		if m.Verdict != Undecided {
			t.Fatalf("%+v", m)
		}
	}
}

// TestTrendOfMilvus: of the same query node in three states, system calls came to take more of the time.
func TestTrendOfMilvus(t *testing.T) {
	n := trendOf(t, []*profile.Profile{
		load(t, "t7/querynode1.cpu.pb.gz"), load(t, "t3/querynode1.cpu.pb.gz"), load(t, "t5/querynode1.cpu.pb.gz"),
	})
	top := n.Movers[0]
	if top.Function != "syscall" || top.Verdict != More || fmt.Sprintf("%.1f %.1f", 100*top.Parts[0].Part, 100*top.Parts[2].Part) != "7.9 19.4" {
		t.Errorf("%s %s, p %v: %+v", top.Function, top.Verdict, top.P, top.Parts)
	}
	told := 0
	for _, m := range n.Movers {
		if m.Verdict != Noise {
			told++
		}
	}
	if told > 3 {
		t.Errorf("%d of %d functions are said to move", told, len(n.Movers))
	}
}

// TestTrendOfNodes: each node is followed by itself.
func TestTrendOfNodes(t *testing.T) {
	n, err := NewTrend(append(cluster(t, "t3"), cluster(t, "t5")...), TrendOptions{Options: Options{By: profile.ByClass, SortCum: true}})
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Nodes) != 10 || n.Nodes[9].Node != "rootcoord" || len(n.Nodes[0].Points) != 2 {
		t.Errorf("%d nodes", len(n.Nodes))
	}
}
