//go:build unix

package why_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/why"
)

// The size of the measured cluster.
const (
	benchSegments = 200_000
	benchNodes    = 200
)

// BenchmarkWhy measures the work of kitescope why for 200 query nodes and 200,000 segments after all processes
// have responded. Each iteration gets a Runtime without cached groups. "why" is the whole work, "latency" the
// budgets alone. The processes have all metrics of a captured cluster, in two scrapes, for 50 collections.
func BenchmarkWhy(b *testing.B) {
	c := rulestest.WithMetrics(b, modeltest.ServedLarge(benchSegments, benchNodes))
	measure(b, "why", c, func(c *model.Cluster) {
		var judge check.Judge
		budgets := judge.Latency(c).Budgets
		if answers := why.Explain(budgets, judge.Run(c, modeltest.Now, rules.All())); len(answers) < 50 {
			b.Fatalf("%d answers", len(answers))
		}
	})
	measure(b, "latency", c, func(c *model.Cluster) {
		if l := latency.Compute(c); len(l.Budgets) < 50 || l.Window.SinceStart {
			b.Fatalf("%d budgets, %s", len(l.Budgets), l.Window.Why)
		}
	})
}

// measure reports the processor time of all goroutines, including garbage collection.
func measure(b *testing.B, name string, c *model.Cluster, run func(*model.Cluster)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var used time.Duration
		for b.Loop() {
			b.StopTimer()
			fresh := c.WithRuntime(model.BuildRuntime(c.Runtime.RuntimeParts)) // a Runtime caches its groups
			runtime.GC()
			start := processorTime()
			b.StartTimer()
			run(fresh)
			used += processorTime() - start
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
