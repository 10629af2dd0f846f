package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"kitescope/internal/redact"
	"kitescope/profile/bench"
)

// vectorDBBench reads the result that VectorDBBench saves for a task: TestResult in
// https://github.com/zilliztech/VectorDBBench/blob/main/vectordb_bench/models.py with the Metric of metric.py.
// Latencies and durations in the file are in seconds; VectorDBBench multiplies by 1000 to show milliseconds.
func vectorDBBench() format {
	return format{
		Format: Format{
			"vectordbbench", "result_*.json of VectorDBBench: a file is a run; settings that differ are sides",
		},
		sniff: func(d *doc) bool {
			return has(d.object, "run_id", "results") &&
				hasAny(d.head, `"task_config"`, `"task_label"`, `"case_config"`)
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
		DB       string          `json:"db"`
		DBConfig json.RawMessage `json:"db_config"`
		Index    json.RawMessage `json:"db_case_config"`
		Case     struct {
			ID          int             `json:"case_id"`
			Custom      json.RawMessage `json:"custom_case"`
			K           int             `json:"k"`
			Concurrency json.RawMessage `json:"concurrency_search_config"`
		} `json:"case_config"`
	} `json:"task_config"`
	Label string `json:"label"`
}

// vdbMetrics holds the fields of Metric that are read.
type vdbMetrics map[string]json.RawMessage

// UnmarshalJSON decodes the fields that are read.
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

// vdbFigures lists the figures of a case. A value of 0 was not measured.
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

// vdbLists lists the figures that have a value for each element of conc_num_list, in the same order.
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
	all := sides{d: d}
	workloads, settings := vdbNames(file.Results)
	first, times := map[string]int{}, map[string]int{}
	for i := range file.Results {
		c, side, of := &file.Results[i], settings[i], workloads[i]
		name := clean(of + side)
		if c.Label == "x" || c.Label == "?" {
			// In ResultLabel of models.py ":)" is a successful case, "x" a failed one, and "?" one out of range.
			d.skip("a failed case was left out", name)
			continue
		}
		if at, ok := first[name]; !ok {
			first[name] = i
		} else if !maps.Equal(c.settings(), file.Results[at].settings()) {
			d.skip("a case that differs from another only in settings too long or too secret to show was left out",
				name)
			continue
		} else if times[name] == 1 {
			d.skip("a case with the same settings as another counts as another run", name)
		}
		times[name]++
		if d.o.Side {
			side, of = "", name
		}
		s, err := all.side(side)
		if err != nil {
			return nil, err
		}
		if d.o.Side { // NameSettings names settings that differ from the other side
			s.setup = c.setup(workloads[i])
		}
		c.addTo(s, s.run(strconv.Itoa(times[name])), of)
	}
	return all.sets()
}

// vdbNames returns the names of the cases of a file in two parts. Only equal workloads are compared. A setting
// is in the name only if it differs between cases with the same workload, because it may be the change under
// test. Names do not include the label of a database, which would make all cases incomparable.
func vdbNames(cases []vdbCase) (workloads, settings []string) {
	alike := map[string]map[string]string{} // by workload, the settings that all its cases share
	for i := range cases {
		own := cases[i].settings()
		workload := cases[i].workload(own)
		workloads = append(workloads, workload)
		shared, ok := alike[workload]
		if !ok {
			alike[workload] = own
			continue
		}
		maps.DeleteFunc(shared, func(key, value string) bool { return own[key] != value })
	}
	for i, workload := range workloads {
		own := cases[i].settings()
		maps.DeleteFunc(own, func(key, _ string) bool { _, ok := alike[workload][key]; return ok })
		settings = append(settings, formatVDBSettings(own))
	}
	return workloads, settings
}

// workload returns the name of the workload: the case, the definition of a custom case (e.g. its data set,
// filter or insert rate), and k unless it is the default.
func (c *vdbCase) workload(settings map[string]string) string {
	custom := map[string]string{}
	for key, value := range settings {
		if strings.HasPrefix(key, "custom.") {
			custom[key] = value
		}
	}
	return "case " + strconv.Itoa(c.Task.Case.ID) + formatVDBSettings(custom)
}

// setup returns the settings in a form that is safe to display.
func (c *vdbCase) setup(workload string) *bench.Setup {
	settings := c.settings()
	maps.DeleteFunc(settings, func(key, _ string) bool { return key == "case" || strings.HasPrefix(key, "custom.") })
	for key, value := range withoutSecrets(settings) {
		settings[key] = clean(value)
	}
	return &bench.Setup{Case: clean(workload), Settings: settings}
}

// settings returns all settings that define a result, with a prefix for the section of the file.
func (c *vdbCase) settings() map[string]string {
	all := map[string]string{"case": strconv.Itoa(c.Task.Case.ID), "db": c.Task.DB}
	vdbFlatten(all, "custom.", c.Task.Case.Custom)
	const defaultK = 100 // K_DEFAULT of vectordb_bench/__init__.py; older files have no k
	if k := c.Task.Case.K; k != 0 && k != defaultK {
		all["custom.k"] = strconv.Itoa(k)
	}
	vdbFlatten(all, "config.", c.Task.DBConfig)
	vdbFlatten(all, "load.", c.Task.Case.Concurrency)
	vdbFlatten(all, "index.", c.Task.Index)
	return all
}

// vdbFlatten adds the fields of an object and of nested objects. It skips fields that are null or empty.
func vdbFlatten(into map[string]string, section string, raw json.RawMessage) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return // null, or not an object
	}
	for key, value := range fields {
		if bytes.HasPrefix(value, []byte("{")) {
			vdbFlatten(into, section+key+".", value)
			continue
		}
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil {
			continue
		}
		at := section + key
		if key == "dir" { // the location of a data set does not identify it
			at = "config." + at
		}
		text := strings.Trim(compact.String(), `"`)
		if text == "null" || text == "" || text == "[]" {
			continue
		}
		const exact = 1 << 53 // larger integers are not exact as float64
		var x float64
		// 16.0 is 16; text that looks like a number may be a version
		if json.Unmarshal(value, &x) == nil && math.Abs(x) < exact {
			text = strconv.FormatFloat(x, 'f', -1, 64)
		}
		into[at] = text
	}
}

// formatVDBSettings formats settings as " M=16 ef=100", without sections and secrets.
func formatVDBSettings(settings map[string]string) string {
	return bench.FormatSettings(withoutSecrets(settings))
}

// withoutSecrets returns settings without secrets.
func withoutSecrets(settings map[string]string) map[string]string {
	redacted := map[string]string{}
	for key, value := range settings {
		redacted[key] = redact.Pair(key[strings.LastIndexByte(key, '.')+1:], value)
	}
	return redacted
}

func (c *vdbCase) addTo(s *sheet, run int, benchmark string) {
	var clients []int
	c.list(s, benchmark, "conc_num_list", &clients)
	for _, f := range vdbFigures {
		if s.load = ""; f.key == "qps" && len(clients) > 0 { // the maximum over all numbers of clients
			s.load = clean("clients=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(clients), " ", ","), "[]"))
		}
		var x float64
		raw, ok := c.Metrics[f.key]
		if !ok || string(raw) == "null" {
			continue
		}
		if json.Unmarshal(raw, &x) != nil {
			s.d.skip("skipped values that are not numbers", benchmark+": "+f.key)
			continue
		}
		if x != 0 { // fields of stages that were not run are 0
			s.add(run, bench.Metric{Benchmark: benchmark, Name: f.name, Unit: f.unit}, x, f.better)
		}
	}
	s.load = ""
	for _, f := range vdbLists {
		var list []float64
		c.list(s, benchmark, f.key, &list)
		if len(list) != len(clients) && len(list) > 0 {
			s.d.skip("a list that is not as long as conc_num_list was left out", benchmark+": "+f.key)
			continue
		}
		for i, x := range list {
			s.add(run, bench.Metric{Benchmark: benchmark, Name: f.name, Unit: f.unit, Concurrency: max(clients[i], 0)},
				x, f.better)
		}
	}
}

func (c *vdbCase) list(s *sheet, benchmark, key string, into any) {
	raw, ok := c.Metrics[key]
	if ok && json.Unmarshal(raw, into) != nil {
		s.d.skip("skipped a value that is not a list of numbers", benchmark+": "+key)
	}
}
