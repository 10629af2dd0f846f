package builds

import (
	"bytes"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"kitescope/inspect/view"
	"kitescope/profile/bench"
	"kitescope/render/picture"
	"kitescope/render/rendertest"
)

func TestComparisonPlot(t *testing.T) {
	for name, c := range comparisons() {
		for _, kind := range ComparisonPlotNames() {
			for _, format := range picture.Formats().Names() {
				var b bytes.Buffer
				err := PlotComparison(&b, c, kind, format)
				drawn := kind == "distributions" && name != "nothing"
				if !drawn {
					if err == nil || b.Len() > 0 {
						t.Errorf("%s of %s as %s has nothing to draw: %v", kind, name, format, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				switch format {
				case "svg":
					rendertest.WellFormed(t, name, b.Bytes())
				case "png":
					if m, err := png.Decode(&b); err != nil || m.Bounds().Dx() < 700 {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

func TestComparisonPlotRefuses(t *testing.T) {
	if _, ok := errors.AsType[*view.UnknownError](PlotComparison(io.Discard, goComparison(), "pie", "svg")); !ok {
		t.Error("pie is drawn")
	}
	if err := PlotComparison(io.Discard, goComparison(), "distributions", "gif"); err == nil || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("gif: %v", err)
	}
}

// TestComparisonPlotStrange draws what no benchmark should give, and does not hang.
func TestComparisonPlotStrange(t *testing.T) {
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
				Metric: bench.Metric{Name: strings.Repeat(rendertest.HostileName, 40), Unit: "1/s", Concurrency: clients}, A: values[0], B: values[1],
				Before: medianOf(values[0]), After: medianOf(values[1]), Ratio: medianOf(values[1]) / medianOf(values[0]), Low: math.Inf(-1), High: 3,
			})
		}
		for _, kind := range ComparisonPlotNames() {
			var b bytes.Buffer
			err := PlotComparison(&b, c, kind, "svg")
			if err != nil && kind != "recall" {
				t.Errorf("%s of %s: %v", kind, name, err)
			}
			if err == nil {
				rendertest.WellFormed(t, name, b.Bytes())
				if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
					t.Errorf("%s of %s has places that are none", kind, name)
				}
			}
		}
	}
}
