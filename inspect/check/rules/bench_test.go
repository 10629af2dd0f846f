package rules_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// Size of the benchmark cluster.
const (
	benchSegments = 200_000
	benchNodes    = 200
)

// BenchmarkRun runs all checks on 200,000 segments on 200 query nodes. The processes report all metrics of
// captured ones, in two scrapes. "first" is a cluster that was not checked before. In "again" one segment has
// changed since the last run, and in "asked" the processes were queried again. Time passes between runs.
// "alone" runs each check separately, including the shared facts that it needs.
func BenchmarkRun(b *testing.B) {
	c := rulestest.WithMetrics(b, modeltest.ServedLarge(benchSegments, benchNodes))
	b.Run("first", func(b *testing.B) {
		measure(b, func(int) func() {
			fresh := asked(c) // a Runtime caches its groupings
			return func() { check.Run(fresh, modeltest.Now, rules.All()) }
		})
	})
	b.Run("again", func(b *testing.B) {
		judge, now := new(check.Judge), modeltest.Now
		list := [2]*model.Cluster{c, c.WithRuntime(nil).Update(changed(c)).WithRuntime(c.Runtime)}
		judge.Run(list[1], now, rules.All())
		measure(b, func(i int) func() {
			now = now.Add(time.Second)
			return func() { judge.Run(list[i%2], now, rules.All()) }
		})
	})
	b.Run("asked", func(b *testing.B) {
		judge, now := new(check.Judge), modeltest.Now
		judge.Run(c, now, rules.All())
		measure(b, func(int) func() {
			now = now.Add(time.Second)
			fresh := asked(c)
			return func() { judge.Run(fresh, now, rules.All()) }
		})
	})
	for _, x := range rules.All() {
		b.Run("alone/"+x.ID, func(b *testing.B) {
			measure(b, func(int) func() {
				return func() { check.Run(c, modeltest.Now, []*check.Check{x}) }
			})
		})
	}
}

// measure times the function that prepare returns, without the preparation. The CPU time is that of all goroutines.
// The garbage of each round is collected within it.
func measure(b *testing.B, prepare func(round int) func()) {
	b.Helper()
	var used time.Duration
	rounds := 0
	for b.Loop() {
		b.StopTimer()
		run := prepare(rounds)
		runtime.GC()
		start := processorTime()
		b.StartTimer()
		run()
		used += processorTime() - start
		rounds++
	}
	if used > 0 {
		b.ReportMetric(float64(used.Microseconds())/1000/float64(rounds), "cpu-ms/op")
	}
}

// asked returns the cluster as if its processes were queried again and gave the same responses.
func asked(c *model.Cluster) *model.Cluster {
	return c.WithRuntime(model.BuildRuntime(c.Runtime.RuntimeParts))
}

// changed returns the parts of the cluster with one more row in one segment.
func changed(c *model.Cluster) model.Parts {
	p := c.Parts
	p.Loaded &^= model.PartRuntime
	p.Runtime = nil
	p.Segments = slices.Clone(p.Segments)
	s := *p.Segments[len(p.Segments)/2]
	s.Rows++
	p.Segments[len(p.Segments)/2] = &s
	return p
}

// TestBenchmarkIsFair checks that every check can run on the benchmark cluster, and that the cluster resembles one
// in use: it has a few problems, each at most a few times.
func TestBenchmarkIsFair(t *testing.T) {
	c := rulestest.WithMetrics(t, modeltest.ServedLarge(20_000, 40))
	r := check.Run(c, modeltest.Now, rules.All())
	for _, x := range r.Results {
		if x.Status == check.Skipped && len(x.Unseen) == 0 || x.Status == check.Broken {
			t.Errorf("%s: %s: %s", x.Check.ID, x.Status, x.Reason)
		}
		if len(x.Findings) > 5 {
			t.Errorf("%s: %d findings: %s", x.Check.ID, len(x.Findings), x.Findings[0].Message)
		}
	}
	found := make(map[string]bool)
	for _, f := range r.Findings {
		found[f.Check] = true
	}
	for _, id := range []string{
		"node-unreachable", "node-idle", "growing-flushed", "index-not-loaded", "index-failed", "delete-heavy",
		"config-drift", "orphan-records", "small-segments",
	} {
		if !found[id] {
			t.Errorf("%s found nothing", id)
		}
	}
}
