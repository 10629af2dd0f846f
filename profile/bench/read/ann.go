package read

import (
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// annCSV is what data_export.py of ann-benchmarks writes: compute_metrics_all_runs in
// https://github.com/erikbern/ann-benchmarks/blob/main/ann_benchmarks/plotting/utils.py, the units in metrics.py: times of
// queries in milliseconds, of the build in seconds, sizes in kB. The HDF5 files beside it are not read.
func annCSV() format {
	return format{
		Format: Format{"ann-benchmarks", "results.csv of data_export.py (HDF5 files have to be exported)"},
		sniff: func(d *doc) bool {
			header := "," + strings.ToLower(firstLine(d.head)) + ","
			return strings.Contains(header, ",algorithm,") && strings.Contains(header, ",k-nn,") && strings.Contains(header, ",qps,")
		},
		read: readANN,
	}
}

// annFigure is a column that holds figures.
type annFigure struct {
	name, unit string
	better     bench.Direction
}

// annFigures are those by the name of the column; queriessize is index size by QPS, of two others.
var annFigures = map[string]annFigure{
	"k-nn":         {"recall", "", bench.HigherIsBetter},
	"epsilon":      {"epsilon 0.01 recall", "", bench.HigherIsBetter},
	"largeepsilon": {"epsilon 0.1 recall", "", bench.HigherIsBetter},
	"rel":          {"relative error", "", bench.LowerIsBetter},
	"qps":          {"QPS", "1/s", bench.HigherIsBetter},
	"p50":          {"p50 latency", "ms", bench.LowerIsBetter},
	"p95":          {"p95 latency", "ms", bench.LowerIsBetter},
	"p99":          {"p99 latency", "ms", bench.LowerIsBetter},
	"p999":         {"p99.9 latency", "ms", bench.LowerIsBetter},
	"distcomps":    {"distance computations", "", bench.LowerIsBetter},
	"build":        {"build time", "s", bench.LowerIsBetter},
	"candidates":   {"candidates", "", bench.LowerIsBetter},
	"indexsize":    {"index size", "kB", bench.LowerIsBetter},
}

func readANN(d *doc) ([]*bench.Set, error) {
	g := &grid{d: d}
	if err := g.load(); err != nil {
		return nil, err
	}
	if len(g.header) > maxColumns {
		return nil, hints.Errorf("is it a result of a benchmark?", "it has more than %d columns", maxColumns)
	}
	g.roles = make([]role, len(g.header))
	for i, name := range g.header {
		g.roles[i] = isIgnored
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "algorithm", "parameters", "dataset", "count":
			g.roles[i] = isLabel
		}
	}
	g.index()
	s := newSheet(d)
	s.begin("")
	times := map[string]int{}
	for n, row := range g.rows {
		m := g.metric(row)
		// A setting that is there twice was run twice.
		times[m.Of]++
		run := s.run(strconv.Itoa(times[m.Of]))
		if run < 0 {
			return nil, s.err
		}
		for i, column := range g.header {
			f, ok := annFigures[strings.ToLower(strings.TrimSpace(column))]
			if !ok || i >= len(row) {
				continue
			}
			m.Name = f.name
			g.put(s, run, m, strings.TrimSpace(row[i]), f.unit, betterWord(f.better), n)
		}
	}
	return s.one()
}
