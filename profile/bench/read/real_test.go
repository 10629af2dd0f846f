package read

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/profile/bench"
)

// TestRealOutput holds what readers make of what programs printed (testdata/bench/README.md) against the figures that stand there.
func TestRealOutput(t *testing.T) {
	for name, v := range map[string]struct {
		format string
		runs   int
		want   map[string]float64 // of the last run, by the name of the metric with its unit
		note   string
	}{
		"ab.txt": {"ab", 1, map[string]float64{
			"time taken, 4 clients s": 0.181, "requests, 4 clients ": 2000, "failed requests, 4 clients ": 0, "non-2xx responses, 4 clients ": 0,
			"requests per second, 4 clients 1/s": 11072.60, "mean latency, 4 clients s": 0.000361, "transfer rate, 4 clients B/s": 6801.43 * 1024,
			"p50 latency, 4 clients s": 0, "p99 latency, 4 clients s": 0.002, "max latency, 4 clients s": 0.004,
		}, ""},
		"ab-404.txt": {"ab", 1, map[string]float64{"non-2xx responses, 2 clients ": 200, "requests per second, 2 clients 1/s": 19284.54}, "answers were errors"},
		"wrk.txt": {"wrk", 1, map[string]float64{
			"requests per second, 4 clients 1/s": 24110.17, "mean latency, 4 clients s": 0.0041, "max latency, 4 clients s": 0.08564,
			"p50 latency, 4 clients s": 0.000074, "p99 latency, 4 clients s": 0.07018, "requests, 4 clients ": 24142,
			"transfer rate, 4 clients B/s": 14.46 * (1 << 20), "non-2xx responses, 4 clients ": 0, "socket errors, 4 clients ": 0,
		}, ""},
		"wrk-404.txt": {"wrk", 1, map[string]float64{"non-2xx responses, 2 clients ": 22020, "requests per second, 2 clients 1/s": 21962.41}, "answers were errors"},
		"hey.txt": {"hey", 1, map[string]float64{
			"time taken s": 0.0609, "max latency s": 0.0044, "min latency s": 0, "mean latency s": 0.0002, "requests per second 1/s": 16427.9297,
			"p50 latency s": 0.0001, "p95 latency s": 0.001, "p99 latency s": 0.0033, "failed requests ": 0, "non-2xx responses ": 0,
		}, ""},
		"hey-404.txt":     {"hey", 1, map[string]float64{"non-2xx responses ": 200, "failed requests ": 0, "requests per second 1/s": 19682.9316}, "answers were errors"},
		"hey.csv":         {"hey csv", 1, map[string]float64{"requests ": 30, "non-2xx responses ": 0, "max latency s": 0.0008}, ""},
		"hyperfine.json":  {"hyperfine", 8, map[string]float64{"time s": 0.000512965}, ""},
		"hyperfine.md":    {"markdown table", 1, map[string]float64{"true: Mean s": 0.0007, "ls /usr/bin: Mean s": 0.0065, "ls /usr/bin: Max s": 0.0086}, ""},
		"vmstat-wide.txt": {"vmstat", 1, map[string]float64{"cpu %": 92, "cpu user %": 77.5, "context switches per second 1/s": 5891}, ""},
		"perf-stat.txt": {"perf stat", 1, map[string]float64{
			"cpu time s": 0.02784, "context switches ": 482, "page-faults ": 406, "elapsed s": 0.059054193, "user time s": 0.004047, "system time s": 0.024283,
		}, ""},
		"perf-stat.csv":   {"perf stat", 1, map[string]float64{"cpu time s": 0.00044, "context switches ": 0}, ""},
		"perf-stat.jsonl": {"perf stat", 1, map[string]float64{"cpu time s": 0.000417602, "context switches ": 0}, ""},
		"perf-stat-r.txt": {"perf stat", 1, map[string]float64{"cpu time s": 0.0004, "page-faults ": 50, "elapsed s": 0.0007305}, "means over 3 runs, one value"},
		"go-bench.txt": {"go benchmark", 2, map[string]float64{
			"BenchmarkJSON-2: time/op s": 1.294e-6, "BenchmarkJSON-2: alloc/op B": 400, "BenchmarkRepeat-2: speed B/s": 504.66e6,
			"BenchmarkSub/large-2: p99 s": 0.0035, "BenchmarkSub/large-2: queries/s 1/s": 4514075,
		}, ""},
		"go-bench.jsonl": {"go benchmark", 2, map[string]float64{"BenchmarkJSON-2: time/op s": 523.6e-9, "BenchmarkRepeat-2: speed B/s": 1121.34e6}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, name)
			if s.Format != v.format || len(s.Runs) != v.runs {
				t.Fatalf("format %q with %d runs, want %q with %d", s.Format, len(s.Runs), v.format, v.runs)
			}
			got := map[string]float64{}
			for _, x := range s.Runs[len(s.Runs)-1].Values {
				got[x.String()+" "+x.Unit] = x.X
			}
			for metric, want := range v.want {
				if x, ok := got[metric]; !ok || decimal(x) != decimal(want) {
					t.Errorf("%s is %v (%v), the program printed %v", metric, x, ok, want)
				}
			}
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, v.note) || v.note == "" && notes != "" {
				t.Errorf("notes %q, want %q", notes, v.note)
			}
		})
	}
}

// opened is the first side of a file.
func opened(t *testing.T, name string) *bench.Set {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, "formats", name))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := From(context.Background(), name, strings.NewReader(string(data)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sets[0]
}

// TestNoAnswerIsNoResult: hey prints a rate and times of 0 though nothing answered.
func TestNoAnswerIsNoResult(t *testing.T) {
	s := opened(t, "hey-refused.txt")
	want := bench.Run{Name: "1", Failed: "all of its 200 requests failed"}
	if len(s.Runs) != 1 || s.Runs[0].Failed != want.Failed || len(s.Runs[0].Values) > 0 {
		t.Errorf("got %+v, want %+v", s.Runs, want)
	}
}

// TestErrorsThatBeginAreSeen: a count that is only printed if there is something to count is 0 on the side without it.
func TestErrorsThatBeginAreSeen(t *testing.T) {
	for _, name := range []string{"ab", "wrk", "hey"} {
		before, after := opened(t, name+".txt"), opened(t, name+"-404.txt")
		has := func(s *bench.Set, x func(float64) bool) bool {
			return slices.ContainsFunc(s.Runs[0].Values, func(v bench.Value) bool { return v.Name == badAnswers && x(v.X) })
		}
		if !has(before, func(x float64) bool { return x == 0 }) || !has(after, func(x float64) bool { return x > 0 }) {
			t.Errorf("%s: errors cannot be compared:\n%s", name, show([]*bench.Set{before, after}))
		}
	}
}

// TestShortRunsOfApacheBench: ab prints three digits of 0.272 s. That it is the same figure as three others can be told by what each was rounded to.
func TestShortRunsOfApacheBench(t *testing.T) {
	before, after := opened(t, "ab-short-before.txt"), opened(t, "ab-short-after.txt")
	if len(before.Runs) != 8 || len(after.Runs) != 8 {
		t.Fatalf("%d and %d runs", len(before.Runs), len(after.Runs))
	}
	c, err := bench.Compare(before, after, bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "one figure under 4 names, corrected once: time taken, 4 clients") {
		t.Errorf("%s", notes)
	}
}
