package builds

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/profile/bench"
	"kitescope/render/picture"
)

// loadCurve is one figure over the number of clients, on paper.
type loadCurve struct {
	bench.Curve
	// logarithmic says that each doubling of the clients is as wide.
	logarithmic bool
}

func newLoad(c bench.Curve) loadCurve {
	l := loadCurve{Curve: c}
	even := l.unevenness()
	l.logarithmic = true
	l.logarithmic = l.unevenness() <= even // else on a plain axis they stand more evenly
	return l
}

// unevenness is how much the distances between neighbours differ: their standard deviation over their mean, squared.
func (s *loadCurve) unevenness() float64 {
	sum, squares, n := 0.0, 0.0, float64(len(s.Lines)-1)
	for i := range s.Lines[1:] {
		gap := s.place(s.Lines[i+1].Concurrency) - s.place(s.Lines[i].Concurrency)
		sum, squares = sum+gap, squares+gap*gap
	}
	if sum == 0 {
		return 0
	}
	return n*squares/(sum*sum) - 1
}

// place is where so many clients stand on the axis.
func (s *loadCurve) place(clients int) float64 {
	if s.logarithmic {
		return math.Log2(float64(clients))
	}
	return float64(clients)
}

// loads are the figures that were measured at more than one concurrency: rates if there are any, as they are what more
// clients are for, else all.
func loads(c *bench.Comparison) ([]loadCurve, error) {
	var list, rates []loadCurve
	for _, curve := range c.Curves() {
		if curve.Lines[0].Concurrency <= 0 { // the fewest: there is no place for them
			continue
		}
		list = append(list, newLoad(curve))
		if strings.HasSuffix(curve.Unit, "/s") && curve.Lines[0].Better != bench.LowerIsBetter {
			rates = append(rates, newLoad(curve))
		}
	}
	switch {
	case len(list) == 0:
		return nil, picture.Nothing("no metric was measured at more than one concurrency", "distributions can be drawn of any comparison")
	case len(rates) > 0:
		return rates, nil
	}
	return list, nil
}

// verdicts counts them: "4 better, 1 worse".
func (s *loadCurve) verdicts() string {
	c := bench.Comparison{}
	for _, l := range s.Lines {
		c.Lines = append(c.Lines, *l)
	}
	line := verdictsLine(&c)
	return line.All()
}

// clientAxis marks the concurrencies that were measured.
func (s *loadCurve) clientAxis(x *plot.Plot) (width float64) {
	first, last := s.place(s.Lines[0].Concurrency), s.place(s.Lines[len(s.Lines)-1].Concurrency)
	width = max(last-first, 1e-3)
	x.X.Min, x.X.Max = first-0.06*width, last+0.06*width
	x.X.Label.Text = "clients"
	var ticks plot.ConstantTicks
	labelled := math.Inf(-1)
	for _, l := range s.Lines {
		at := s.place(l.Concurrency)
		tick := plot.Tick{Value: at, Label: strconv.Itoa(l.Concurrency)}
		const room = 0.06 // of the axis, for a label
		if at-labelled < room*width {
			tick.Label = " "
		} else {
			labelled = at
		}
		ticks = append(ticks, tick)
	}
	x.X.Tick.Marker = ticks
	return width
}

// concurrencyPicture has a panel for each figure, with a line for either side.
func concurrencyPicture(c *bench.Comparison) (*comparisonPicture, error) {
	list, err := loads(c)
	if err != nil {
		return nil, err
	}
	p := &comparisonPicture{c: c, columns: 2, width: widePanelWidth, height: widePanelHeight}
	several := false
	for i := range list {
		if panel, ok := list[i].panel(); ok {
			p.panels = append(p.panels, panel)
			several = several || slices.ContainsFunc(list[i].Lines, func(l *bench.Line) bool { return len(l.A) > 1 || len(l.B) > 1 })
		}
	}
	if len(p.panels) == 0 {
		return nil, picture.Nothing("no metric has values", "")
	}
	colours := sideColours()
	for side, s := range []*bench.Set{c.A, c.B} {
		p.legend = append(p.legend, picture.Mark{Text: sideLabel(s, side) + ", median", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.StrokeLine2(sideLine(side), at.X-picture.LegendSample/2, at.Y, at.X+picture.LegendSample/2, at.Y)
			dc.DrawGlyph(sideGlyph(side, colours[side]), at)
		}})
	}
	if several {
		p.legend = append(p.legend, whiskerMark("least to most of the runs"))
	}
	return p, nil
}

func sideLine(side int) draw.LineStyle {
	return draw.LineStyle{Color: sideColours()[side], Width: vg.Points(1.2), Dashes: [][]vg.Length{{4, 2}, nil}[side]}
}

// sideGlyph tells sides apart without colour, too.
func sideGlyph(side int, c color.Color) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.BoxGlyph{}, draw.CircleGlyph{}}
	return draw.GlyphStyle{Color: c, Radius: vg.Points(2.6), Shape: shapes[side]}
}

func whiskerMark(text string) picture.Mark {
	return picture.Mark{Text: text, Draw: func(dc draw.Canvas, at vg.Point) {
		picture.Whisker(dc, picture.HalfStyle(color.Black), at.X, at.Y-picture.LegendLine/3, at.Y+picture.LegendLine/3)
	}}
}

// panel has both sides of a figure; ok is false if it has no values.
func (s *loadCurve) panel() (comparisonPanel, bool) {
	panel := newPanel(nil, MetricText(&s.Metric))
	panel.verdict = s.verdicts()
	x := panel.plot
	width := s.clientAxis(x)
	var all []float64
	for _, l := range s.Lines {
		all = slices.Concat(all, drawable(l.A), drawable(l.B))
	}
	if len(all) == 0 {
		return panel, false
	}
	unit := NewMeasureText(s.Unit, false, all...)
	x.Y.Label.Text = axisUnit(&unit)
	x.Y.Tick.Marker = picture.ValueTicks{}
	x.Y.Min, x.Y.Max = min(0, slices.Min(all)/unit.factor), 1.06*slices.Max(all)/unit.factor
	if !(x.Y.Max > x.Y.Min) {
		x.Y.Max = x.Y.Min + 1
	}
	for side := range 2 {
		var medians plotter.XYs
		var marks picture.Whiskers
		for _, l := range s.Lines {
			values := slices.Sorted(slices.Values(drawable([][]float64{l.A, l.B}[side])))
			if len(values) == 0 {
				continue
			}
			at := s.place(l.Concurrency) + 0.006*width*float64(2*side-1) // whiskers beside each other
			medians = append(medians, plotter.XY{X: at, Y: quantile(values, 0.5) / unit.factor})
			marks.List = append(marks.List, [3]float64{at, values[0] / unit.factor, values[len(values)-1] / unit.factor})
		}
		if len(medians) == 0 {
			continue
		}
		colour := sideColours()[side]
		marks.Style = func(int) draw.LineStyle { return picture.HalfStyle(colour) }
		x.Add(marks, &plotter.Line{XYs: medians, LineStyle: sideLine(side)}, &plotter.Scatter{XYs: medians, GlyphStyle: sideGlyph(side, colour)})
	}
	return panel, true
}
