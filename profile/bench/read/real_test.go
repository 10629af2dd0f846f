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

// TestRealOutput checks real output of programs (testdata/bench/README.md) against the figures in it.
func TestRealOutput(t *testing.T) {
	for name, v := range map[string]struct {
		format string
		runs   int
		want   map[string]float64 // of the last run, by the name of the metric with its unit
		note   string
	}{
		"ab.txt": {"ab", 1, map[string]float64{
			"/: time taken, 4 clients s": 0.181, "/: requests, 4 clients ": 2000, "/: failed requests, 4 clients ": 0,
			"/: non-2xx responses, 4 clients ":      0,
			"/: requests per second, 4 clients 1/s": 11072.60, "/: mean latency, 4 clients s": 0.000361,
			"/: transfer rate, 4 clients B/s": 6801.43 * 1024,
			"/: p50 latency, 4 clients s":     0, "/: p99 latency, 4 clients s": 0.002,
			"/: max latency, 4 clients s": 0.004,
		}, ""},
		"ab-404.txt": {
			"ab", 1,
			map[string]float64{
				"/404: non-2xx responses, 2 clients ": 200, "/404: requests per second, 2 clients 1/s": 19284.54,
			},
			"responses were errors",
		},
		"hyperfine.json": {"hyperfine", 8, map[string]float64{"time s": 0.000512965}, ""},
		"vmstat-wide.txt": {
			"vmstat", 1,
			map[string]float64{"cpu %": 92, "cpu user %": 77.5, "context switches per second 1/s": 5891},
			"",
		},
		"go-bench.txt": {"go benchmark", 2, map[string]float64{
			"BenchmarkJSON-2: time/op s": 1.294e-6, "BenchmarkJSON-2: alloc/op B": 400,
			"BenchmarkRepeat-2: speed B/s": 504.66e6,
			"BenchmarkSub/large-2: p99 s":  0.0035, "BenchmarkSub/large-2: queries/s 1/s": 4514075,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSide(t, name)
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

// openSide returns the first side of a file.
func openSide(t *testing.T, name string) *bench.Set {
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

// TestMissingCountIsZero checks that a count that is printed only if not 0 is read as 0 on the side without
// it.
func TestMissingCountIsZero(t *testing.T) {
	for _, name := range []string{"ab"} {
		before, after := openSide(t, name+".txt"), openSide(t, name+"-404.txt")
		has := func(s *bench.Set, x func(float64) bool) bool {
			return slices.ContainsFunc(s.Runs[0].Values, func(v bench.Value) bool {
				return v.Name == errorResponses && x(v.X)
			})
		}
		if !has(before, func(x float64) bool { return x == 0 }) || !has(after, func(x float64) bool { return x > 0 }) {
			t.Errorf("%s: errors cannot be compared:\n%s", name, show([]*bench.Set{before, after}))
		}
	}
}
