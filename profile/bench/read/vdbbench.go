package read

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/profile/bench"
)

// vectorDBBench is what VectorDBBench saves for a task: TestResult in
// https://github.com/zilliztech/VectorDBBench/blob/main/vectordb_bench/models.py with the Metric of metric.py. Latencies and
// durations are seconds there; its own reader multiplies by 1000 to show milliseconds.
func vectorDBBench() format {
	return format{
		Format: Format{"vectordbbench", "result_*.json of VectorDBBench: a file is a run"},
		sniff: func(d *doc) bool {
			return has(d.object, "run_id", "results") && hasAny(d.head, `"task_config"`, `"task_label"`, `"case_config"`)
		},
		read: readVectorDBBench,
	}
}

type vdbFile struct {
	Results []vdbCase `json:"results"`
}

type vdbCase struct {
	Metrics vdbMetrics `json:"metrics"`
	Task    struct {
		DB       string `json:"db"`
		DBConfig struct {
			Label string `json:"db_label"`
		} `json:"db_config"`
		Index json.RawMessage `json:"db_case_config"`
		Case  struct {
			ID int `json:"case_id"`
			K  int `json:"k"`
		} `json:"case_config"`
	} `json:"task_config"`
	Label string `json:"label"`
}

// vdbMetrics are the fields of Metric that are read.
type vdbMetrics map[string]json.RawMessage

// UnmarshalJSON takes the fields that are read.
func (m *vdbMetrics) UnmarshalJSON(raw []byte) error {
	keys := []string{"conc_num_list"}
	for _, f := range vdbFigures {
		keys = append(keys, f.key)
	}
	for _, f := range vdbLists {
		keys = append(keys, f.key)
	}
	*m = pickFrom(raw, keys...)
	return nil
}

// vdbFigures are the figures of one case; what is 0 was not measured.
var vdbFigures = []struct {
	key, name, unit string
	better          bench.Direction
}{
	{"qps", "QPS", "1/s", bench.HigherIsBetter},
	{"serial_latency_p99", "serial p99 latency", "s", bench.LowerIsBetter},
	{"serial_latency_p95", "serial p95 latency", "s", bench.LowerIsBetter},
	{"serial_latency_p50", "serial p50 latency", "s", bench.LowerIsBetter},
	{"recall", "recall", "", bench.HigherIsBetter},
	{"ndcg", "ndcg", "", bench.HigherIsBetter},
	{"mrr", "mrr", "", bench.HigherIsBetter},
	{"insert_duration", "insert duration", "s", bench.LowerIsBetter},
	{"optimize_duration", "optimize duration", "s", bench.LowerIsBetter},
	{"load_duration", "load duration", "s", bench.LowerIsBetter},
	{"max_load_count", "max load count", "", bench.HigherIsBetter},
	{"insert_rows_per_second", "insert rows", "1/s", bench.HigherIsBetter},
}

// vdbLists are figures by concurrency, beside conc_num_list.
var vdbLists = []struct {
	key, name, unit string
	better          bench.Direction
}{
	{"conc_qps_list", "concurrent QPS", "1/s", bench.HigherIsBetter},
	{"conc_latency_p99_list", "concurrent p99 latency", "s", bench.LowerIsBetter},
	{"conc_latency_p95_list", "concurrent p95 latency", "s", bench.LowerIsBetter},
	{"conc_latency_avg_list", "concurrent mean latency", "s", bench.LowerIsBetter},
}

func readVectorDBBench(d *doc) ([]*bench.Set, error) {
	var file vdbFile
	if err := d.decode(&file); err != nil {
		return nil, err
	}
	if len(file.Results) > maxRuns {
		return nil, fmt.Errorf("it has more than %d cases", maxRuns)
	}
	s := newSheet(d)
	run := s.begin("")
	names := vdbNames(file.Results)
	for i := range file.Results {
		if c := &file.Results[i]; c.Label == "x" || c.Label == "?" {
			// ResultLabel of models.py: ":)" is a case that went well, "x" one that failed, "?" one out of range.
			d.skip("a case that did not go well was left out", names[i])
		} else {
			c.into(s, run, names[i])
		}
	}
	return s.one()
}

// vdbNames tells the cases of a file apart by no more than they differ in: a label of a database that is another one on
// the other side would leave nothing to compare.
func vdbNames(cases []vdbCase) []string {
	settings := map[string]map[string]bool{}
	for i := range cases {
		for key, value := range cases[i].settings() {
			if settings[key] == nil {
				settings[key] = map[string]bool{}
			}
			settings[key][value] = true
		}
	}
	names := make([]string, len(cases))
	seen := map[string]int{}
	for i := range cases {
		parts := []string{"case " + strconv.Itoa(cases[i].Task.Case.ID)}
		own := cases[i].settings()
		for _, key := range slices.Sorted(maps.Keys(own)) {
			if len(settings[key]) > 1 {
				parts = append(parts, key+"="+own[key])
			}
		}
		name := strings.Join(parts, " ")
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s #%d", name, seen[name])
		}
		names[i] = name
	}
	return names
}

// settings are what a case was run with, but for what has an own place in its name.
func (c *vdbCase) settings() map[string]string {
	all := map[string]string{"db": c.Task.DB, "label": c.Task.DBConfig.Label, "k": strconv.Itoa(c.Task.Case.K)}
	const most = 64 << 10 // a dozen settings take some hundred bytes
	index := map[string]json.RawMessage{}
	if len(c.Task.Index) <= most && json.Unmarshal(c.Task.Index, &index) != nil {
		return all // no settings
	}
	for key, value := range index {
		if text := strings.Trim(string(value), `"`); len(text) < 50 && text != "null" && !strings.HasPrefix(text, "{") {
			all[key] = text
		}
	}
	return all
}

func (c *vdbCase) into(s *sheet, run int, of string) {
	for _, f := range vdbFigures {
		var x float64
		raw, ok := c.Metrics[f.key]
		if !ok || string(raw) == "null" {
			continue
		}
		if json.Unmarshal(raw, &x) != nil {
			s.d.skip("skipped values that are not numbers", of+": "+f.key)
			continue
		}
		if x != 0 { // the fields are there with 0 where the stage was not run
			s.add(run, bench.Metric{Of: of, Name: f.name, Unit: f.unit}, x, f.better)
		}
	}
	var clients []int
	if c.list(s, of, "conc_num_list", &clients); len(clients) == 0 {
		return
	}
	for _, f := range vdbLists {
		var list []float64
		c.list(s, of, f.key, &list)
		if len(list) != len(clients) && len(list) > 0 {
			s.d.skip("a list that is not as long as conc_num_list was left out", of+": "+f.key)
			continue
		}
		for i, x := range list {
			s.add(run, bench.Metric{Of: of, Name: f.name, Unit: f.unit, Concurrency: max(clients[i], 0)}, x, f.better)
		}
	}
}

func (c *vdbCase) list(s *sheet, of, key string, into any) {
	raw, ok := c.Metrics[key]
	if ok && json.Unmarshal(raw, into) != nil {
		s.d.skip("skipped a value that is not a list of numbers", of+": "+key)
	}
}
