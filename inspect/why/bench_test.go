//go:build unix

package why_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/latency"
	"kitescope/inspect/live"
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
	c := told(b, modeltest.ServedLarge(benchSegments, benchNodes))
	measure(b, "why", c, func(c *model.Cluster) {
		var judge check.Judge
		budgets := judge.Latency(c).Budgets
		if answers := why.Of(budgets, judge.Run(c, modeltest.Now, why.Explaining(rules.All()))); len(answers) < 50 {
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

// told gives each query node and proxy the metrics of a captured one beside its own, and half of them in the scrape before.
func told(b *testing.B, c *model.Cluster) *model.Cluster {
	b.Helper()
	captured := map[string]*model.Metrics{}
	for _, name := range []string{"proxy", "querynode1", "querynode2", "querynode3"} {
		captured[name] = capturedMetrics(b, name)
	}
	for i, n := range c.Runtime.Nodes {
		name := n.Role
		if n.Role == "querynode" {
			name = fmt.Sprintf("querynode%d", 1+i%3)
		}
		if m := captured[name]; m != nil && n.Process != nil && n.Process.Metrics != nil {
			n.Process.Metrics, n.Process.Before = beside(n.Process.Metrics, m, 1), beside(n.Process.Before, m, 0.5)
		}
	}
	return c
}

// beside is a scrape with the histograms of another that it has not, so much of them.
func beside(own, other *model.Metrics, part float64) *model.Metrics {
	m := &model.Metrics{At: own.At, Families: map[string]*model.Family{}}
	maps.Copy(m.Families, own.Families)
	for name, f := range other.Families {
		if f.Kind != model.MetricHistogram || own.Families[name] != nil && strings.HasPrefix(name, "milvus_proxy_collection_") {
			continue
		}
		less := *f
		less.Series = nil
		for _, s := range f.Series {
			s.Value, s.Count = s.Value*part, s.Count*part
			buckets := make([]float64, len(s.Buckets))
			for i, v := range s.Buckets {
				buckets[i] = v * part
			}
			if s.Buckets != nil {
				s.Buckets = buckets
			}
			less.Series = append(less.Series, s)
		}
		m.Families[name] = &less
	}
	return m
}

func capturedMetrics(b *testing.B, name string) *model.Metrics {
	b.Helper()
	packed, err := os.ReadFile(filepath.Join("../../testdata/snapshots/cluster-2.3.5-t3/metrics", name+".txt.gz"))
	if err != nil {
		b.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	d := live.NewDecoder()
	d.Add(live.Record{Role: strings.TrimRight(name, "123"), Address: "10.0.0.1:9091", Method: "GET /metrics", Outcome: "answered", Response: text})
	processes := d.Runtime("recording", "").Processes
	if len(processes) != 1 || processes[0].Metrics == nil {
		b.Fatalf("%s: no metrics", name)
	}
	return processes[0].Metrics
}
