package recorded

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

const runningText = `# HELP process_start_time_seconds Start time of the process.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7951616e+09
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 6
# TYPE go_memstats_alloc_bytes_total counter
go_memstats_alloc_bytes_total 1e+06
# TYPE milvus_proxy_sq_latency histogram
milvus_proxy_sq_latency_bucket{node_id="18",query_type="search",le="8"} 0
milvus_proxy_sq_latency_bucket{node_id="18",query_type="search",le="64"} 2
milvus_proxy_sq_latency_bucket{node_id="18",query_type="search",le="+Inf"} 3
milvus_proxy_sq_latency_sum{node_id="18",query_type="search"} 200
milvus_proxy_sq_latency_count{node_id="18",query_type="search"} 3
# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0.5"} 0.5
go_gc_duration_seconds_sum 5
go_gc_duration_seconds_count 10
# TYPE milvus_proxy_req_count counter
milvus_proxy_req_count{function_name="Search",status="a b # c"} 7
# TYPE go_goroutines gauge
go_goroutines 70
of_no_type 3
`

// recordedAt is one minute after the start of the process in the text.
var recordedAt = time.Unix(1795161600+60, 0)

// TestCountersIncrease checks that counters and histograms increase at their mean rate, a histogram by whole
// observations with the same mean, and that all else stays constant.
func TestCountersIncrease(t *testing.T) {
	c := readCounters([]byte(runningText), recordedAt)
	if c == nil {
		t.Fatal("nothing runs on")
	}
	if got := string(c.textAfter(0)); got != runningText {
		t.Errorf("in no time it became\n%s", got)
	}
	got := string(c.textAfter(50 * time.Second)) // 110 s instead of 60
	for _, want := range []string{
		"process_start_time_seconds 1.7951616e+09\n", "process_cpu_seconds_total 11\n",
		"go_memstats_alloc_bytes_total 1.833333e+06\n",
		`query_type="search",le="8"} 0` + "\n", `le="64"} 3` + "\n", `le="+Inf"} 5` + "\n",
		`_sum{node_id="18",query_type="search"} 333` + "\n",
		`_count{node_id="18",query_type="search"} 5` + "\n", `{quantile="0.5"} 0.5` + "\n",
		"go_gc_duration_seconds_sum 9\n", "go_gc_duration_seconds_count 18\n",
		`status="a b # c"} 12` + "\n", "go_goroutines 70\n", "of_no_type 3\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if len(strings.Split(got, "\n")) != len(strings.Split(runningText, "\n")) {
		t.Errorf("other lines:\n%s", got)
	}
}

// TestCountersIncreaseInWindow checks that two scrapes yield the mean and the rate of the recording, at any time.
func TestCountersIncreaseInWindow(t *testing.T) {
	c := readCounters([]byte(runningText), recordedAt)
	scrape := func(ran time.Duration) *model.Metrics {
		m, err := live.ParseMetrics(strings.NewReader(string(c.textAfter(ran))), recordedAt.Add(ran))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for at := time.Duration(0); at < time.Hour; at += 7 * time.Minute {
		w := metrics.NewWindow(scrape(at), scrape(at+20*time.Minute))
		h, ok := w.Histogram(metrics.ProxySearch)
		if !ok || w.SinceStart || h.Count != 60 || h.Sum < 3999 || h.Sum > 4001 || len(h.Buckets) != 2 ||
			h.Buckets[1] != 40 || !h.Truncated {
			t.Errorf("after %s came %+v (%s), want 60 of 66.7 ms", at, h, w.Reason)
		}
	}
}

// TestConstantMetrics checks that a text without a start time is served unchanged.
func TestConstantMetrics(t *testing.T) {
	for name, text := range map[string]string{
		"no start":         "# TYPE a counter\na 3\n",
		"starts later":     "# TYPE a counter\na 3\nprocess_start_time_seconds 1.8e+09\n",
		"nothing counts":   "process_start_time_seconds 1.7951616e+09\n# TYPE g gauge\ng 3\n",
		"no metrics":       "<html><body>log in</body></html>",
		"broken":           "# TYPE a counter\na{\na NaN\na x\n 3\nprocess_start_time_seconds 1.7951616e+09\n",
		"nothing":          "",
		"a line without a": " \n#\n",
	} {
		if c := readCounters([]byte(text), recordedAt); c != nil {
			t.Errorf("%s: it runs on: %s", name, c.textAfter(time.Minute))
		}
	}
}
