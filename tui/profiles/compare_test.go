package profiles

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kitescope/profile/bench"
	"kitescope/tui"
	"kitescope/tui/pagetest"
)

// scattered returns n values around middle, the same on each call. Steps of the golden ratio fill an interval
// evenly.
func scattered(n int, middle, spread float64, seed int) []float64 {
	values := make([]float64, n)
	for i := range values {
		_, part := math.Modf(float64(i+seed) * math.Phi)
		values[i] = middle * (1 + spread*(part-0.5)*math.Abs(part-0.5)*4)
	}
	return values
}

// benchLine returns the line of a metric with the figures of a comparison.
func benchLine(
	m bench.Metric, better bench.Direction, a, b []float64, v bench.Verdict, ratio, low, high, p float64,
) bench.Line {
	median := func(list []float64) float64 {
		if len(list) == 0 {
			return math.NaN()
		}
		list = slices.Sorted(slices.Values(list))
		return (list[len(list)/2] + list[(len(list)-1)/2]) / 2
	}
	return bench.Line{
		Metric: m, Better: better, A: a, B: b, Before: median(a), After: median(b), Ratio: ratio, Low: low, High: high,
		P: p, Corrected: min(1, p*6), Test: "Wilcoxon signed-rank", Verdict: v,
	}
}

// pairedFixture returns a paired comparison with one metric of each verdict.
func pairedFixture() *bench.Comparison {
	nan := math.NaN()
	search := func(name, unit string, clients int) bench.Metric {
		return bench.Metric{Benchmark: "search k=10", Name: name, Unit: unit, Concurrency: clients}
	}
	lines := []bench.Line{
		benchLine(search("QPS", "1/s", 8), bench.HigherIsBetter, scattered(24, 8012, 0.03, 1),
			scattered(24, 8597, 0.04, 5), bench.Better, 1.073, 1.066, 1.081, 1.2e-7),
		benchLine(search("p99 latency", "s", 8), bench.LowerIsBetter, scattered(24, 0.0123, 0.2, 2),
			scattered(24, 0.0124, 0.2, 9), bench.NoDifference, 1.008, 0.981, 1.034, 0.47),
		benchLine(search("maximum latency", "s", 8), bench.LowerIsBetter, scattered(24, 0.51, 0.6, 3),
			scattered(24, 0.21, 0.5, 4), bench.Better, 0.411, 0.352, 0.478, 3e-6),
		benchLine(bench.Metric{Benchmark: "png", Name: "CPU time", Unit: "s"}, bench.LowerIsBetter,
			scattered(24, 3.2, 0.02, 7), scattered(24, 3.45, 0.03, 8), bench.Worse, 1.078, 1.0769, 1.0841, 1.8e-11),
		benchLine(bench.Metric{Name: "context switches per query"}, bench.Unknown, scattered(24, 8.4, 0.1, 3),
			scattered(24, 5.16, 0.1, 6), bench.Changed, 0.614, 0.605, 0.622, 1e-6),
		benchLine(bench.Metric{Name: "recall", Unit: "%"}, bench.HigherIsBetter, scattered(24, 98.5, 0, 1),
			scattered(24, 98.5, 0, 1), bench.NoDifference, 1, 1, 1, 1),
		benchLine(bench.Metric{Name: "load time", Unit: "s"}, bench.LowerIsBetter, []float64{41.2, 40.8},
			[]float64{42.5, 41.9}, bench.TooFew, 1.029, nan, nan, nan),
		benchLine(bench.Metric{Name: "memory", Unit: "B"}, bench.LowerIsBetter, scattered(24, 3.1e9, 0.02, 3), nil,
			bench.OneSide, nan, nan, nan, nan),
	}
	lines[1].Remark = "significant on its own, but not among 6 metrics"
	lines[6].Remark, lines[6].Test = "needs at least 6 pairs", ""
	lines[7].Test = ""
	c := &bench.Comparison{
		A: fixtureSet("before", 24), B: fixtureSet("after", 25), Paired: true, Level: 0.05, Effect: 0.01, Lines: lines,
		Failed: [2]int{0, 1}, Notes: []string{"seconds against milliseconds: load time was converted"},
	}
	c.Control = &bench.Comparison{
		A: fixtureSet("before", 24), B: fixtureSet("again", 24), Paired: true, Level: 0.05,
		Effect: 0.01, Lines: []bench.Line{
			benchLine(search("QPS", "1/s", 8), bench.HigherIsBetter, scattered(24, 8012, 0.03, 1),
				scattered(24, 8010, 0.03, 12), bench.NoDifference, 0.9999, 0.996, 1.003, 0.94),
		},
	}
	return c
}

func fixtureSet(name string, runs int) *bench.Set {
	return &bench.Set{Name: name, Format: "VectorDBBench", Runs: make([]bench.Run, runs)}
}

// hostileFixture returns a comparison whose texts contain everything that could harm a terminal.
func hostileFixture() *bench.Comparison {
	inf, nan := math.Inf(1), math.NaN()
	bad := "\x1b[31mred\x1b]52;c;aGk=\a\r\nnext\u202e" + strings.Repeat("界", 60)
	lines := []bench.Line{
		benchLine(bench.Metric{Benchmark: bad, Name: bad, Unit: bad}, bench.Unknown, []float64{1, 2, 3, 4},
			[]float64{2, 3, 4, 5}, bench.Changed, 1.5, 1.2, 1.8, 0.01),
		benchLine(bench.Metric{Name: "infinite"}, bench.Unknown, []float64{1, inf, nan}, []float64{-inf, 1e308, -1e308},
			bench.Changed, inf, 0, inf, 0.01),
		benchLine(bench.Metric{Name: "nothing"}, bench.Unknown, nil, nil, bench.TooFew, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "zero"}, bench.Unknown, []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0},
			bench.NoDifference, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "from zero"}, bench.Unknown, []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1},
			bench.Changed, inf, inf, inf, 0.01),
		benchLine(bench.Metric{Name: "tiny"}, bench.Unknown, []float64{5e-324, 5e-324}, []float64{1e-323, 5e-324},
			bench.TooFew, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "huge"}, bench.Unknown, []float64{-math.MaxFloat64, math.MaxFloat64},
			[]float64{math.MaxFloat64, 0}, bench.TooFew, -1, -inf, inf, nan),
		benchLine(bench.Metric{Name: "many"}, bench.Unknown, scattered(20_000, 5, 0.5, 1), scattered(20_000, 5, 0.5, 9),
			bench.NoDifference, 1, 0.999, 1.001, 0.9),
		benchLine(bench.Metric{Name: "uneven"}, bench.Unknown, []float64{1, 2, 3}, []float64{1}, bench.TooFew, nan, nan,
			nan, nan),
	}
	lines[0].Remark, lines[0].Test = bad, bad
	return &bench.Comparison{
		A: &bench.Set{Name: bad, Format: bad}, Paired: true, Effect: -1, Lines: lines, Notes: []string{bad},
	}
}

func driveComparison(t *testing.T, c *bench.Comparison, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := pagetest.Config()
	cfg.Title, cfg.Command, cfg.Args = "before after", "kitescope", []string{"before", "after", "--control", "it's"}
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, comparisonConfig(cfg, c), w, h)
}
