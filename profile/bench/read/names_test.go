package read

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/bench"
)

// vdbText returns a VectorDBBench result. Each case has its task_config and QPS.
func vdbText(cases ...string) string {
	var results []string
	for i, task := range cases {
		results = append(results,
			fmt.Sprintf(`{"metrics": {"qps": %d}, "task_config": %s, "label": ":)"}`, 1000*(i+1), task))
	}
	return `{"run_id": "r", "task_label": "t", "results": [` + strings.Join(results, ",") + `]}`
}

// TestNamesIncludeDifferences checks that names include all settings that differ, whatever their order in a
// file.
func TestNamesIncludeDifferences(t *testing.T) {
	t.Parallel()
	custom := func(text string) string {
		return `{"db": "X", "case_config": {"case_id": 503, "custom_case": ` + text + `}}`
	}
	for _, tt := range []struct{ name, text, want string }{
		{
			"custom cases of vectordbbench",
			vdbText(custom(`{"dataset_with_size_type": "Small (100K)", "filter_rate": 0.5}`),
				custom(`{"dataset_with_size_type": "Large (5M)"}`)), `[0 vectordbbench]
run 1
  case 503 dataset_with_size_type=Small (100K) filter_rate=0.5: QPS = 1000 1/s +
  case 503 dataset_with_size_type=Large (5M): QPS = 2000 1/s +
`,
		},
		{"a custom case alone", vdbText(custom(`{"insert_rate": 500}`)), `[0 vectordbbench]
run 1
  case 503 insert_rate=500: QPS = 1000 1/s +
`},
		{"k, clients and databases of vectordbbench", vdbText(
			`{"db": "X", "case_config": {"case_id": 5, "k": 100}}`,
			`{"db": "X", "case_config": {"case_id": 5, "k": 10}}`,
			`{"db": "X", "db_config": {"replica_number": 2, "password": "hunter2"}, "case_config": {"case_id": 5}}`,
			`{"db": "X", "case_config": {"case_id": 5, "concurrency_search_config": {"num_concurrency": [1, 5]}}}`,
		), `[0 vectordbbench]
run 1
  case 5: QPS = 1000 1/s +
  case 5 k=10: QPS = 2000 1/s +
  case 5 password=<redacted> replica_number=2: QPS = 3000 1/s +
  case 5 num_concurrency=[1,5]: QPS = 4000 1/s +
`},
		{
			"the same case of vectordbbench twice",
			vdbText(custom(`{"filter_rate": 0.5}`), custom(`{"filter_rate": 0.9}`), custom(`{"filter_rate": 0.5}`)),
			`[0 vectordbbench]
run 1
  case 503 filter_rate=0.5: QPS = 1000 1/s +
  case 503 filter_rate=0.9: QPS = 2000 1/s +
run 2
  case 503 filter_rate=0.5: QPS = 3000 1/s +
note a case with the same settings as another counts as another run (case 503 filter_rate=0.5)
`,
		},
		{
			"cases of vectordbbench that differ in a secret",
			vdbText(`{"db_config": {"token": "a"}}`, `{"db_config": {"token": "b"}}`), `[0 vectordbbench]
run 1
  case 0 token=<redacted>: QPS = 1000 1/s +
note a case that differs from another only in settings too long or too secret to show was left out (case 0 token=<redacted>)
`,
		},
		{
			"paths of ab", "Document Path: /a?token=secret\n" + ab(1000, 10) + "Document Path: /b\n" + ab(2000, 20),
			`[0 ab]
run 1
  /a?token=<redacted>: time taken, 4 clients = 10 s @4 -
  /a?token=<redacted>: requests, 4 clients = 10 @4 .
  /a?token=<redacted>: non-2xx responses, 4 clients = 0 @4 -
  /a?token=<redacted>: requests per second, 4 clients = 1000 1/s @4 +
run 2
  /b: time taken, 4 clients = 10 s @4 -
  /b: requests, 4 clients = 20 @4 .
  /b: non-2xx responses, 4 clients = 0 @4 -
  /b: requests per second, 4 clients = 2000 1/s @4 +
`,
		},
		{"parameters of csv", "ef,qps\n16,1000\n32,800\n16,1010\n", `[0 csv]
run 1
  ef=16: qps = 1000 1/s +
  ef=32: qps = 800 1/s +
run 2
  ef=16: qps = 1010 1/s +
`},
		{
			"keys of go benchmarks that only look like a time",
			"runtime: a\nBenchmarkX 10 5 ns/op\nruntime: b\nBenchmarkX 10 3 ns/op\nruntime: c\nBenchmarkX 10 4 ns/op\n",
			`[0 go benchmark]
run 1
  BenchmarkX runtime=a: time/op = 5e-09 s -
  BenchmarkX runtime=b: time/op = 3e-09 s -
  BenchmarkX runtime=c: time/op = 4e-09 s -
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, show(readText(t, tt.text, Options{Side: true}))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNamesOfCommands checks that names of equal commands include their parameters, even if each occurs once in a
// file.
func TestNamesOfCommands(t *testing.T) {
	result := `{"command": "x", "times": [1], "parameters": {"n": %q}}`
	text := fmt.Sprintf(`{"results": [`+result+`,{"command": "y", "times": [2]}]}`, "8")
	got := show(readText(t, text, Options{Side: true}))
	if want := "[0 hyperfine]\nrun 1\n  x n=8: time = 1 s -\n  y: time = 2 s -\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// hyperfine inserts parameter values into commands, unless the commands have names of their own.
	result = `{"command": %q, "times": [1], "parameters": {"n": %q}}`
	for _, tt := range []struct{ first, second, want string }{
		{"prog -n 10", "prog -n 20", "  prog -n 10: time = 1 s -\n  prog -n 20: time = 1 s -\n"},
		{"prog --n=10", "prog 2", "  prog --n=10: time = 1 s -\n  prog 2 n=20: time = 1 s -\n"},
		{"v 10 20", "v 10 20", "  v 10 20 n=10: time = 1 s -\n  v 10 20 n=20: time = 1 s -\n"},
	} {
		text := fmt.Sprintf(`{"results": [`+result+`,`+result+`]}`, tt.first, "10", tt.second, "20")
		if got := show(readText(t, text, Options{Side: true})); got != "[0 hyperfine]\nrun 1\n"+tt.want {
			t.Errorf("%s and %s: %s", tt.first, tt.second, got)
		}
	}
}

// TestKeysOfTwoFiles checks that keys of Go benchmarks are named and noted like settings.
func TestKeysOfTwoFiles(t *testing.T) {
	t.Parallel()
	const result = "BenchmarkX 10 5 ns/op\n"
	before := readText(t, "cpu: A\nshards: 1\nrun-time: 1\n"+result+"shards: 2\n"+result, Options{Side: true})[0]
	after := readText(t, "cpu: B\nshards: 2\nrun-time: 2\n"+result, Options{Side: true})[0]
	bench.NameSettings(before, after)
	c, err := bench.Compare(before, after, bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lines) != 2 || c.Lines[1].Benchmark != "BenchmarkX shards=2" || c.Lines[1].Verdict != bench.TooFew {
		t.Errorf("%+v", c.Lines)
	}
	if notes := strings.Join(c.Notes, "; "); notes != "the sides differ in: cpu A → B" {
		t.Errorf("notes: %s", notes)
	}
}

// TestSettingsOfTwoFiles checks that both sides are named together, and that settings that differ between them are
// noted.
func TestSettingsOfTwoFiles(t *testing.T) {
	t.Parallel()
	task := func(index string) string {
		return `{"db": "X", "db_config": {"password": ` + strconv.Quote(index) + `}, "db_case_config": ` + index +
			`, "case_config": {"case_id": 5}}`
	}
	dataset := func(dir string) string {
		return `{"case_config": {"case_id": 101, "custom_case": {"dataset_config": {"name": "A", "dir": "` + dir +
			`"}}}}`
	}
	for _, tt := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{
			"another ef",
			[]string{task(`{"M": 16, "ef": 100}`)},
			[]string{task(`{"M": 16, "ef": 200}`)},
			"case 5\nthe sides differ in: ef 100 → 200",
		},
		{
			"an ef",
			[]string{task(`{"M": 16}`)},
			[]string{task(`{"M": 16, "ef": 200}`)},
			"case 5\nthe sides differ in: ef not set → 200",
		},
		{
			"one of two",
			[]string{task(`{"M": 16, "ef": 100}`), task(`{"M": 32, "ef": 100}`)},
			[]string{task(`{"M": 32, "ef": 200}`)},
			"case 5 M=16: one side only\ncase 5 M=32\nthe sides differ in: ef 100 → 200",
		},
		{
			"two of one",
			[]string{task(`{"M": 32}`)},
			[]string{task(`{"M": 32}`), task(`{"M": 16}`)},
			"case 5 M=32\ncase 5 M=16: one side only",
		},
		{
			"numbers of two forms",
			[]string{task(`{"M": 16, "ratio": 0.5, "version": "2.10"}`)},
			[]string{task(`{"M": 16.0, "ratio": 5e-1, "version": "2.1"}`)},
			"case 5\nthe sides differ in: version 2.10 → 2.1",
		},
		{
			"a data set in another folder",
			[]string{dataset("/a")},
			[]string{dataset("/b")},
			"case 101 name=A\nthe sides differ in: dir /a → /b",
		},
	} {
		sides := [2]*bench.Set{
			readText(t, vdbText(tt.before...), Options{Side: true})[0],
			readText(t, vdbText(tt.after...), Options{Side: true})[0],
		}
		bench.NameSettings(sides[0], sides[1], nil)
		c, err := bench.Compare(sides[0], sides[1], bench.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range c.Lines {
			l := &c.Lines[i]
			if got = append(got, l.Benchmark); l.Verdict == bench.OneSide {
				got[len(got)-1] += ": " + l.Verdict.String()
			}
		}
		for _, n := range c.Notes {
			if n != "both sides are the same results" {
				got = append(got, n)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestLoads checks that values measured under different loads are shown and not judged.
func TestLoads(t *testing.T) {
	osb := func(params string) *bench.Set {
		return readText(t,
			strings.Replace(osbText, `"workload":"big5"`, `"workload":"big5","workload-params":`+params, 1),
			Options{})[0]
	}
	a, b := osb(`{"target_throughput":"2","number_of_shards":1}`), osb(`{"target_throughput":"4","number_of_shards":2}`)
	if notes := strings.Join(a.Notes, "\n"); notes != "throughput was limited by target_throughput=2: it does not "+
		"show the maximum" {
		t.Errorf("notes: %s", notes)
	}
	for _, tt := range []struct {
		before, after *bench.Set
		want          string
	}{
		{
			a, b,
			"measured under different loads: workload=big5 target_throughput=2 before, workload=big5 " +
				"target_throughput=4 after",
		},
		{
			a, osb(`null`),
			"measured under different loads: workload=big5 target_throughput=2 before, workload=big5 after",
		},
		{
			a, osb(`{"target_throughput":"2","number_of_shards":4}`),
			"one run a side proves nothing: needs at least 6 runs a side",
		},
		{
			readText(t,
				`{"run_id": "r", "results": [{"metrics": {"qps": 9, "conc_num_list": [1, 80]}, "task_config": {}}]}`,
				Options{})[0],
			readText(t,
				`{"run_id": "r", "results": [{"metrics": {"qps": 9, "conc_num_list": [1]}, "task_config": {}}]}`,
				Options{})[0],
			"measured under different loads: clients=1,80 before, clients=1 after",
		},
	} {
		c, err := bench.Compare(tt.before, tt.after, bench.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l := c.Lines[0]; l.Remark != tt.want ||
			(l.Verdict == bench.NotJudged) != strings.HasPrefix(tt.want, "measured") {
			t.Errorf("%s: %s, %q, want %q", l.String(), l.Verdict, l.Remark, tt.want)
		}
	}
}

// TestLoadOfObserved checks that values observed during a run get its load.
func TestLoadOfObserved(t *testing.T) {
	result := `{"run_id": "r", "results": [{"metrics": {"qps": 9, "conc_num_list": [1, 80]}, "task_config": {}}]}`
	sets, err := Open(t.Context(),
		[]string{folder(t, map[string]string{"r/result.json": result, "r/vmstat.txt": vmstatRun})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range sets[0].Runs[0].Values {
		if v.Load != "clients=1,80" {
			t.Errorf("%s: load %q", v.String(), v.Load)
		}
	}
}
