package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// folder writes files to a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func ab(rate, requests int) string {
	return fmt.Sprintf("Concurrency Level:      4\nTime taken for tests:   10 seconds\nComplete requests:      %d\n"+
		"Requests per second:    %d.00 [#/sec] (mean)\n", requests, rate)
}

const vmstatRun = `procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 9  9      0      1      1      1    0    0     0     0    0 9999 90  9  1  0  0
 1  0      0      1      1      1    0    0     0     0  500 3000 20 10 70  0  0
 1  0      0      1      1      1    0    0     0     0  500 5000 30 20 50  0  0
`

// TestFilesOfOneRunAreJoined checks values per query: 1000 requests/s with (30+50)/2% of the machine and 4000
// switches/s are 0.04%·s and 4 switches per query.
func TestFilesOfOneRunAreJoined(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		runs  int
		want  map[string]float64 // of the first run
	}{
		{
			"by folder",
			map[string]string{
				"r1/load.txt": ab(1000, 10000), "r1/vm.txt": vmstatRun, "r2/load.txt": ab(1100, 11000),
				"r2/vm.txt": vmstatRun,
			},
			2,
			map[string]float64{
				"cpu per query %·s": 0.04, "context switches per query ": 4, "cpu %": 40,
			},
		},
		{
			"by name",
			map[string]string{
				"ab-1.txt": ab(1000, 10000), "vmstat.1.txt": vmstatRun, "ab-2.txt": ab(900, 9000),
				"vmstat.2.txt": vmstatRun,
			},
			2,
			map[string]float64{
				"context switches per query ": 4,
			},
		},
		{
			"one run alone",
			map[string]string{"ab.txt": ab(1000, 10000), "vmstat.txt": vmstatRun},
			1,
			map[string]float64{"context switches per query ": 4},
		},
		{
			"one run of another name",
			map[string]string{"qps.csv": "qps,p99_ms\n1000,5\n", "vmstat.txt": vmstatRun},
			1,
			map[string]float64{"context switches per query ": 4},
		},
		{
			"observed alone",
			map[string]string{"a/vmstat.txt": vmstatRun, "b/vmstat.txt": vmstatRun},
			2,
			map[string]float64{"context switches per second 1/s": 4000},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sets, err := Open(context.Background(), []string{folder(t, tt.files)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(sets) != 1 || len(sets[0].Runs) != tt.runs {
				t.Fatalf("want %d runs, got\n%s", tt.runs, show(sets))
			}
			got := map[string]float64{}
			for _, v := range sets[0].Runs[0].Values {
				got[v.Name+" "+v.Unit] = v.X
			}
			for name, x := range tt.want {
				if got[name] != x {
					t.Errorf("%s is %v, want %v; all:\n%s", name, got[name], x, show(sets))
				}
			}
		})
	}
}

func TestObservationOfSeveralRuns(t *testing.T) {
	dir := folder(t, map[string]string{"r/ab.txt": ab(1000, 10000) + ab(1000, 10000), "r/vmstat.txt": vmstatRun})
	sets, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := show(sets)
	if strings.Contains(text, "per query") || !strings.Contains(text, "cover 2 runs together") {
		t.Errorf("what was observed during two runs belongs to neither:\n%s", text)
	}
}

func TestFolderOfRuns(t *testing.T) {
	dir := folder(t, map[string]string{
		"run10.txt": ab(1000, 1), "run2.txt": ab(1100, 1), "run1.txt": ab(900, 1),
		"README.md": "# Runs\nnothing here\n", ".hidden": "x",
	})
	sets, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range sets[0].Runs {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"run1", "run2", "run10"}, names); diff != "" {
		t.Errorf("runs: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"skipped files that are not results (1 of 4): README.md"}, sets[0].Notes); diff != "" {
		t.Errorf("notes: -want +got:\n%s", diff)
	}
	several, err := Open(context.Background(), []string{filepath.Join(dir, "run1.txt"), filepath.Join(dir, "run2.txt")},
		Options{})
	if err != nil || len(several) != 1 || len(several[0].Runs) != 2 {
		t.Errorf("two files are two runs: %v\n%s", err, show(several))
	}
}

// TestFilesOfManyRunsInAFolder checks that all runs are kept if several files of a benchmark have several runs each.
func TestFilesOfManyRunsInAFolder(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.txt": ab(1000, 1) + ab(1010, 1), "b.txt": ab(1020, 1) + ab(1030, 1) + ab(1040, 1),
		"c/d.txt": ab(1050, 1) + ab(1060, 1),
	})
	sets, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range sets[0].Runs {
		names = append(names, r.Name)
		if len(r.Values) == 0 {
			t.Errorf("run %s has no values", r.Name)
		}
	}
	if diff := cmp.Diff([]string{"a/1", "a/2", "b/1", "b/2", "b/3", "c/1", "c/2"}, names); diff != "" {
		t.Errorf("runs: -want +got:\n%s", diff)
	}
}

// TestReadCanceled checks that reading from a silent pipe stops when the context is done.
func TestReadCanceled(t *testing.T) {
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if _, err := From(ctx, "x", silent, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFilesThatHoldBothSides(t *testing.T) {
	table := "metric,before,after\nlatency (ms),%d,%d\n"
	dir := folder(t, map[string]string{"1.csv": fmt.Sprintf(table, 5, 4), "2.csv": fmt.Sprintf(table, 6, 5)})
	sets, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 2 || len(sets[0].Runs) != 2 || len(sets[1].Runs) != 2 || sets[0].Name != "before" ||
		sets[1].Name != "after" {
		t.Errorf("want two sides of two runs:\n%s", show(sets))
	}
	if sets, err = From(context.Background(), "x", strings.NewReader(hyperfineText), Options{Side: true}); err != nil ||
		len(sets) != 1 {
		t.Errorf("with Side two commands are one side: %v, %d", err, len(sets))
	}
	for _, text := range []string{
		"note: before\nBenchmarkX 10 5 ns/op\nnote: after\nBenchmarkX 10 3 ns/op\n",
		vdbText(`{"db_case_config": {"M": 8}}`, `{"db_case_config": {"M": 16}}`),
	} {
		if sets := readText(t, text, Options{}); len(sets) != 2 ||
			sets[0].Runs[0].Values[0].Metric != sets[1].Runs[0].Values[0].Metric || sets[0].Name == sets[1].Name {
			t.Errorf("want two sides\n%s", show(sets))
		}
	}
	if sets := readText(t, "version,ms\n1.0,5\n1.1,6\n", Options{}); len(sets) != 2 {
		t.Errorf("%d sets of two versions\n%s", len(sets), show(sets))
	}
}

// TestMillisecondsAndSecondsAgree checks that files with different units give the same values.
func TestMillisecondsAndSecondsAgree(t *testing.T) {
	ms := readText(t, "run,p99 (ms),total_us\n1,76.135,5.5\n2,11.18,7\n3,0.1,3\n", Options{})
	s := readText(t, "run,p99 (s),total_s\n1,0.076135,0.0000055\n2,0.01118,0.000007\n3,0.0001,0.000003\n", Options{})
	if diff := cmp.Diff(ms[0].Runs, s[0].Runs); diff != "" {
		t.Errorf("-ms +s:\n%s", diff)
	}
	c, err := bench.Compare(ms[0], s[0], bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range c.Lines {
		if l.Ratio != 1 {
			t.Errorf("%s: ratio %v", l.String(), l.Ratio)
		}
	}
}

func TestWriteRunsIsReadBack(t *testing.T) {
	want := &bench.Set{Name: "a", Format: "trial", Notes: []string{"n"}, Runs: []bench.Run{
		{Name: "1", Pair: "p", Values: []bench.Value{
			{
				Metric: bench.Metric{Benchmark: "search", Name: "QPS", Unit: "1/s", Concurrency: 8},
				Better: bench.HigherIsBetter, X: 1.0 / 3,
			},
			{Metric: bench.Metric{Name: "odd unit", Unit: "%·s"}, Better: bench.LowerIsBetter, X: -0.5},
			{Metric: bench.Metric{Name: "requests"}, Better: bench.Neither, X: 1e300},
		}},
		{Name: "2", Failed: "exit status 1"},
	}}
	var b bytes.Buffer
	if err := WriteRuns(&b, want); err != nil {
		t.Fatal(err)
	}
	extra := bench.Run{Name: "3", Pair: "q"}
	if err := WriteRun(&b, &extra); err != nil {
		t.Fatal(err)
	}
	want.Runs = append(want.Runs, extra)
	got := readText(t, b.String(), Options{})
	if diff := cmp.Diff([]*bench.Set{want}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want.Runs[0].Values[0].X = 0
	want.Runs[0].Values[0].X /= want.Runs[0].Values[0].X // NaN
	if err := WriteRuns(&b, want); err == nil {
		t.Error("a figure that JSON cannot hold was written")
	}
}

func TestUserDirections(t *testing.T) {
	sets := readText(t, "run,Punkte\n1,5\n2,6\n",
		Options{Better: map[string]bench.Direction{"Punkte": bench.HigherIsBetter}})
	if got, want := show(sets), "[0 csv]\nrun 1\n  Punkte = 5 +\nrun 2\n  Punkte = 6 +\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNotAResult(t *testing.T) {
	t.Parallel()
	truncated := hyperfineText[:200]
	for _, tt := range []struct{ name, text, want, hint string }{
		{"empty", "", "it is empty", "saved to the file"},
		{"spaces", " \n\t\n", "it is empty", "saved to the file"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", "it is not text", "supported formats: kitescope runs, hyperfine"},
		{"hdf5", "\x89HDF\r\n\x1a\n\x00", "HDF5", "data_export.py"},
		{"prose", "Dear all,\nit is faster now.\n", "not a supported benchmark result", "supported formats"},
		{"truncated json", truncated, "unexpected EOF", "not complete"},
		{"truncated jmh", jmhSample[:400], "unexpected end of JSON input", "not complete"},
		{
			"wrk2", "  Thread calibration: mean lat.: 0.982ms\n  Thread Stats   Avg      Stdev\n",
			"it is the output of wrk2", "run,qps,p99_ms,target_rate",
		},
		{
			"wrk", "Running 30s test\n  Thread Stats   Avg      Stdev\n", "it is the output of wrk",
			"run,qps,p99_ms,clients",
		},
		{
			"hyperfine markdown", "| Command | Mean [s] | Min [s] |\n|:---|---:|---:|\n| `a` | 1.0 ± 0.1 | 0.9 |\n",
			"it is the Markdown table of hyperfine", "--export-json",
		},
		{
			"benchstat", "name   old time/op  new time/op\nX      5ns ± 1%     4ns ± 1%\n",
			"it is a table of benchstat", "go test -bench",
		},
		{
			"google benchmark", `{"context": {}, "benchmarks": [{"name": "BM_x", "real_time": 1e1}]}`,
			"it is JSON of Google Benchmark", "--benchmark_format=csv",
		},
		{"other json", `{"a":1}`, "not a supported benchmark result", "supported formats"},
		{
			"benchmark without a figure", "BenchmarkX-8 100 oops ns/op\n",
			"it has no figures: skipped a line that is not a result", "did the program end",
		},
		{
			"vmstat of one line", vmstatRun[:strings.Index(vmstatRun, "\n 1  0")+1], "averages since boot",
			"did the program end",
		},
		{"a newer format", `{"kitescope_runs":2}` + "\n", "version 2", "newer"},
		{"too large", "run,x\n" + strings.Repeat("1,2\n", 1<<19), "larger than 1 MiB", "a log of every request"},
		{"gzip that is none", "\x1f\x8bgarbage", "decompress", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := From(context.Background(), "x", strings.NewReader(tt.text), Options{MaxBytes: 1 << 20})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			var h *hints.Error
			if tt.hint != "" && (!errors.As(err, &h) || !strings.Contains(h.Hint(), tt.hint)) {
				t.Errorf("hint %+v, want %q", h, tt.hint)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	var runs, metrics strings.Builder
	runs.WriteString("run,x\n")
	for i := range maxRuns + 1 {
		fmt.Fprintf(&runs, "%d,1\n", i)
	}
	metrics.WriteString("metric,unit,value\n")
	for i := range maxMetrics + 1 {
		fmt.Fprintf(&metrics, "m%d,ms,1\n", i)
	}
	for text, want := range map[string]string{
		runs.String(): "more than 10000 runs", metrics.String(): "more than 20000 metrics",
		strings.Repeat("a,", maxColumns+1) + "b\n" + strings.Repeat("1,", maxColumns+1) +
			"1\n": "more than 2000 columns",
		`{"results":[{"command":"a","times":[1]}` + strings.Repeat(" ", maxJSON) + "]}": "JSON of more than 16 MiB",
	} {
		if _, err := From(context.Background(), "x", strings.NewReader(text), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	long := "run,x\n" + strings.Repeat("n", 10_000) + "\x1b[31m,1\n"
	if name := readText(t, long, Options{})[0].Runs[0].Name; len(name) > maxName || strings.Contains(name, "\x1b") {
		t.Errorf("a name of %d bytes was kept: %q", len(name), name)
	}
}

func TestErrorsOfFiles(t *testing.T) {
	empty := t.TempDir()
	prose := folder(t, map[string]string{"a.txt": "hello", "b.txt": "world"})
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{nil, "no file"},
		{[]string{filepath.Join(empty, "missing")}, "no such file"},
		{[]string{empty}, "the folder is empty"},
		{[]string{prose}, "none of its 2 files is a result"},
		{[]string{filepath.Join(prose, "a.txt")}, "not a supported benchmark result"},
	} {
		if _, err := Open(context.Background(), tt.paths, Options{}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v, want %q", tt.paths, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []string{prose}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("disk on fire")
	if _, err := From(context.Background(), "x", iotest.ErrReader(broken), Options{}); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
}

// TestObservationWithoutRun checks that an observation that matches no run is dropped if there are several runs,
// because it covers all runs together.
func TestObservationWithoutRun(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"small.csv": "qps,p99_ms\n1000,5\n", "large.csv": "qps,p99_ms\n500,9\n", "vmstat.txt": vmstatRun,
	})
	sets, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || len(sets[0].Runs) != 2 {
		t.Fatalf("want the two runs, got\n%s", show(sets))
	}
	if notes := strings.Join(sets[0].Notes, "\n"); !strings.Contains(notes,
		"vmstat.txt matches no run by name and was left out: name it after its run, such as large-vmstat.txt") {
		t.Errorf("notes: %s", notes)
	}
}
