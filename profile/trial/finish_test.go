package trial

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/bench"
)

// measuredRun returns a run with values by name. A name that starts with / is the name of a benchmark.
func measuredRun(number, pair int, side string, values map[string]float64) Measured {
	r := Measured{Number: number, Pair: pair, Side: side}
	for name, x := range values {
		m := bench.Metric{Name: name, Unit: "s"}
		if name[0] == '/' {
			m = bench.Metric{Benchmark: name, Name: "time/op", Unit: "s"}
		}
		r.Values = append(r.Values, bench.Value{Metric: m, Better: bench.LowerIsBetter, X: x})
	}
	return r
}

func namesOf(s *bench.Set) []string {
	var names []string
	for _, r := range s.Runs {
		for _, v := range r.Values {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestMetricsThatSomeRunsLackAreLeftOut(t *testing.T) {
	whole := map[string]float64{MetricCPU: 1, MetricRSS: 5, "/A": 1}
	fewer := map[string]float64{MetricCPU: 1, "/A": 1}
	failed := Measured{Number: 5, Pair: 3, Side: "a", Failed: "exit status 1"}
	tr := &trial{
		report: &Report{Runs: []Measured{measuredRun(2, 1, "b", whole), measuredRun(1, 1, "a", whole), failed}},
	}
	before, after, control := tr.sets()
	if d := cmp.Diff([]string{MetricCPU, MetricRSS, "time/op"}, sorted(namesOf(before))); d != "" {
		t.Error(d)
	}
	if len(before.Runs) != 2 || len(after.Runs) != 1 || control[0] != nil {
		t.Errorf("%d, %d, %v", len(before.Runs), len(after.Runs), control)
	}
	tr.report.Runs = append(tr.report.Runs, measuredRun(3, 2, "a", whole), measuredRun(4, 2, "b", fewer))
	before, after, _ = tr.sets()
	for _, s := range []*bench.Set{before, after} {
		if d := cmp.Diff([]string{MetricCPU, "time/op"}, sorted(namesOf(s))); d != "" {
			t.Error(d)
		}
	}
	if before.Runs[0].Pair != "1" || before.Runs[1].Pair != "2" {
		t.Errorf("not in the order of pairs: %+v", before.Runs)
	}
}

func sorted(names []string) []string { slices.Sort(names); return names }

// TestFixedDurationLoad checks that a program that serves more requests in the same time is not worse.
func TestFixedDurationLoad(t *testing.T) {
	rate := bench.Value{
		Metric: bench.Metric{Name: "requests per second", Unit: "1/s"}, Better: bench.HigherIsBetter, X: 50,
	}
	counted := bench.Value{Metric: bench.Metric{Name: "requests"}, Better: bench.Neither, X: 90}
	for _, x := range []struct {
		printed []bench.Value
		want    float64
	}{{nil, 0}, {[]bench.Value{rate}, 100}, {[]bench.Value{rate, counted}, 90}, {[]bench.Value{rate, rate}, 0}} {
		if got := requests(x.printed, 2*time.Second); got != x.want {
			t.Errorf("%g requests of %v, want %g", got, x.printed, x.want)
		}
	}
	values := map[string]float64{MetricCPU: 1, MetricCPUPerRequest: 0.1, MetricWall: 10}
	tr := &trial{report: &Report{Runs: []Measured{measuredRun(1, 1, "a", values), measuredRun(2, 1, "b", values)}}}
	before, after, _ := tr.sets()
	for _, s := range []*bench.Set{before, after} {
		s.Runs[0].Values = append(s.Runs[0].Values, rate)
		if d := cmp.Diff([]string{MetricCPUPerRequest, "requests per second", MetricWall}, sorted(namesOf(s))); d !=
			"" {
			t.Error(d)
		}
	}
	c, err := bench.Compare(before, after, bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"requests per second", MetricCPUPerRequest}, primary(c)); d != "" {
		t.Error(d)
	}
	// If some runs did not print the number of requests, CPU time is compared instead.
	tr.report.Runs = append(tr.report.Runs, measuredRun(3, 2, "a", values),
		measuredRun(4, 2, "b", map[string]float64{MetricCPU: 1, MetricWall: 10}))
	before, _, _ = tr.sets()
	if d := cmp.Diff([]string{MetricCPU, MetricWall}, sorted(namesOf(before))); d != "" {
		t.Error(d)
	}
}
