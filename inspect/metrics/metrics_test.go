package metrics_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// loadCapture returns the processes in a capture of Milvus 2.3.5.
func loadCapture(t testing.TB, name string) []*model.Process {
	t.Helper()
	d := live.NewDecoder()
	if _, err := live.ReadFile(filepath.Join("../../testdata/snapshots", "cluster-2.3.5-"+name, "metrics"),
		d.Add); err != nil {
		t.Fatal(err)
	}
	return d.Runtime("recording", name).Processes
}

// TestSixSearches checks the sums of a capture with six searches. They took 1,327 ms at the proxy. The
// shard leaders took 2,376 ms over twelve requests, 2,206 ms of them waiting for consistency. The C++ calls
// took 326 ms.
func TestSixSearches(t *testing.T) {
	var search, leader, wait, core, segments metrics.Histogram
	query := model.Pair{Key: "query_type", Value: "search"}
	add := func(sum *metrics.Histogram, w *metrics.Window, name metrics.Name, match ...model.Pair) {
		if h, ok := w.Histogram(name, append(match, query)...); ok {
			*sum = sum.Plus(h)
		}
	}
	for _, p := range loadCapture(t, "t1") {
		w := metrics.NewWindow(p.Before, p.Metrics)
		if !w.SinceStart || !strings.Contains(w.Reason, "only one scrape") ||
			!(w.Seconds() > 60 && w.Seconds() < 3600) || !w.Approximate {
			t.Errorf("%v: %v, %v s, %q", p.Nodes, w.SinceStart, w.Seconds(), w.Reason)
		}
		add(&search, w, metrics.ProxySearch)
		add(&leader, w, metrics.NodeRequest, model.Pair{Key: "scope", Value: "OnLeader"})
		add(&wait, w, metrics.ConsistencyWait)
		add(&core, w, metrics.CoreKernel)
		add(&segments, w, metrics.SegmentKernel)
	}
	for name, test := range map[string]struct {
		got        metrics.Histogram
		sum, count float64
	}{
		"proxy": {search, 1327, 6}, "leaders": {leader, 2376, 12}, "consistency": {wait, 2206, 12},
		"kernels": {core, 326, 35}, "segments": {segments, 377, 35},
	} {
		if test.got.Sum != test.sum || test.got.Count != test.count || !test.got.Truncated ||
			len(test.got.Buckets) == 0 {
			t.Errorf("%s: %v ms in %v, whole: %v, %d buckets", name, test.got.Sum, test.got.Count, test.got.Truncated,
				len(test.got.Buckets))
		}
	}
	if low, high, ok := search.Mean(); !ok || low != 1327.0/6 || high != 1327.0/6+1 {
		t.Errorf("mean from %v to %v", low, high)
	}
	if low, high, ok := wait.Quantile(0.5); !ok || low != 128 || high != 256 {
		t.Errorf("half of the waits are from %v to %v", low, high)
	}
}

// TestTableMatchesCaptures checks that metrics in the captures of 2.3.5 have the kind and labels of their row, and that
// nearly all rows expected in 2.3 occur.
func TestTableMatchesCaptures(t *testing.T) {
	told := map[string]*model.Family{}
	for _, name := range []string{"t1", "t3", "t7", "healthy-load"} {
		for _, p := range loadCapture(t, name) {
			for as, f := range p.Metrics.Families {
				if told[as] == nil {
					told[as] = &model.Family{Name: as, Kind: f.Kind}
				}
				told[as].Series = append(told[as].Series, f.Series...)
			}
		}
	}
	names, calls := map[metrics.Name]bool{}, map[string]bool{}
	// Names that only occur after an error, with a feature enabled or in other releases.
	rare := []string{
		"milvus_querynode_read_evicted_count", "milvus_proxy_limiter_rate", "milvus_proxy_sq_lantency",
		"milvus_querynode_sq_queue_lantency", "go_sched_gomaxprocs_threads", "milvus_rootcoord_time_tick_delay",
	}
	for _, m := range metrics.All() {
		if names[m.Name] || m.Name == "" || m.Help == "" || m.Source == "" || metrics.Lookup(m.Name) != m {
			t.Errorf("%s: %+v", m.Name, m)
		}
		names[m.Name] = true
		for _, c := range m.Spellings {
			if calls[c.Name] || metrics.Find(c.Name) != m {
				t.Errorf("%s is told twice, or not found", c.Name)
			}
			calls[c.Name] = true
			f := told[c.Name]
			expected := (c.Since == "" || c.Since <= "2.3") && (c.Until == "" || c.Until >= "2.3")
			if f == nil {
				if expected && !slices.Contains(rare, c.Name) {
					t.Errorf("%s should be in Milvus 2.3", c.Name)
				}
				continue
			}
			if !expected {
				t.Errorf("%s is in Milvus 2.3, and should not be", c.Name)
			}
			if f.Kind != m.Kind {
				t.Errorf("%s is a %s, the table says %s", c.Name, f.Kind, m.Kind)
			}
			for _, s := range f.Series {
				for _, l := range s.Labels {
					if l.Key != "node_id" && !strings.Contains(m.Labels, l.Key) {
						t.Errorf("%s has the label %s, which the table does not name: %q", c.Name, l.Key, m.Labels)
					}
				}
			}
		}
	}
	if m := metrics.Find("milvus_proxy_sq_latency_bucket"); m == nil || m.Name != metrics.ProxySearch {
		t.Errorf("by its buckets: %+v", m)
	}
	for _, as := range []string{"milvus_proxy_cache_hit_count_sum", "up", "", "_count"} {
		if m := metrics.Find(as); m != nil {
			t.Errorf("%q is %s", as, m.Name)
		}
	}
}

// scrape parses text as a scrape taken at a second.
func scrape(t testing.TB, second int, text string) *model.Metrics {
	t.Helper()
	m, err := parse(text, second)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(text string, second int) (*model.Metrics, error) {
	return live.ParseMetrics(strings.NewReader(text), time.Unix(1_795_170_000+int64(second), 0))
}

// process returns the metrics that every process exports.
func process(start, cpu, allocated int) string {
	return fmt.Sprintf("process_start_time_seconds %d\nprocess_cpu_seconds_total %d\n# TYPE "+
		"go_memstats_alloc_bytes_total counter\ngo_memstats_alloc_bytes_total %d\n", start, cpu, allocated)
}

func TestWindows(t *testing.T) {
	const start = 1_795_160_000
	now := scrape(t, 15, process(start, 20, 2000))
	for name, test := range map[string]struct {
		before     *model.Metrics
		sinceStart bool
		seconds    float64
		why        string
	}{
		"two scrapes":       {scrape(t, 0, process(start, 10, 1000)), false, 15, "between two scrapes"},
		"one":               {nil, true, 10_015, "because there is only one scrape"},
		"a restart":         {scrape(t, 0, process(start-500, 10, 1000)), true, 10_015, "was restarted"},
		"counters fell":     {scrape(t, 0, process(start, 30, 1000)), true, 10_015, "counters fell"},
		"a clock back":      {scrape(t, 30, process(start, 10, 1000)), true, 10_015, "the clock went back"},
		"the same time":     {scrape(t, 15, process(start, 10, 1000)), true, 10_015, "have the same time"},
		"told twice":        {scrape(t, 0, process(start, 20, 2000)), true, 10_015, "both scrapes are the same"},
		"nothing of itself": {scrape(t, 0, "up 1\n"), false, 15, "between two scrapes"},
	} {
		w := metrics.NewWindow(test.before, now)
		if w.SinceStart != test.sinceStart || w.Seconds() != test.seconds || !strings.Contains(w.Reason, test.why) ||
			w.Approximate || w.Scrape() != now {
			t.Errorf("%s: since start: %v, %v s, %q, about: %v", name, w.SinceStart, w.Seconds(), w.Reason,
				w.Approximate)
		}
	}
	if w := metrics.NewWindow(nil, scrape(t, 0, "up 1\n")); !w.From.IsZero() || w.Seconds() != 0 {
		t.Errorf("no start: %v", w.From)
	}
	before, now := scrape(t, 0, process(start, 10, 1000)), now
	before.At, now.At = time.Time{}, time.Time{}
	if w := metrics.NewWindow(before, now); w.SinceStart || w.Seconds() != 0 || w.Reason != "between two scrapes" {
		t.Errorf("two texts without times: %v, %v s, %q", w.SinceStart, w.Seconds(), w.Reason)
	}
	var none *metrics.Window
	if w := metrics.NewWindow(now, nil); w != none {
		t.Errorf("no newest scrape: %v", w)
	}
	if _, ok := none.Histogram(metrics.ProxySearch); ok || none.Seconds() != 0 ||
		none.Missing(metrics.ProxySearch) != "its metrics are unknown" || none.Scrape() != nil {
		t.Error("no window tells something")
	}
	if _, ok := none.Counter(metrics.ProxyRequests); ok {
		t.Error("no window counts")
	}
	if _, ok := none.Gauge(metrics.Goroutines); ok {
		t.Error("no window has a gauge")
	}
}

// TestIncreases checks the selection by labels, series that are new, gone, reset or reordered, and the spellings
// of releases.
func TestIncreases(t *testing.T) {
	before := scrape(t, 0, process(1_795_160_000, 10, 1000)+`# TYPE milvus_proxy_sq_lantency histogram
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="1"} 1
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="2"} 2
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="+Inf"} 4
milvus_proxy_sq_lantency_sum{node_id="1",query_type="search"} 20.5
milvus_proxy_sq_lantency_count{node_id="1",query_type="search"} 4
milvus_proxy_sq_lantency_sum{node_id="1",query_type="gone"} 7
milvus_proxy_sq_lantency_count{node_id="1",query_type="gone"} 1
# TYPE milvus_wal_append_message_duration_seconds histogram
milvus_wal_append_message_duration_seconds_bucket{le="0.5"} 1
milvus_wal_append_message_duration_seconds_bucket{le="+Inf"} 1
milvus_wal_append_message_duration_seconds_sum 0.25
milvus_wal_append_message_duration_seconds_count 1
# TYPE milvus_proxy_dql_req_count counter
milvus_proxy_dql_req_count{function_name="Search",status="total"} 5
milvus_proxy_dql_req_count{function_name="Query",status="total"} 9
`)
	now := scrape(t, 10, process(1_795_160_000, 11, 1100)+`# TYPE milvus_proxy_sq_lantency histogram
milvus_proxy_sq_lantency_sum{node_id="1",query_type="query"} 30
milvus_proxy_sq_lantency_count{node_id="1",query_type="query"} 3
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="1"} 2
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="2"} 6
milvus_proxy_sq_lantency_bucket{node_id="1",query_type="search",le="+Inf"} 14
milvus_proxy_sq_lantency_sum{node_id="1",query_type="search"} 120.5
milvus_proxy_sq_lantency_count{node_id="1",query_type="search"} 14
# TYPE milvus_wal_append_message_duration_seconds histogram
milvus_wal_append_message_duration_seconds_bucket{le="0.5"} 2
milvus_wal_append_message_duration_seconds_bucket{le="+Inf"} 3
milvus_wal_append_message_duration_seconds_sum 2.75
milvus_wal_append_message_duration_seconds_count 3
# TYPE milvus_proxy_dql_req_count counter
milvus_proxy_dql_req_count{function_name="Query",status="total"} 3
milvus_proxy_dql_req_count{function_name="Search",status="total"} 8
# TYPE milvus_proxy_dml_req_count counter
milvus_proxy_dml_req_count{function_name="Insert",status="total"} 2
# TYPE milvus_querynode_sq_req_latency gauge
milvus_querynode_sq_req_latency 5
# TYPE milvus_querynode_read_task_ready_len gauge
milvus_querynode_read_task_ready_len{node_id="1"} 4
milvus_querynode_read_task_ready_len{node_id="2"} 2
`)
	w := metrics.NewWindow(before, now)
	label := func(key, value string) model.Pair { return model.Pair{Key: key, Value: value} }
	h, ok := w.Histogram(metrics.ProxySearch, label("query_type", "search"))
	if !ok || h.Sum != 100 || h.Count != 10 || !slices.Equal(h.Buckets, []float64{1, 4}) ||
		!slices.Equal(h.Bounds, []float64{1, 2}) || h.Truncated {
		t.Errorf("searches: %+v, %v", h, ok)
	}
	if all, _ := w.Histogram(metrics.ProxySearch); all.Sum != 130 || all.Count != 13 || all.Buckets != nil {
		t.Errorf("all: %+v", all)
	}
	if _, ok := w.Histogram(metrics.ProxySearch, label("query_type", "gone")); ok {
		t.Error("a series that is gone is told")
	}
	if h, ok = w.Histogram(metrics.WALAppend); !ok || h.Sum != 2500 || h.Count != 2 ||
		!slices.Equal(h.Bounds, []float64{500}) || !slices.Equal(h.Buckets, []float64{1}) || h.Truncated {
		t.Errorf("the WAL: %+v, %v", h, ok)
	}
	for function, want := range map[string]float64{"Search": 3, "Query": 3, "Insert": 2} {
		if came, ok := w.Counter(metrics.ProxyRequests, label("function_name", function)); !ok || came != want {
			t.Errorf("%s: %v, %v", function, came, ok)
		}
	}
	if v, ok := w.Gauge(metrics.ReadReady); !ok || v != 6 {
		t.Errorf("ready: %v, %v", v, ok)
	}
	if v, ok := w.Gauge(metrics.ReadReady, label("node_id", "2")); !ok || v != 2 {
		t.Errorf("ready on node 2: %v, %v", v, ok)
	}
	for name, want := range map[metrics.Name]string{
		metrics.NodeRequest: "milvus_querynode_sq_req_latency is a gauge, not a histogram", metrics.ProxySearch: "",
		metrics.ReadReady: "",
		metrics.ConsistencyWait: "it does not export milvus_querynode_sq_wait_tsafe_latency, which Milvus has " +
			"since 2.3", "x": "no metric is called x",
		metrics.ProxyTask: "it does not export milvus_proxy_sq_wait_result_latency",
	} {
		if got := w.Missing(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// A metric of another kind is not found.
	_, asHistogram := w.Histogram(metrics.NodeRequest)
	_, asCounter := w.Counter(metrics.ProxySearch)
	_, asGauge := w.Gauge(metrics.ProxyRequests)
	if asHistogram || asCounter || asGauge {
		t.Errorf("%v %v %v", asHistogram, asCounter, asGauge)
	}
}

func TestMeansAndQuantiles(t *testing.T) {
	bounds := []float64{1, 2, 4}
	of := func(count float64, buckets ...float64) metrics.Histogram {
		return metrics.Histogram{Sum: 30, Count: count, Bounds: bounds, Buckets: buckets}
	}
	for name, test := range map[string]struct {
		h         metrics.Histogram
		q         float64
		low, high float64
		ok        bool
	}{
		"the first bucket": {of(10, 5, 8, 9), 0.5, 0, 1, true}, "just beyond it": {of(10, 5, 8, 9), 0.51, 1, 2, true},
		"the last": {of(10, 5, 8, 9), 0.9, 2, 4, true}, "beyond all": {of(10, 5, 8, 9), 0.99, 4, math.Inf(1), true},
		"the least": {of(10, 5, 8, 9), 0, 0, 1, true}, "the most": {of(9, 5, 8, 9), 1, 2, 4, true},
		"an empty one is passed": {of(10, 0, 0, 9), 0.01, 2, 4, true}, "nothing": {of(0, 0, 0, 0), 0.5, 0, 0, false},
		"no buckets": {of(10), 0.5, 0, 0, false}, "no share": {of(10, 5, 8, 9), 1.5, 0, 0, false},
		"NaN": {of(10, 5, 8, 9), math.NaN(), 0, 0, false},
	} {
		if low, high, ok := test.h.Quantile(test.q); low != test.low || high != test.high || ok != test.ok {
			t.Errorf("%s: from %v to %v, %v", name, low, high, ok)
		}
	}
	whole := of(10, 5, 8, 9)
	whole.Truncated = true
	for h, want := range map[string][2]float64{"fractions": {3, 3}, "whole": {3, 4}} {
		x := map[string]metrics.Histogram{"fractions": of(10, 5, 8, 9), "whole": whole}[h]
		if low, high, ok := x.Mean(); !ok || low != want[0] || high != want[1] {
			t.Errorf("%s: from %v to %v", h, low, high)
		}
	}
	for _, h := range []metrics.Histogram{{}, {Sum: math.NaN(), Count: 4}, {Count: math.NaN()}} {
		if low, high, ok := h.Mean(); ok {
			t.Errorf("%+v: from %v to %v", h, low, high)
		}
	}
	sum := of(10, 5, 8, 9).Plus(of(5, 0, 1, 5))
	if sum.Count != 15 || !slices.Equal(sum.Buckets, []float64{5, 9, 14}) {
		t.Errorf("sum: %+v", sum)
	}
	if odd := of(10, 5, 8, 9).Plus(metrics.Histogram{
		Sum: 1, Count: 1, Bounds: []float64{7, 8, 9}, Buckets: []float64{1, 1, 1},
	}); odd.Count != 11 || odd.Buckets != nil {
		t.Errorf("other bounds: %+v", odd)
	}
	if same := (metrics.Histogram{}).Plus(whole); same.Count != 10 || !same.Truncated ||
		!slices.Equal(same.Buckets, whole.Buckets) {
		t.Errorf("nothing and all: %+v", same)
	}
}

// TestTruncatedPerFamily checks that one sum with a fraction marks the whole family as not truncated.
func TestTruncatedPerFamily(t *testing.T) {
	const text = `# TYPE milvus_querynode_sq_segment_latency histogram
milvus_querynode_sq_segment_latency_sum{segment_state="Growing"} 7
milvus_querynode_sq_segment_latency_count{segment_state="Growing"} 2
milvus_querynode_sq_segment_latency_sum{segment_state="Sealed"} %s
milvus_querynode_sq_segment_latency_count{segment_state="Sealed"} 2
`
	for sum, want := range map[string]bool{"9": true, "9.5": false, "NaN": true} {
		h, ok := metrics.NewWindow(nil, scrape(t, 0, fmt.Sprintf(text, sum))).Histogram(metrics.SegmentKernel,
			model.Pair{Key: "segment_state", Value: "Growing"})
		if !ok || h.Truncated != want {
			t.Errorf("a sum of %s: whole %v", sum, h.Truncated)
		}
	}
	if h, _ := metrics.NewWindow(nil,
		scrape(t, 0,
			"# TYPE milvus_querynode_search_nq histogram\nmilvus_querynode_search_nq_sum 10\n"+
				"milvus_querynode_search_nq_count 2\n")).
		Histogram(metrics.RequestVectors); h.Truncated || h.Count != 2 {
		t.Errorf("what counts is not cut: %+v", h)
	}
}

// TestEveryNameHasARow checks that each constant has a row in the table.
func TestEveryNameHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Type == nil || fmt.Sprint(v.Type) != "Name" {
			return true
		}
		names++
		text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if m := metrics.Lookup(metrics.Name(text)); err != nil || m == nil {
			t.Errorf("%s has no row", v.Names[0])
		}
		return true
	})
	if names != len(metrics.All()) {
		t.Errorf("%d names, %d rows", names, len(metrics.All()))
	}
}
