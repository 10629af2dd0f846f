package live_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

func TestParseMetrics(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	m, err := live.ParseMetrics(strings.NewReader(`# HELP a_total A counter.
# TYPE a_total counter
a_total{z="1",b="x \"y\" \\"} 3
# TYPE g gauge
g -1.5 1795165530777
plain 7
# TYPE h histogram
h_bucket{node_id="5",le="0.5"} 0
h_bucket{node_id="5",le="1"} 1
h_bucket{node_id="5",le="+Inf"} 4
h_sum{node_id="5"} 2.5
h_count{node_id="5"} 4
h_bucket{node_id="6",le="0.5"} 2
h_bucket{node_id="6",le="1"} 3
h_bucket{node_id="6",le="+Inf"} 9
h_sum{node_id="6"} 7
h_count{node_id="6"} 9
# TYPE s summary
s{quantile="0.5"} 0.1
s{quantile="0.99"} 0.9
s_sum 10
s_count 20
# TYPE fill_bucket gauge
fill_bucket{x="1"} 6
`), at)
	if err != nil {
		t.Fatal(err)
	}
	pair := func(key, value string) model.Pair { return model.Pair{Key: key, Value: value} }
	one := func(name string, kind model.MetricKind, s model.Series) *model.Family {
		return &model.Family{Name: name, Kind: kind, Series: []model.Series{s}}
	}
	want := &model.Metrics{At: at, Families: map[string]*model.Family{
		"a_total": one("a_total", model.MetricCounter, model.Series{
			Labels: []model.Pair{pair("b", `x "y" \`), pair("z", "1")}, Value: 3,
		}),
		"g":     one("g", model.MetricGauge, model.Series{Value: -1.5}),
		"plain": one("plain", model.MetricUntyped, model.Series{Value: 7}),
		"h": {Name: "h", Kind: model.MetricHistogram, Bounds: []float64{0.5, 1}, Series: []model.Series{
			{Labels: []model.Pair{pair("node_id", "5")}, Value: 2.5, Count: 4, Buckets: []float64{0, 1}},
			{Labels: []model.Pair{pair("node_id", "6")}, Value: 7, Count: 9, Buckets: []float64{2, 3}},
		}},
		"s": one("s", model.MetricSummary, model.Series{
			Value: 10, Count: 20, Quantiles: []model.Quantile{{Share: 0.5, Value: 0.1}, {Share: 0.99, Value: 0.9}},
		}),
		"fill_bucket": one("fill_bucket", model.MetricGauge, model.Series{
			Labels: []model.Pair{pair("x", "1")}, Value: 6,
		}),
	}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for name, want := range map[string]float64{
		"a_total": 3, "h_sum": 9.5, "h_count": 13, "s_sum": 10, "s_count": 20, "fill_bucket": 6,
	} {
		if sum, ok := m.Sum(name); !ok || sum != want {
			t.Errorf("%s: %v, %v; want %v", name, sum, ok, want)
		}
	}
	for _, name := range []string{"h", "s", "h_bucket", "g_sum", "plain_count", "_sum", ""} {
		if sum, ok := m.Sum(name); ok {
			t.Errorf("%s: %v", name, sum)
		}
	}
	if sum, ok := m.Sum("h_sum", pair("node_id", "6")); !ok || sum != 7 {
		t.Errorf("of node 6: %v, %v", sum, ok)
	}
}

func TestBrokenMetrics(t *testing.T) {
	series := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a{x=\"%d\"} 1\n", i)
		}
		return b.String()
	}
	for name, test := range map[string]struct {
		text io.Reader
		err  string
		kept int // samples of a
	}{
		"empty":            {strings.NewReader(""), "none in the text", 0},
		"only comments":    {strings.NewReader("# TYPE a counter\n"), "none in the text", 0},
		"no metrics":       {strings.NewReader("<html>\n"), "read metrics", 0},
		"broken half-way":  {strings.NewReader(series(2) + "}} boom\n" + series(2)), "read metrics", 2},
		"cut off":          {strings.NewReader(series(2) + "a{x=\"9"), "the text ends within line 3", 2},
		"a number cut off": {strings.NewReader(series(2) + "a 1"), "the text ends within line 3", 2},
		"a page of a login": {
			strings.NewReader("<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"),
			"an HTML page, not metrics", 0,
		},
		"a number of words": {
			strings.NewReader(series(2) + "a{x=\"9\"} many\n"), "line 3 has no number as its value", 2,
		},
		"words": {
			strings.NewReader("This is no recording, only text.\n"), "line 1 has no number as its value", 0,
		},
		"a time of words": {
			strings.NewReader(series(2) + "a{x=\"9\"} 1 soon\n"), "line 3 has no timestamp after its value", 2,
		},
		"names in quotes":  {strings.NewReader(series(2) + "{\"a.b\",x=\"9\"} 1\n"), "line 3 is not a sample", 2},
		"two labels alike": {strings.NewReader(series(2) + "a{x=\"9\",x=\"9\"} 1\n"), "line 3 has a label twice", 2},
		"two types": {
			strings.NewReader(series(2) + "# TYPE a histogram\n"),
			"line 3: type of a is histogram, before it was untyped", 2,
		},
		"reader fails": {
			io.MultiReader(strings.NewReader(series(2)), iotest.ErrReader(errors.New("reset by peer"))),
			"reset by peer", 2,
		},
		"too many series": {strings.NewReader(series(200_003)), "more than 200000 series", 200_000},
		"endless line": {
			io.MultiReader(strings.NewReader(series(2)), endless{}), "a line is longer than 65536 bytes", 2,
		},
		"endless histogram": {
			io.MultiReader(strings.NewReader(series(2)+"# TYPE h histogram\n"),
				&repeat{line: "h_bucket{le=\"1\"} 1\n"}),
			"the series take more than 64 MiB of memory", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := live.ParseMetrics(test.text, time.Time{})
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if kept := len(m.Samples("a")); kept > 0 && !m.Partial {
				t.Error("it is not said that the rest is missing")
			}
			if kept := len(m.Samples("a")); kept != test.kept {
				t.Errorf("kept %d samples, want %d", kept, test.kept)
			}
		})
	}
}

// TestBuckets checks that an invalid distribution is dropped, and that the other data of the series stays.
func TestBuckets(t *testing.T) {
	const first = "# TYPE h histogram\nh_bucket{x=\"1\",le=\"1\"} 1\nh_bucket{x=\"1\",le=\"2\"} 3\n" +
		"h_bucket{x=\"1\",le=\"+Inf\"} 4\nh_sum{x=\"1\"} 9\nh_count{x=\"1\"} 4\n"
	none := math.NaN()
	for name, test := range map[string]struct {
		text  string // of series 2
		want  []float64
		count float64
	}{
		"as they should be": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 5\nh_bucket{x=\"2\",le=\"+Inf\"} 6\n" +
				"h_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n",
			[]float64{5, 5},
			6,
		},
		"in another order": {
			"h_count{x=\"2\"} 6\nh_bucket{le=\"2\",x=\"2\"} 5\nh_sum{x=\"2\"} 1\nh_bucket{ x = \"2\" , le=\"1\", } 2 " +
				"1700000000000\n",
			[]float64{2, 5},
			6,
		},
		"no count but +Inf": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 5\nh_bucket{x=\"2\",le=\"+Inf\"} 6\n" +
				"h_sum{x=\"2\"} 1\n",
			[]float64{5, 5},
			6,
		},
		"cut off": {
			"h_sum{x=\"2\"} 1\nh_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 5\n", nil, none,
		},
		"they fall": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 4\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n", nil,
			6,
		},
		"more than all": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 7\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n", nil,
			6,
		},
		"below zero": {
			"h_bucket{x=\"2\",le=\"1\"} -5\nh_bucket{x=\"2\",le=\"2\"} 5\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n", nil,
			6,
		},
		"no numbers": {
			"h_bucket{x=\"2\",le=\"1\"} NaN\nh_bucket{x=\"2\",le=\"2\"} 5\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n", nil,
			6,
		},
		"other bounds": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"4\"} 5\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} 6\n", nil,
			6,
		},
		"a negative count": {
			"h_bucket{x=\"2\",le=\"1\"} 5\nh_bucket{x=\"2\",le=\"2\"} 5\nh_sum{x=\"2\"} 1\nh_count{x=\"2\"} -6\n", nil,
			none,
		},
	} {
		m, err := live.ParseMetrics(strings.NewReader(first+test.text), time.Time{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []model.Series{
			{Labels: []model.Pair{{Key: "x", Value: "1"}}, Value: 9, Count: 4, Buckets: []float64{1, 3}},
			{Labels: []model.Pair{{Key: "x", Value: "2"}}, Value: 1, Count: test.count, Buckets: test.want},
		}
		if diff := cmp.Diff(want, m.Families["h"].Series, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !slices.Equal(m.Families["h"].Bounds, []float64{1, 2}) {
			t.Errorf("%s: bounds %v", name, m.Families["h"].Bounds)
		}
	}
}

// TestMetricsShare checks that families with the same labels and bounds share them, and that scrapes of the
// same process do too.
func TestMetricsShare(t *testing.T) {
	r := readRuntime(t, capture("t1", "metrics"))
	for _, p := range r.Processes {
		a, b := p.Metrics.Families["milvus_querynode_sq_req_latency"],
			p.Metrics.Families["milvus_querynode_sq_wait_tsafe_latency"]
		if a == nil || b == nil {
			continue
		}
		if len(a.Bounds) == 0 || &a.Bounds[0] != &b.Bounds[0] {
			t.Errorf("%s: bounds %v and %v", p.Address, a.Bounds, b.Bounds)
		}
		return
	}
	t.Error("no query node tells of both")
}

// endless is a line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// repeat is one line repeated.
type repeat struct {
	line string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.line[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.line)
	}
	return n, nil
}

// TestScrapesOfOneProcess checks that two scrapes yield rates in any order, and that a failure does not remove
// earlier data.
func TestScrapesOfOneProcess(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	scrape := func(after time.Duration, cpu float64) live.Record {
		return live.Record{
			Role: "proxy", Node: 3, Address: "10.0.0.3:9091", Method: "GET /metrics", Outcome: "answered",
			At:       at.Add(after),
			Response: []byte(fmt.Sprintf("process_start_time_seconds 1795160000\nprocess_cpu_seconds_total %v\n", cpu)),
		}
	}
	failed := live.Record{
		Role: "proxy", Node: 3, Address: "10.0.0.3:9091", Method: "GET /metrics", Outcome: "timed out",
		Error: "no answer", At: at.Add(time.Hour),
	}
	for name, records := range map[string][]live.Record{
		"in order":  {scrape(0, 1), scrape(10*time.Second, 2), scrape(20*time.Second, 22), failed},
		"backwards": {failed, scrape(20*time.Second, 22), scrape(10*time.Second, 2), scrape(0, 1)},
		"mixed":     {scrape(20*time.Second, 22), scrape(0, 1), failed, scrape(10*time.Second, 2)},
	} {
		r := decode(records...)
		if len(r.Processes) != 1 {
			t.Fatalf("%s: %d processes", name, len(r.Processes))
		}
		p := r.Processes[0]
		cores, over, ok := p.CPU()
		if p.Outcome != model.Answered || !ok || cores != 2 || over != 10*time.Second || len(p.Calls) != 4 {
			t.Errorf("%s: %s, %v cores over %s, %d calls", name, p.Outcome, cores, over, len(p.Calls))
		}
		if n := r.LiveNode("proxy", 3); n == nil || n.Process != p || n.Outcome != model.NotAsked {
			t.Errorf("%s: node %+v", name, n)
		}
	}
	down := decode(failed).Processes[0]
	if down.Metrics != nil || down.Outcome != model.TimedOut || down.Reason != "no answer" {
		t.Errorf("down: %+v", down)
	}
}

func TestHealthz(t *testing.T) {
	get := func(outcome, body string) *model.Process {
		return decode(live.Record{
			Role: "proxy", Node: 3, Address: "a:9091", Method: "GET /healthz", Outcome: outcome, Error: "500",
			Response: []byte(body),
		}).Processes[0]
	}
	if p := get("answered", "OK\n"); p.Healthz != "OK" {
		t.Errorf("healthz %q", p.Healthz)
	}
	if p := get("not ready", "{\n \"state\": \"component querynode state is Abnormal\"\n}"); p.Healthz !=
		`{ "state": "component querynode state is Abnormal" }` {
		t.Errorf("healthz %q", p.Healthz)
	}
	if p := get("refused", ""); p.Healthz != "" || p.Calls[0].Outcome != model.Refused {
		t.Errorf("healthz %+v", p)
	}
}

// TestSessionsOfMetrics checks that the metrics of a process determine its sessions, and that a process queried at
// the wrong address is not mistaken for another.
func TestSessionsOfMetrics(t *testing.T) {
	scrape := func(session, text string) live.Record {
		role, id, _ := strings.Cut(session, "-")
		r := live.Record{
			Role: role, Address: "10.0.0.1:9091", Method: "GET /metrics", Outcome: "answered", Response: []byte(text),
		}
		_, _ = fmt.Sscan(id, &r.Node)
		return r
	}
	for name, test := range map[string]struct {
		session, text string
		want          []string
	}{
		"standalone": {
			"proxy-1",
			"milvus_num_node{node_id=\"1\",role_name=\"proxy\"} 1\n" +
				"milvus_num_node{node_id=\"1\",role_name=\"querynode\"} 1\n",
			[]string{"proxy-1", "querynode-1"},
		},
		"asked for a sibling": {
			"streamingnode-5", "milvus_num_node{node_id=\"5\",role_name=\"querynode\"} 1\n",
			[]string{"querynode-5", "streamingnode-5"},
		},
		"another process": {
			"proxy-3", "milvus_num_node{node_id=\"7\",role_name=\"querynode\"} 1\n", []string{"querynode-7"},
		},
		"a role that left": {
			"proxy-3",
			"milvus_num_node{node_id=\"3\",role_name=\"proxy\"} 1\n" +
				"milvus_num_node{node_id=\"2\",role_name=\"datanode\"} 0\n",
			[]string{"proxy-3"},
		},
		"2.1, told by asking": {"rootcoord-4", "milvus_rootcoord_ddl_req_count 1\n", []string{"rootcoord-4"}},
		"2.1, told by labels": {
			"querynode-1",
			"milvus_querynode_entity_num{node_id=\"1\"} 3\nmilvus_proxy_req_count{node_id=\"8\"} 1\n" +
				"milvus_datacoord_x{node_id=\"9\"} 1\n",
			[]string{"proxy-8", "querynode-1"},
		},
	} {
		var got []string
		for _, ref := range decode(scrape(test.session, test.text)).Processes[0].Nodes {
			got = append(got, ref.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRolesOfAMixCoord checks that the roles that a process unites are not additional sessions.
func TestRolesOfAMixCoord(t *testing.T) {
	state := answered(t, "mixcoord-1", inRootCoord+"GetComponentStates", nil, &milvuspb.ComponentStates{
		Status: ok, State: &milvuspb.ComponentInfo{},
	})
	scrape := live.Record{
		Role: "mixcoord", Node: 1, Address: "10.0.0.1:9091", Method: "GET /metrics", Outcome: "answered",
		Response: []byte("milvus_num_node{node_id=\"1\",role_name=\"rootcoord\"} 1\n" +
			"milvus_num_node{node_id=\"1\",role_name=\"datacoord\"} 1\n"),
	}
	r := decode(state, scrape)
	if len(r.Nodes) != 1 || r.Nodes[0].Process == nil || len(r.Processes[0].Nodes) != 1 {
		t.Errorf("nodes %v, process %+v", r.Nodes, r.Processes[0].Nodes)
	}
}

func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const line = `{"role":"proxy","server_id":3,"address":"a:1","method":"/x.Proxy/GetComponentStates","error":"UNAVAILABLE: x"}`
	for name, test := range map[string]struct {
		text    string
		records int
		warning string
		err     string
	}{
		"recording": {line + "\n\n" + line + "\n", 2, "", ""},
		"recording, broken": {
			line + "\n{\"role\": 5}\n" + line[:20] + "\n" + line, 2,
			"2 lines are not records; the first: line 2: not a record", "",
		},
		"metrics": {
			"# TYPE milvus_num_node gauge\nmilvus_num_node{node_id=\"3\",role_name=\"proxy\"} 1\n", 1, "", "",
		},
		"metrics, broken": {
			"milvus_num_node{node_id=\"3\",role_name=\"proxy\"} 1\n}}\n", 1, "in part: read metrics", "",
		},
		"nobody's metrics": {"up 1\n", 0, "", "the text does not identify its process"},
		"empty":            {"", 0, "", "it is empty"},
		"json":             {"{\n \"a\": 1\n}\n", 0, "", "it is not a recording"},
		"binary":           {"\x00\x01\x02", 0, "", "it is not a recording (JSON lines) or /metrics text"},
		"broken gzip":      {"\x1f\x8b\x08\x00garbage", 0, "", "read "},
	} {
		t.Run(name, func(t *testing.T) {
			count := 0
			warnings, err := live.ReadFile(write("f", test.text), func(r live.Record) {
				if r.Outcome != "not asked" {
					count++
				}
			})
			if count != test.records || (err == nil) != (test.err == "") ||
				err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%d records, %v", count, err)
			}
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, test.warning) ||
				test.warning == "" && got != "" {
				t.Errorf("warnings %q", got)
			}
		})
	}
	if _, err := live.ReadFile(filepath.Join(folder, "missing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// TestReadFolder checks that all recordings and metrics are read, and that other files are named.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": `{"role":"proxy","server_id":3,"method":"/x.Proxy/GetComponentStates","error":"UNAVAILABLE: x"}`,
		"b.txt":   "milvus_num_node{node_id=\"5\",role_name=\"querynode\"} 1\n", "c.txt": "up 1\n", "d.bin": "\x00",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := live.NewDecoder()
	warnings, err := live.ReadFile(folder, d.Add)
	if err != nil || len(warnings) != 2 || !strings.Contains(warnings[0], "c.txt") ||
		!strings.Contains(warnings[1], "d.bin is skipped") {
		t.Errorf("%q, %v", warnings, err)
	}
	r := d.Runtime("recording", folder)
	if len(r.Nodes) != 2 || len(r.Processes) != 1 {
		t.Errorf("%d nodes, %d processes", len(r.Nodes), len(r.Processes))
	}
	want := []model.Skipped{{What: "metrics of c.txt", Reason: "the text does not identify its process"}}
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if _, err := live.ReadFile(t.TempDir(), d.Add); err == nil {
		t.Error("an empty folder was read")
	}
}

// TestReadFolderOfLinks checks that links are followed, as in the volume of a ConfigMap, and that a dangling
// one is named.
func TestReadFolderOfLinks(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(t.TempDir(), "metrics")
	if err := os.WriteFile(file, []byte("milvus_num_node{node_id=\"5\",role_name=\"querynode\"} 1\n"), 0o600); err !=
		nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a.txt": file, "b.txt": file + ".gone", "folder": t.TempDir()} {
		switch err := os.Symlink(to, filepath.Join(folder, name)); {
		case err != nil && runtime.GOOS == "windows": // only some users may create links there
			t.Skip(err)
		case err != nil:
			t.Fatal(err)
		}
	}
	d := live.NewDecoder()
	warnings, err := live.ReadFile(folder, d.Add)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "b.txt is skipped") {
		t.Errorf("%q, %v", warnings, err)
	}
	if r := d.Runtime("recording", folder); len(r.Nodes) != 1 {
		t.Errorf("%d nodes", len(r.Nodes))
	}
}

// TestMetricsOfEveryRole checks that the metrics of each role of a cluster identify it.
func TestMetricsOfEveryRole(t *testing.T) {
	got := map[string]bool{}
	for _, p := range readRuntime(t, capture("t1", "metrics")).Processes {
		for _, ref := range p.Nodes {
			role, _, _ := strings.Cut(ref.ID, "-")
			got[role] = true
		}
	}
	want := []string{"datacoord", "datanode", "indexnode", "proxy", "querycoord", "querynode", "rootcoord"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}
