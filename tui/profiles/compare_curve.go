package profiles

import (
	"math"
	"slices"

	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui/draw"
)

// Lines of a curve: the least it is worth drawing in, and the most.
const (
	leastCurve = 8
	mostCurve  = 18
)

// curveOf is the curve that a metric is a point of, nil if it was measured with one number of clients alone.
func curveOf(c *bench.Comparison, l *bench.Line) *bench.Curve {
	for _, curve := range c.Curves() {
		if curve.Lines[0].Concurrency > 0 && slices.Contains(curve.Lines, l) {
			return &curve
		}
	}
	return nil
}

// drawCurve draws the medians of both sides over the number of clients, with what lies between the least and the most of the runs, in
// at most h lines of w cells; nil where there is no curve, or no room for it.
func drawCurve(c *bench.Comparison, l *bench.Line, w, h int, ascii bool) []draw.Line {
	h = min(h, mostCurve)
	if l == nil || h < leastCurve {
		return nil
	}
	curve := curveOf(c, l)
	if curve == nil {
		return nil
	}
	var list []draw.Series
	var all []float64
	for side, name := range []string{"before", "after"} {
		s := draw.Series{Name: name, Mark: []rune("ba")[side], Role: [2]render.Role{render.RoleDim, render.RoleAccent}[side]}
		for _, at := range curve.Lines {
			runs, median := [2][]float64{at.A, at.B}[side], [2]float64{at.Before, at.After}[side]
			if len(runs) == 0 || !draw.Drawable(median) {
				continue
			}
			s.X, s.Y = append(s.X, math.Log2(float64(at.Concurrency))), append(s.Y, median)
			s.Low, s.High = append(s.Low, slices.Min(runs)), append(s.High, slices.Max(runs))
			all = append(all, runs...)
		}
		list = append(list, s)
	}
	text := builds.NewMeasureText(curve.Unit, ascii, all...)
	lines := draw.LoadChart(list, w, h-1, ascii, text.Text)
	if lines == nil {
		return nil
	}
	title := draw.Line{{Role: render.RoleAccent, Text: builds.MetricText(&curve.Metric)}, {Role: render.RoleDim, Text: " by clients: medians; upright: least to most of the runs"}}
	return append([]draw.Line{title.CutTo(w)}, lines...)
}
