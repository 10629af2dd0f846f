package builds

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/profile/bench"
	"kitescope/render/picture"
)

// sideColours are those of before and after.
func sideColours() [2]color.Color {
	colours := picture.Colours()
	return [2]color.Color{colours[0], colours[1]}
}

var pairGrey = color.Gray{Y: 0xb8}

// distributionsPicture has a panel for each metric: a dot for each run, before and after beside each other.
func distributionsPicture(c *bench.Comparison) (*comparisonPicture, error) {
	p := &comparisonPicture{c: c, columns: 3, width: comparisonPanelWidth, height: comparisonPanelHeight}
	lines, several := groupedLines(c), false
	if len(lines) > mostPanels { // what varies is worth a panel first
		lines = slices.Concat(slices.DeleteFunc(slices.Clone(lines), constant), slices.DeleteFunc(slices.Clone(lines), func(l *bench.Line) bool { return !constant(l) }))
	}
	for _, l := range lines {
		a, b := len(drawable(l.A)), len(drawable(l.B))
		if a+b > 0 {
			p.panels = append(p.panels, runsPanel(c, l))
			several = several || a > 1 || b > 1
		}
	}
	if len(p.panels) == 4 { // not one alone below three
		p.columns = 2
	}
	if len(p.panels) == 0 {
		return nil, picture.Nothing("no metric has values", "")
	}
	colours := sideColours()
	for side, s := range []*bench.Set{c.A, c.B} {
		p.legend = append(p.legend, picture.Mark{Text: sideLabel(s, side) + ", a dot is a run", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.DrawGlyph(runGlyph(colours[side]), at)
		}})
	}
	if several {
		p.legend = append(p.legend, picture.Mark{Text: "median", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.StrokeLine2(medianStyle(color.Black), at.X-medianLength, at.Y, at.X+medianLength, at.Y)
		}}, picture.Mark{Text: "the middle half of the runs", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.StrokeLine2(picture.HalfStyle(color.Black), at.X-picture.LegendSample/3, at.Y, at.X+picture.LegendSample/3, at.Y)
		}})
	}
	if c.Paired {
		p.legend = append(p.legend, picture.Mark{Text: "a pair of runs", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.StrokeLine2(pairStyle(), at.X-picture.LegendSample/2, at.Y, at.X+picture.LegendSample/2, at.Y)
		}})
	}
	return p, nil
}

// constant reports whether all runs gave the same value.
func constant(l *bench.Line) bool {
	all := slices.Concat(drawable(l.A), drawable(l.B))
	return len(all) == 0 || slices.Min(all) == slices.Max(all)
}

func runGlyph(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
}

const medianLength = 6

func medianStyle(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(2)}
}

func pairStyle() draw.LineStyle {
	return draw.LineStyle{Color: pairGrey, Width: vg.Points(0.5)}
}

// Where things stand on the axis of a panel: dots at 0 and 1, summaries outside of them.
const (
	summaryPlace = 0.22
	panelSide    = 0.5
	mostJitter   = 0.09
)

func runsPanel(c *bench.Comparison, l *bench.Line) comparisonPanel {
	panel := newPanel(l, MetricText(&l.Metric))
	x := panel.plot
	sides := [2][]float64{drawable(l.A), drawable(l.B)}
	all := slices.Concat(sides[0], sides[1])
	unit := NewMeasureText(l.Unit, false, all...)
	for i := range all {
		all[i] /= unit.factor
	}
	x.Y.Label.Text = axisUnit(&unit)
	x.Y.Min, x.Y.Max = span(all, 0.08)
	x.Y.Tick.Marker = picture.ValueTicks{}
	x.X.Min, x.X.Max = -panelSide, 1+panelSide
	x.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: sideTick("before", len(sides[0]))}, {Value: 1, Label: sideTick("after", len(sides[1]))}}
	if c.Paired && len(l.A) == len(l.B) {
		x.Add(pairLines{l.A, l.B, unit.factor})
	}
	colours := sideColours()
	for side, values := range sides {
		if len(values) == 0 {
			continue
		}
		dots := make(plotter.XYs, len(values))
		for i, v := range values {
			dots[i] = plotter.XY{X: float64(side), Y: v / unit.factor}
			if !c.Paired && len(values) > 1 {
				dots[i].X += jitter(i)
			}
		}
		x.Add(&plotter.Scatter{XYs: dots, GlyphStyle: runGlyph(colours[side])})
		if len(values) > 1 {
			x.Add(newSummary(values, unit.factor, float64(side)+summaryPlace*float64(2*side-1), colours[side]))
		}
	}
	return panel
}

// sideTick is the name of a side below its dots.
func sideTick(name string, n int) string {
	if n == 0 {
		return name + ": none"
	}
	return name
}

// jitter moves dots aside that would hide each other, the same in each drawing: fractions of the golden ratio are spread
// evenly however many there are.
func jitter(i int) float64 {
	_, part := math.Modf(float64(i+1) * math.Phi)
	return mostJitter * (2*part - 1)
}

// pairLines join what was run together.
type pairLines struct {
	a, b   []float64
	factor float64
}

// Plot implements plot.Plotter.
func (p pairLines) Plot(dc draw.Canvas, x *plot.Plot) {
	toX, toY := x.Transforms(&dc)
	for i := range p.a {
		if len(drawable([]float64{p.a[i], p.b[i]})) == 2 {
			dc.StrokeLine2(pairStyle(), toX(0), toY(p.a[i]/p.factor), toX(1), toY(p.b[i]/p.factor))
		}
	}
}

// summary is the median of runs and the middle half of them.
type summary struct {
	median, low, high, at float64
	colour                color.Color
}

func newSummary(values []float64, factor, at float64, c color.Color) summary {
	sorted := slices.Sorted(slices.Values(values))
	return summary{quantile(sorted, 0.5) / factor, quantile(sorted, 0.25) / factor, quantile(sorted, 0.75) / factor, at, c}
}

// quantile is that of sorted values, linear between them (type 7 of Hyndman and Fan, "Sample quantiles in statistical
// packages", The American Statistician 50, 1996).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// Plot implements plot.Plotter.
func (s summary) Plot(dc draw.Canvas, x *plot.Plot) {
	toX, toY := x.Transforms(&dc)
	at := toX(s.at)
	dc.StrokeLine2(picture.HalfStyle(s.colour), at, toY(s.low), at, toY(s.high))
	dc.StrokeLine2(medianStyle(s.colour), at-medianLength, toY(s.median), at+medianLength, toY(s.median))
}
