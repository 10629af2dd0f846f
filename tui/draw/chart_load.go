package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// LoadChart draws figures over the logarithm of load, such as queries per second by sessions, in h lines of w cells with a legend: X of the
// series are logarithms to base 2. nil: there is no room, or no figure.
func LoadChart(list []Series, w, h int, ascii bool, text func(y float64) string) []Line {
	c := Chart{Series: list, ASCII: ascii, YText: text, XText: func(x float64) string { return trimmed(math.Exp2(x)) }}
	var xs, ys []float64
	for i := range list {
		xs, ys = append(append(xs, list[i].X...), 0), append(append(ys, list[i].Y...), list[i].High...)
	}
	var ok bool
	if c.X, ok = IntervalOf(xs); !ok {
		return nil
	}
	ys = slices.DeleteFunc(ys, func(y float64) bool { return !Drawable(y) })
	if len(ys) == 0 {
		return nil
	}
	c.Y = UpTo(slices.Max(ys))
	slices.Sort(xs)
	xs = slices.Compact(xs)
	c.At = append([]float64{xs[len(xs)-1], xs[0]}, xs...)
	lines := c.Draw(w, h-1)
	if lines == nil {
		return nil
	}
	return append([]Line{ChartLegend(list, w)}, lines...)
}

// trimmed is a number that somebody gave.
func trimmed(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// Sort puts the points of a series from the left to the right.
func (s *Series) Sort() {
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.X[a], s.X[b]) })
	for _, list := range []*[]float64{&s.X, &s.Y, &s.Low, &s.High} {
		if len(*list) != len(order) {
			continue
		}
		sorted := make([]float64, len(order))
		for i, k := range order {
			sorted[i] = (*list)[k]
		}
		*list = sorted
	}
}
