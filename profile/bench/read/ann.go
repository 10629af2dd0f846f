package read

import (
	"slices"
	"strings"

	"kitescope/profile/bench"
)

// annCSV reads the output of data_export.py of ann-benchmarks: compute_metrics_all_runs in
// https://github.com/erikbern/ann-benchmarks/blob/main/ann_benchmarks/plotting/utils.py. The units are in metrics.py:
// query times in milliseconds, build times in seconds, sizes in kB. The HDF5 files of ann-benchmarks are not read.
func annCSV() format {
	return format{
		Format: Format{"ann-benchmarks", "results.csv of data_export.py (export HDF5 files first)"},
		sniff: func(d *doc) bool {
			header := "," + strings.ToLower(firstLine(d.head)) + ","
			return strings.Contains(header, ",algorithm,") && strings.Contains(header, ",k-nn,") &&
				strings.Contains(header, ",qps,")
		},
		read: readANN,
	}
}

// annFigures lists the metrics by column name. It omits queriessize, which is derived from two others (index
// size by QPS).
var annFigures = map[string]figureColumn{
	"k-nn":         {name: "recall", unit: "", better: bench.HigherIsBetter},
	"epsilon":      {name: "epsilon 0.01 recall", unit: "", better: bench.HigherIsBetter},
	"largeepsilon": {name: "epsilon 0.1 recall", unit: "", better: bench.HigherIsBetter},
	"rel":          {name: "relative error", unit: "", better: bench.LowerIsBetter},
	"qps":          {name: "QPS", unit: "1/s", better: bench.HigherIsBetter},
	"p50":          {name: "p50 latency", unit: "ms", better: bench.LowerIsBetter},
	"p95":          {name: "p95 latency", unit: "ms", better: bench.LowerIsBetter},
	"p99":          {name: "p99 latency", unit: "ms", better: bench.LowerIsBetter},
	"p999":         {name: "p99.9 latency", unit: "ms", better: bench.LowerIsBetter},
	"distcomps":    {name: "distance computations", unit: "", better: bench.LowerIsBetter},
	"build":        {name: "build time", unit: "s", better: bench.LowerIsBetter},
	"candidates":   {name: "candidates", unit: "", better: bench.LowerIsBetter},
	"indexsize":    {name: "index size", unit: "kB", better: bench.LowerIsBetter},
}

func readANN(d *doc) ([]*bench.Set, error) {
	g, err := loadGrid(d)
	if err != nil {
		return nil, err
	}
	for i, name := range g.header {
		name = strings.ToLower(strings.TrimSpace(name))
		if f, ok := annFigures[name]; ok {
			f.at = i
			g.figures = append(g.figures, f)
		} else if slices.Contains([]string{"algorithm", "parameters", "dataset", "count"}, name) {
			g.labels = append(g.labels, i)
		}
	}
	return g.sets() // repeated settings are repeated runs
}
