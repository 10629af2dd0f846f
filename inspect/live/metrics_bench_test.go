//go:build unix

package live_test

import (
	"bytes"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// cpu returns the CPU time of this process, including the garbage collector.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// textOf130 returns a text of 130 families, from several roles, as from a process with its own id.
func textOf130(b *testing.B, captured [][]byte, id int) []byte {
	b.Helper()
	const families = 130
	var text bytes.Buffer
	had := map[string]bool{}
	for _, t := range captured {
		keep := false
		for line := range bytes.Lines(t) {
			if fields := bytes.Fields(line); string(fields[0]) == "#" && string(fields[1]) == "HELP" {
				name := string(fields[2])
				keep = !had[name] && len(had) < families
				if keep {
					had[name] = true
				}
			}
			if keep {
				text.Write(line)
			}
		}
	}
	if len(had) != families {
		b.Fatalf("%d families", len(had))
	}
	return bytes.ReplaceAll(text.Bytes(), []byte(`node_id="13"`), fmt.Appendf(nil, `node_id="%d"`, 1000+id))
}

// BenchmarkMetrics200 parses the metrics of 200 processes, 130 families each with all buckets, into a Runtime
// of two scrapes, and the same with Prometheus's parser. It reports the CPU time of both, and the retained
// memory of the first.
func BenchmarkMetrics200(b *testing.B) {
	const processes = 200
	captured := capturedTexts(b)
	texts, size := make([][]byte, processes), 0
	for i := range texts {
		texts[i] = textOf130(b, captured[len(captured)-11:], i)
		size += len(texts[i])
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var ours, theirs time.Duration
	var kept uint64
	for b.Loop() {
		before, start := held(), cpu()
		d := live.NewDecoder()
		for i, text := range texts {
			d.Add(live.Record{
				Role: "querynode", Node: model.NodeID(1000 + i), Address: fmt.Sprintf("10.0.0.%d:9091", i),
				Method:  "GET /metrics",
				Outcome: "answered", Response: text,
			})
		}
		r := d.Runtime("bench", "")
		ours += cpu() - start
		kept = held() - before
		if len(r.Processes) != processes || len(r.Processes[7].Metrics.Families) < 120 {
			b.Fatalf("%d processes, %d families", len(r.Processes), len(r.Processes[7].Metrics.Families))
		}
		runtime.KeepAlive(r)
		start = cpu()
		for _, text := range texts {
			parser := expfmt.NewTextParser(prometheus.UTF8Validation)
			if _, err := parser.TextToMetricFamilies(bytes.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
		theirs += cpu() - start
	}
	n := float64(b.N)
	b.ReportMetric(ours.Seconds()*1000/n, "ms-cpu")
	b.ReportMetric(theirs.Seconds()*1000/n, "ms-cpu-expfmt")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-expfmt")
	b.ReportMetric(float64(kept)/1e6, "MB-kept")
	b.ReportMetric(float64(size)/1e6, "MB-text")
}
