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

// jmhJSON reads the output of JMH with "-rf json": JSONResultFormat.java of https://github.com/openjdk/jmh, in
// jmh-core/src/main/java/org/openjdk/jmh/results/format. rawData has a list of iterations for each fork. A fork
// is a start of the program and counts as a run. The iterations of a fork share its compiled code and its heap,
// so their mean is one value.
func jmhJSON() format {
	return format{
		Format: Format{"jmh", "JSON of JMH (-rf json): each fork is a run; parameters that differ are sides"},
		sniff:  func(d *doc) bool { return has(d.element, "benchmark", "mode", "primaryMetric") },
		read:   readJMH,
	}
}

type jmhResult struct {
	Benchmark string               `json:"benchmark"`
	Mode      string               `json:"mode"`
	Threads   int                  `json:"threads"`
	Params    map[string]string    `json:"params"`
	Primary   jmhMetric            `json:"primaryMetric"`
	Secondary map[string]jmhMetric `json:"secondaryMetrics"`
}

type jmhMetric struct {
	// Score is a number, or "NaN" in quotes.
	Score json.RawMessage     `json:"score"`
	Unit  string              `json:"scoreUnit"`
	Raw   [][]json.RawMessage `json:"rawData"`
	// Histogram replaces Raw in the mode that samples times: forks of iterations of [time, count].
	Histogram [][][][2]float64 `json:"rawDataHistogram"`
}

// jmhModes returns the metric name for a mode.
func jmhModes(mode string) string {
	switch mode {
	case "thrpt":
		return "throughput"
	case "avgt":
		return "mean time"
	case "sample":
		return "sampled time"
	case "ss":
		return "single shot time"
	}
	return mode
}

func readJMH(d *doc) ([]*bench.Set, error) {
	var results []jmhResult
	if err := d.decode(&results); err != nil {
		return nil, err
	}
	if len(results) > maxMetrics {
		return nil, fmt.Errorf("it has more than %d benchmarks", maxMetrics)
	}
	all := sides{d: d}
	varies := jmhVarying(results)
	single, iterations := 0, 0
	for i := range results {
		r := &results[i]
		own := maps.Clone(r.Params)
		if !d.o.Side {
			maps.DeleteFunc(own, func(key, _ string) bool { return varies[jmhParameter{r.Benchmark, key}] })
		}
		of, side := r.Benchmark+settings(own), maps.Clone(r.Params)
		maps.DeleteFunc(side, func(key, _ string) bool { _, ok := own[key]; return ok })
		s, err := all.side(settings(side))
		if err != nil {
			return nil, err
		}
		m := bench.Metric{Benchmark: of, Name: jmhModes(r.Mode), Unit: r.Primary.Unit}
		if r.Threads > 1 {
			m.Concurrency = r.Threads
		}
		forks := r.Primary.forks()
		r.Primary.addTo(s, m, jmhBetter(r.Mode, r.Primary.Unit))
		if len(forks) == 1 {
			single++
			iterations = max(iterations, r.Primary.iterations())
		}
		for _, name := range slices.Sorted(maps.Keys(r.Secondary)) {
			second := r.Secondary[name]
			// The leading dot of "·gc.alloc.rate" is only for sorting.
			m.Name, m.Unit = strings.TrimLeft(name, "·+"), second.Unit
			second.addTo(s, m, jmhBetter("", second.Unit))
		}
	}
	if single > 0 && iterations > 1 {
		d.note(fmt.Sprintf("%d of %d benchmarks ran in a single fork, one run: its %d iterations are not "+
			"independent; run JMH with -f 5 or more",
			single, len(results), iterations))
	}
	return all.sets()
}

// jmhParameter is a parameter of a benchmark.
type jmhParameter struct{ benchmark, key string }

// jmhVarying returns the parameters that have several values in the results of a benchmark.
func jmhVarying(results []jmhResult) map[jmhParameter]bool {
	first, varies := map[jmhParameter]string{}, map[jmhParameter]bool{}
	for i := range results {
		for key, value := range results[i].Params {
			p := jmhParameter{results[i].Benchmark, key}
			have, known := first[p]
			if !known {
				first[p] = value
			}
			varies[p] = varies[p] || known && have != value
		}
	}
	return varies
}

func (m *jmhMetric) iterations() int {
	if len(m.Raw) > 0 {
		return len(m.Raw[0])
	}
	if len(m.Histogram) > 0 {
		return len(m.Histogram[0])
	}
	return 0
}

// forks returns the mean of each fork. For sampled times it is the mean over all samples.
func (m *jmhMetric) forks() []float64 {
	var means []float64
	for _, fork := range m.Raw {
		sum, n := 0.0, 0
		for _, raw := range fork {
			var x float64
			if json.Unmarshal(raw, &x) == nil {
				sum, n = sum+x, n+1
			}
		}
		if n > 0 {
			means = append(means, sum/float64(n))
		}
	}
	for _, fork := range m.Histogram {
		sum, n := 0.0, 0.0
		for _, iteration := range fork {
			for _, sample := range iteration {
				sum, n = sum+sample[0]*sample[1], n+sample[1]
			}
		}
		if n > 0 {
			means = append(means, sum/n)
		}
	}
	return means
}

func (m *jmhMetric) addTo(s *sheet, metric bench.Metric, better bench.Direction) {
	metric.Unit = jmhUnit(metric.Unit)
	forks := m.forks()
	var score float64
	if len(forks) == 0 && json.Unmarshal(m.Score, &score) == nil {
		s.d.skip("no forks, only the score: one figure", metric.String())
		forks = []float64{score}
	}
	for i, x := range forks {
		s.add(s.run("fork "+strconv.Itoa(i+1)), metric, x, better)
	}
}

// jmhUnit converts a unit of JMH, e.g. "ops/ms" to thousands per second. "us/op" is already a time.
func jmhUnit(unit string) string {
	switch unit {
	case "ops/ms":
		return "kops/s"
	case "ops/us":
		return "mops/s"
	case "ops/ns":
		return "gops/s"
	case "B/op":
		return "B"
	}
	return unit
}

func jmhBetter(mode, unit string) bench.Direction {
	switch {
	case mode == "thrpt", strings.HasPrefix(unit, "ops/"):
		return bench.HigherIsBetter
	case mode == "avgt", mode == "sample", mode == "ss", strings.HasSuffix(unit, "/op"):
		return bench.LowerIsBetter
	}
	return bench.Unknown
}
