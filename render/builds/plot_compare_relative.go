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

// relativePicture has a panel for each figure: after over before, with its interval, and what counts as no change.
func relativePicture(c *bench.Comparison) (*comparisonPicture, error) {
	list, err := loads(c)
	if err != nil {
		return nil, err
	}
	p := &comparisonPicture{c: c, columns: 2, width: widePanelWidth, height: widePanelHeight}
	used := map[bench.Verdict]bool{}
	for i := range list {
		if panel, ok := list[i].relativePanel(c, used); ok {
			p.panels = append(p.panels, panel)
		}
	}
	if len(p.panels) == 0 {
		return nil, picture.Nothing("no metric is on both sides", "")
	}
	for _, v := range comparisonVerdicts() {
		if used[v] {
			p.legend = append(p.legend, picture.Mark{Text: v.String(), Draw: func(dc draw.Canvas, at vg.Point) { dc.DrawGlyph(verdictGlyph(v), at) }})
		}
	}
	if slices.ContainsFunc(c.Lines, func(l bench.Line) bool { return l.Concurrency > 0 && l.Low < l.High }) {
		p.legend = append(p.legend, whiskerMark("95% CI"))
	}
	if c.Effect > 0 {
		p.legend = append(p.legend, picture.Mark{Text: "does not count: under " + PercentOfAll(c.Effect), Draw: func(dc draw.Canvas, at vg.Point) {
			dc.FillPolygon(bandGrey, []vg.Point{
				{X: at.X - picture.LegendSample/2, Y: at.Y - 3}, {X: at.X + picture.LegendSample/2, Y: at.Y - 3}, {X: at.X + picture.LegendSample/2, Y: at.Y + 3}, {X: at.X - picture.LegendSample/2, Y: at.Y + 3},
			})
		}})
	}
	return p, nil
}

var bandGrey = color.Gray{Y: 0xe6}

// verdictGlyph tells verdicts apart without colour, too: what was shown is filled.
func verdictGlyph(v bench.Verdict) draw.GlyphStyle {
	style := draw.GlyphStyle{Color: verdictColour(v), Radius: vg.Points(3.2), Shape: draw.RingGlyph{}}
	switch v {
	case bench.Better:
		style.Shape = draw.PyramidGlyph{}
	case bench.Worse:
		style.Shape = draw.BoxGlyph{}
	case bench.Changed:
		style.Shape = draw.CircleGlyph{}
	case bench.TooFew:
		style.Shape = draw.CrossGlyph{}
	case bench.NoDifference, bench.OneSide, bench.NotJudged:
	}
	return style
}

// relativePanel notes the verdicts that it shows; ok is false if there is no ratio.
func (s *loadCurve) relativePanel(c *bench.Comparison, used map[bench.Verdict]bool) (comparisonPanel, bool) {
	panel := newPanel(nil, MetricText(&s.Metric))
	panel.verdict = s.verdicts()
	x := panel.plot
	s.clientAxis(x)
	x.Y.Label.Text = "after / before"
	x.Y.Tick.Marker = picture.ValueTicks{}
	values := []float64{1}
	var line plotter.XYs
	var marks picture.Whiskers
	var lines []*bench.Line
	for _, l := range s.Lines {
		if len(drawable([]float64{l.Ratio})) == 0 {
			continue
		}
		used[l.Verdict] = true
		at := s.place(l.Concurrency)
		lines, line = append(lines, l), append(line, plotter.XY{X: at, Y: l.Ratio})
		values = append(values, l.Ratio)
		low, high := l.Ratio, l.Ratio
		if bounds := drawable([]float64{l.Low, l.High}); len(bounds) == 2 {
			low, high = bounds[0], bounds[1]
			values = append(values, bounds...)
		}
		marks.List = append(marks.List, [3]float64{at, low, high})
	}
	if len(line) == 0 {
		return panel, false
	}
	marks.Style = func(i int) draw.LineStyle {
		return draw.LineStyle{Color: verdictColour(lines[i].Verdict), Width: vg.Points(1)}
	}
	x.Y.Min, x.Y.Max = span(values, 0.1)
	x.Y.Min, x.Y.Max = min(x.Y.Min, 0.98), max(x.Y.Max, 1.02)
	x.Add(evenLine{c.Effect}, &plotter.Line{XYs: line, LineStyle: draw.LineStyle{Color: pairGrey, Width: vg.Points(0.8)}}, marks)
	for i := range line {
		x.Add(&plotter.Scatter{XYs: line[i : i+1], GlyphStyle: verdictGlyph(lines[i].Verdict)})
	}
	return panel, true
}

// evenLine is where nothing changed, and around it what does not count as a change.
type evenLine struct{ effect float64 }

// Plot implements plot.Plotter.
func (e evenLine) Plot(dc draw.Canvas, x *plot.Plot) {
	_, toY := x.Transforms(&dc)
	if e.effect > 0 && !math.IsInf(e.effect, 0) {
		low, high := toY(max(x.Y.Min, 1-e.effect)), toY(min(x.Y.Max, 1+e.effect))
		dc.FillPolygon(bandGrey, []vg.Point{{X: dc.Min.X, Y: low}, {X: dc.Max.X, Y: low}, {X: dc.Max.X, Y: high}, {X: dc.Min.X, Y: high}})
	}
	dc.StrokeLine2(draw.LineStyle{Color: color.Black, Width: vg.Points(1)}, dc.Min.X, toY(1), dc.Max.X, toY(1))
}
