package builds

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"kitescope/profile/bench"
	"kitescope/render/rendertest"
)

func TestComparisonFigures(t *testing.T) {
	for name, c := range comparisons() {
		figures, err := comparisonFigures(c)
		if err != nil || (len(figures) == 1) != (name != "nothing") {
			t.Errorf("%s: %d figures, %v", name, len(figures), err)
		}
	}
}

// TestComparisonPlotUnusual checks that drawing extreme values terminates.
func TestComparisonPlotUnusual(t *testing.T) {
	for name, values := range map[string][2][]float64{
		"one":       {{1}, {1}},
		"zero":      {{0, 0}, {0, 0}},
		"no number": {{math.NaN(), 1}, {math.Inf(1), 2}},
		"huge":      {{1e299, -1e299}, {1e308, 5}},
		"tiny":      {{5e-324, 1e-320}, {0, 5e-324}},
		"close":     {{1e9, 1e9 + 1e-6}, {1e9, 1e9}},
		"negative":  {{-5, -7}, {-1, -2}},
		"unequal":   {{1, 2, 3}, {}},
	} {
		c := &bench.Comparison{A: testSet(name, "", 2), Paired: name != "unequal", Effect: 0.01, Level: 0.05}
		for _, clients := range []int{1, 2, 1 << 40} {
			c.Lines = append(c.Lines, bench.Line{
				Metric: bench.Metric{
					Name: strings.Repeat(rendertest.HostileName, 40), Unit: "1/s", Concurrency: clients,
				}, A: values[0], B: values[1],
				Before: medianOf(values[0]), After: medianOf(values[1]),
				Ratio: medianOf(values[1]) / medianOf(values[0]), Low: math.Inf(-1), High: 3,
			})
		}
		var b bytes.Buffer
		if err := distributions(c).Write(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		rendertest.WellFormed(t, name, b.Bytes())
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s has places that are none", name)
		}
	}
}
