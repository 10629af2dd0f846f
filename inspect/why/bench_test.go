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

// Of the cluster that speed is measured on.
const (
	benchSegments = 200_000
	benchNodes    = 200
)

// BenchmarkWhy answers for 200 processes and 200,000 segments whose answers are there, as kitescope why does, each time of a cluster
// that nobody has looked at: "why" is all of it, "latency" the budgets alone. The processes tell all that those of a captured cluster did,
// twice, and of 50 collections.
func BenchmarkWhy(b *testing.B) {
	c := rulestest.Measured(b, modeltest.ServedLarge(benchSegments, benchNodes))
	measure(b, "why", c, func(c *model.Cluster) {
		var judge check.Judge
		budgets := judge.Latency(c).Budgets
		if answers := why.Of(budgets, judge.Run(c, modeltest.Now, rules.All())); len(answers) < 50 {
			b.Fatalf("%d answers", len(answers))
		}
	})
	measure(b, "latency", c, func(c *model.Cluster) {
		if l := latency.Of(c); len(l.Budgets) < 50 || l.Window.SinceStart {
			b.Fatalf("%d budgets, %s", len(l.Budgets), l.Window.Why)
		}
	})
}

// measure reports the processor time of all goroutines, the collection of their garbage among it.
func measure(b *testing.B, name string, c *model.Cluster, run func(*model.Cluster)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var used time.Duration
		for b.Loop() {
			b.StopTimer()
			fresh := c.WithRuntime(model.BuildRuntime(c.Runtime.RuntimeParts)) // a Runtime remembers what it has grouped
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
