package read

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata is the folder of files shared by the whole module.
const testdata = "../../../testdata/bench"

// TestFormats checks the results of each reader. The texts have the form printed by the sources that the
// readers name. Real output is marked as such.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"go benchmark", goText, goWant},
		{"hyperfine", hyperfineText, hyperfineWant},
		{"ab", abText, abWant},
		{"opensearch benchmark", osbText, osbWant},
		{"jmh", jmhSample, jmhWant},
		{"ann-benchmarks", annText, annWant},
		{"kitescope runs", runsText, runsWant},
		{
			"go benchmark of two configurations",
			"shards: 1\nBenchmarkX 10 5 ns/op\nshards: 4\nBenchmarkX 10 3 ns/op\nBenchmarkX 10 4 ns/op\n",
			`[0 go benchmark]
run 1
  BenchmarkX: time/op = 5e-09 s -
[1 go benchmark]
run 1
  BenchmarkX: time/op = 3e-09 s -
run 2
  BenchmarkX: time/op = 4e-09 s -
`,
		},
		{
			"jmh of two implementations",
			`[{"benchmark":"B","mode":"avgt","params":{"impl":"old","n":"8"},"primaryMetric":{"scoreUnit":"ns/op","rawData":[[5]]}},
{"benchmark":"B","mode":"avgt","params":{"impl":"new","n":"8"},"primaryMetric":{"scoreUnit":"ns/op","rawData":[[4]]}}]`,
			`[0 jmh]
run fork 1
  B n=8: mean time = 5e-09 s -
[1 jmh]
run fork 1
  B n=8: mean time = 4e-09 s -
`,
		},
		{"csv with numbers of two forms", "ef,clients,qps\n16,8,1000\n16.0,8.0,1010\n", `[0 csv]
run 1
  ef=16: qps, 8 clients = 1000 1/s @8 +
run 2
  ef=16: qps, 8 clients = 1010 1/s @8 +
`},
		{"csv with metrics as columns", "run;qps;p99 (ms);started\n1;1000;5,5;12:01\n2;1010;5;12:02\n", `[0 csv]
run 1
  qps = 1000 1/s +
  p99 = 0.0055 s -
run 2
  qps = 1010 1/s +
  p99 = 0.005 s -
`},
		{
			"csv with figures as lines",
			"side,run,pair,metric,unit,value,better\nA,1,1,rows,,5,higher\nB,1,1,rows,,6,higher\n", `[0 csv]
run 1 pair 1
  rows = 5 +
[1 csv]
run 1 pair 1
  rows = 6 +
`,
		},
		{
			"csv with both sides in a line",
			"metric,pair,before,after\np99 latency (ms),1,5,4\np99 latency (ms),2,6,n/a\n", `[0 csv]
run 1 pair 1
  p99 latency = 0.005 s -
run 2 pair 2
  p99 latency = 0.006 s -
[1 csv]
run 1 pair 1
  p99 latency = 0.004 s -
run 2 pair 2
`,
		},
		{"csv with names of what was run", "benchmark\ttime\nencode\t1.5ms\ndecode\t2 s\nencode\t1.25ms\n", `[0 csv]
run 1
  encode: time = 0.0015 s -
  decode: time = 2 s -
run 2
  encode: time = 0.00125 s -
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, show(readText(t, tt.text, Options{}))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFilesOfFormats(t *testing.T) {
	for name, want := range map[string]string{
		"vmstat.txt": `[0 vmstat]
run 1
  cpu = 3.769230769230769 % .
  cpu user = 2.41025641025641 % .
`,
		"vectordbbench.json": `[0 vectordbbench]
run 1
  case 4 ef=100: QPS = 3917.2035 1/s +
  case 4 ef=100: serial p99 latency = 0.0024 s -
`,
	} {
		data, err := os.ReadFile(filepath.Join(testdata, "formats", name))
		if err != nil {
			t.Fatal(err)
		}
		got := show(readText(t, string(data), Options{Side: true}))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got\n%s\nwant it to begin\n%s", name, got, want)
		}
	}
}

// TestEveryFormatIsKnown checks that each format has a unique name and a description.
func TestEveryFormatIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Doc == "" || seen[f.Name] {
			t.Errorf("format %q: %q", f.Name, f.Doc)
		}
		seen[f.Name] = true
	}
	if len(seen) < 9 {
		t.Errorf("only %d formats", len(seen))
	}
}
