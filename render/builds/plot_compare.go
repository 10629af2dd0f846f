package builds

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/render/webpage"
)

// comparisonFigures draws the values of all runs. It returns nil without drawable values.
func comparisonFigures(c *bench.Comparison) ([]webpage.Block, error) {
	chart := distributions(c)
	if len(chart.Panels) == 0 {
		return nil, nil
	}
	var svg bytes.Buffer
	if err := chart.Write(&svg, "svg"); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	return []webpage.Block{webpage.Figure("All runs, before and after", webpage.Inline(svg.String()), "")}, nil
}

// maxPanels is the maximum number of panels in a picture.
const maxPanels = 24

// changeAndVerdict returns a summary of a change: "+7.3%, better; 95% CI +6.1 to +8.4%".
func changeAndVerdict(l *bench.Line) string {
	text := l.Verdict.String()
	if change := metricChange(l); change != words.NoneMark {
		text = change + ", " + text
	}
	if interval := metricInterval(l); interval != words.UnknownMark && interval != words.NoneMark {
		text += "; 95% CI " + interval
	}
	return text
}

func verdictColour(v bench.Verdict) picture.Colour {
	switch v {
	case bench.Better:
		return picture.Good
	case bench.Worse:
		return picture.Bad
	case bench.Changed, bench.NoDifference, bench.TooFew, bench.OneSide, bench.NotJudged:
	}
	return picture.Grey
}

// drawable returns the values that can be drawn, sorted.
func drawable(values []float64) []float64 {
	const most = 1e300 // differences of larger values overflow
	return slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(values), func(v float64) bool {
		return !(math.Abs(v) < most)
	})))
}

// quantile returns a quantile of sorted values with linear interpolation (type 7 of Hyndman and Fan, "Sample
// quantiles in statistical packages", The American Statistician 50, 1996).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// distributions returns a chart with a panel per metric. A panel has a dot per run, with runs before and after
// side by side, and next to them the median and the interquartile range of the runs.
func distributions(c *bench.Comparison) *picture.Chart {
	chart := &picture.Chart{
		Title: ComparisonTitle(c, &render.Options{}), Heads: []string{testText(c)}, Columns: 2, PanelHeight: 2.75,
	}
	if text, ok := controlText(c); !ok {
		chart.Heads = append(chart.Heads, text)
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		if sides := [2][]float64{drawable(l.A), drawable(l.B)}; len(sides[0])+len(sides[1]) > 0 {
			chart.Panels = append(chart.Panels, runsPanel(c, l, sides))
		}
	}
	if len(chart.Panels) != 4 { // use two columns for four panels, to avoid a row with a single panel
		chart.Columns = 3
	}
	if rest := len(chart.Panels) - maxPanels; rest > 0 {
		chart.Panels = chart.Panels[:maxPanels]
		chart.Notes = append(chart.Notes, strconv.Itoa(rest)+" more are not drawn: choose with --only METRIC")
	}
	return chart
}

func runsPanel(c *bench.Comparison, l *bench.Line, sides [2][]float64) picture.Panel {
	unit := newMeasure(l.Unit, slices.Concat(sides[0], sides[1])...)
	panel := picture.Panel{
		Name: metricText(&l.Metric), Remark: changeAndVerdict(l), RemarkColour: verdictColour(l.Verdict),
		X: picture.Axis{From: -0.5, To: 1.5}, Y: picture.Axis{Label: unit.name(), Free: true},
	}
	if c.Paired && len(l.A) == len(l.B) {
		for i := range l.A {
			panel.Series = append(panel.Series, picture.Series{
				Name: "a pair of runs", Look: picture.Look{Colour: picture.Grey, Faint: true},
				Points: []picture.Point{{X: 0, Y: l.A[i] / unit.Factor}, {X: 1, Y: l.B[i] / unit.Factor}},
			})
		}
	}
	for side, values := range sides {
		name := []string{"before", "after"}[side]
		if len(values) == 0 {
			name += ": none"
		}
		panel.X.Ticks = append(panel.X.Ticks, picture.Tick{At: float64(side), Text: name})
		if len(values) == 0 {
			continue
		}
		colour := picture.Colour(side)
		dots := picture.Series{
			Name: sideLabel([]*bench.Set{c.A, c.B}[side], side) + ", a dot is a run",
			Look: picture.Look{Colour: colour, Mark: 1, NoLine: true},
		}
		for i, v := range values {
			at := float64(side)
			if !c.Paired && len(values) > 1 {
				at += jitter(i)
			}
			dots.Points = append(dots.Points, picture.Point{X: at, Y: v / unit.Factor})
		}
		panel.Series = append(panel.Series, dots)
		if len(values) > 1 {
			panel.Series = append(panel.Series, picture.Series{
				Name: "median, and the middle half of the runs",
				Look: picture.Look{Colour: colour, Mark: 2, NoLine: true}, Points: []picture.Point{{
					X: float64(side) + 0.22*float64(2*side-1), Y: quantile(values, 0.5) / unit.Factor,
					Low: quantile(values, 0.25) / unit.Factor, High: quantile(values, 0.75) / unit.Factor,
				}},
			})
		}
	}
	return panel
}

// jitter returns a horizontal offset for a dot, so that dots do not hide each other. It is the same in each
// drawing. Fractional parts of multiples of the golden ratio are evenly spread for any number of dots.
func jitter(i int) float64 {
	_, part := math.Modf(float64(i+1) * math.Phi)
	return 0.09 * (2*part - 1)
}
