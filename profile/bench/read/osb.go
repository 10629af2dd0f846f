package read

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/redact"
	"kitescope/profile/bench"
)

// openSearchRun reads the test_run.json of OpenSearch Benchmark, and the race.json of its predecessor,
// Elasticsearch's Rally: TestRun.as_dict and GlobalStats in
// https://github.com/opensearch-project/opensearch-benchmark/blob/main/osbenchmark/metrics.py. Latencies and
// shard totals are in milliseconds, whatever unit the summary shows.
func openSearchRun() format {
	return format{
		Format: Format{
			"opensearch benchmark", "test_run.json of OpenSearch Benchmark, race.json of Rally: a file is a run",
		},
		sniff: func(d *doc) bool {
			return has(d.object, "results") &&
				(has(d.object, "test-run-id") || has(d.object, "test-execution-id") || has(d.object, "race-id"))
		},
		read: readOpenSearchRun,
	}
}

type osbRun struct {
	Results struct {
		Ops         []json.RawMessage `json:"op_metrics"`
		Correctness []json.RawMessage `json:"correctness_metrics"`
	} `json:"results"`
}

// osbTotals lists the figures of the whole run, with the names of the summary.
var osbTotals = []struct{ key, name, unit string }{
	{"total_time", "Cumulative indexing time of primary shards", "ms"},
	{"indexing_throttle_time", "Cumulative indexing throttle time of primary shards", "ms"},
	{"merge_time", "Cumulative merge time of primary shards", "ms"},
	{"merge_count", "Cumulative merge count of primary shards", ""},
	{"merge_throttle_time", "Cumulative merge throttle time of primary shards", "ms"},
	{"refresh_time", "Cumulative refresh time of primary shards", "ms"},
	{"refresh_count", "Cumulative refresh count of primary shards", ""},
	{"flush_time", "Cumulative flush time of primary shards", "ms"},
	{"flush_count", "Cumulative flush count of primary shards", ""},
	{"young_gc_time", "Total Young Gen GC time", "ms"},
	{"young_gc_count", "Total Young Gen GC count", ""},
	{"old_gc_time", "Total Old Gen GC time", "ms"},
	{"old_gc_count", "Total Old Gen GC count", ""},
	{"store_size", "Store size", "B"},
	{"translog_size", "Translog size", "B"},
	{"segment_count", "Segment count", ""},
}

func readOpenSearchRun(d *doc) ([]*bench.Set, error) {
	var file osbRun
	if err := d.decode(&file); err != nil {
		return nil, err
	}
	s := newSheet(d)
	run := s.begin("")
	s.load = osbLoad(d)
	for _, raw := range file.Results.Ops {
		osbOperation(s, run,
			pickFrom(raw, "task", "operation", "throughput", "latency", "service_time", "processing_time",
				"error_rate"))
		if s.err != nil {
			return nil, s.err
		}
	}
	for _, raw := range file.Results.Correctness {
		op := pickFrom(raw, "task", "recall@k", "recall@1")
		for _, key := range []string{"recall@k", "recall@1"} {
			osbStatistic(s, run, textOf(op["task"]), "Mean "+key, op[key], "mean", "", bench.HigherIsBetter)
		}
	}
	var keys []string
	for _, t := range osbTotals {
		keys = append(keys, t.key)
	}
	totals := pickFrom(d.object["results"], keys...)
	for _, t := range osbTotals {
		var x *float64
		if json.Unmarshal(totals[t.key], &x) == nil && x != nil {
			s.add(run, bench.Metric{Name: t.name, Unit: t.unit}, *x, bench.LowerIsBetter)
		}
	}
	return s.onlySet()
}

// osbLoad returns the workload, the test procedure and the parameters that set a load. The file does not
// include the defaults of a workload.
func osbLoad(d *doc) string {
	var load []string
	add := func(name, value string) { load = append(load, name+"="+redact.Pair(name, value)) }
	for _, key := range []string{"workload", "track", "test_procedure", "challenge"} {
		if value := textOf(d.object[key]); value != "" {
			add(key, value)
		}
	}
	params := map[string]json.RawMessage{}
	for _, key := range []string{"workload-params", "track-params"} {
		if raw := d.object[key]; raw != nil && json.Unmarshal(raw, &params) != nil {
			d.note(key + " is not an object and was left out")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		words := wordsOf(strings.ToLower(name))
		if !hasAny(words, " throughput ", " rate ", " interval ", " clients ") {
			continue
		}
		value := strings.Trim(string(params[name]), `"`)
		if add(name, value); strings.Contains(words, " throughput ") {
			d.note("throughput was limited by " + clean(load[len(load)-1]) + ": it does not show the maximum")
		}
	}
	return clean(strings.Join(load, " "))
}

// osbOperation reads the figures of a task: throughput, percentiles of times, and the share of errors.
func osbOperation(s *sheet, run int, op map[string]json.RawMessage) {
	task := textOf(op["task"])
	if task == "" {
		s.d.skip("a task without a name was left out", textOf(op["operation"]))
		return
	}
	var throughput struct {
		Unit string `json:"unit"`
	}
	if raw, ok := op["throughput"]; ok && json.Unmarshal(raw, &throughput) == nil {
		for _, which := range []string{"min", "mean", "median", "max"} {
			name := strings.ToUpper(which[:1]) + which[1:] + " Throughput"
			osbStatistic(s, run, task, name, raw, which, throughput.Unit, bench.HigherIsBetter)
		}
	}
	for _, times := range []string{"latency", "service_time", "processing_time"} {
		osbPercentiles(s, run, task, strings.ReplaceAll(times, "_", " "), op[times])
	}
	var rate *float64
	if json.Unmarshal(op["error_rate"], &rate) == nil && rate != nil {
		s.add(run, bench.Metric{Benchmark: task, Name: "error rate", Unit: "%"}, *rate*100, bench.LowerIsBetter)
	}
}

// osbPercentiles reads {"50_0": 1.2, "99_9": 3.4, "mean": 1.3, "unit": "ms"}. It uses the names of the summary.
func osbPercentiles(s *sheet, run int, task, name string, raw json.RawMessage) {
	const most = 64 << 10 // a dozen percentiles take some hundred bytes
	var all map[string]json.RawMessage
	if len(raw) == 0 || len(raw) > most || json.Unmarshal(raw, &all) != nil {
		return
	}
	unit := "ms"
	if u := textOf(all["unit"]); u != "" {
		unit = u
	}
	type percentile struct{ p, x float64 }
	var found []percentile
	for key, value := range all {
		var x *float64
		p, err := strconv.ParseFloat(strings.ReplaceAll(key, "_", "."), 64)
		if err == nil && json.Unmarshal(value, &x) == nil && x != nil {
			found = append(found, percentile{p, *x})
		}
	}
	slices.SortFunc(found, func(a, b percentile) int { return int((a.p - b.p) * 1e6) })
	for _, f := range found {
		label := strconv.FormatFloat(f.p, 'f', -1, 64) + "th percentile " + name
		s.add(run, bench.Metric{Benchmark: task, Name: label, Unit: unit}, f.x, bench.LowerIsBetter)
	}
}

func osbStatistic(
	s *sheet, run int, task, name string, raw json.RawMessage, which, unit string, better bench.Direction,
) {
	var x *float64
	if json.Unmarshal(pickFrom(raw, which)[which], &x) == nil && x != nil {
		s.add(run, bench.Metric{Benchmark: task, Name: name, Unit: unit}, *x, better)
	}
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
