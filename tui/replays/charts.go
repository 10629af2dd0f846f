package replays

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/tui/draw"
	"kitescope/words"
)

// chartKind is one of the drawings of a replay.
type chartKind uint8

const (
	chartQPS chartKind = iota
	chartFront
	chartLatency
	chartShare // of requests by latency
	chartNodes
	chartCurves // of predictions
)

// charts are those that there is something to draw of.
func (d *Data) charts() (list []chartKind) {
	if r := d.Result; r != nil {
		if slices.ContainsFunc(loadSeries(r.Points), func(s series) bool { return len(s.x) > 1 }) {
			list = append(list, chartQPS)
		}
		if len(r.Points) > 1 && len(load.Front(r.Points)) > 0 {
			list = append(list, chartFront)
		}
		if slices.ContainsFunc(r.Points, func(p load.Point) bool { return len(p.Latency.Bars) > 1 }) {
			list = append(list, chartLatency, chartShare)
		}
		if r.Costs != nil && len(r.Costs.Segments) > 0 {
			list = append(list, chartNodes)
		}
	}
	if r := d.Report; r != nil && slices.ContainsFunc(curveSeries(r), func(s series) bool { return len(s.x) > 1 }) {
		list = append(list, chartCurves)
	}
	return list
}

// drawChart draws a kind in at most h lines of w cells, with a title; point is the one whose latency is drawn.
func (d *Data) drawChart(kind chartKind, point, w, h int, ascii bool) []draw.Line {
	switch kind {
	case chartQPS:
		return qpsChart(d.Result.Points, w, h, ascii)
	case chartFront:
		return frontChart(d.Result.Points, w, h, ascii)
	case chartLatency:
		return latencyChart(d.Result.Points, point, w, h, ascii)
	case chartShare:
		return latencyShares(d.Result.Points, point, w, h, ascii)
	case chartNodes:
		return costBars(d.Result.Costs, w, h, ascii)
	case chartCurves:
		return curveChart(d.Report, w, h, ascii)
	}
	return nil
}

func chartTitle(title, about string, w int) draw.Line {
	return draw.Line{{Role: render.RoleTitle, Text: title}, {Role: render.RoleDim, Text: about}}.CutTo(w)
}

// tooSmall stands where a drawing has no room.
func tooSmall(w int) []draw.Line {
	return []draw.Line{{{Role: render.RoleDim, Text: draw.Cut("there is no room to draw it", w)}}}
}

// loadOf is how much load a point is: requests a second of an open loop, else sessions. NaN: as it was logged.
func loadOf(p *load.Point) (x float64, open bool) {
	switch {
	case p.Timed:
		return math.NaN(), true
	case p.Rate > 0:
		return p.Rate, true
	}
	return float64(max(1, p.Sessions)), false
}

// loadSeries are queries per second by load: a series for each choice of parameters, open and closed loops apart.
func loadSeries(points []load.Point) []series {
	var list []series
	at := map[string]int{}
	for i := range points {
		p := &points[i]
		x, open := loadOf(p)
		if !draw.Drawable(x) || !draw.Drawable(p.QPS) {
			continue
		}
		name := parametersName(p)
		if open {
			name += ", by rate"
		}
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name] = k
			list = append(list, series{name: name, mark: seriesMark(k), role: seriesRole(k)})
		}
		s := &list[k]
		s.x, s.y = append(s.x, math.Log2(x)), append(s.y, p.QPS)
		s.low, s.high = append(s.low, p.QPSLow), append(s.high, p.QPSHigh)
	}
	for i := range list {
		list[i].sort()
	}
	return list
}

// sort puts the points of a series from the left to the right.
func (s *series) sort() {
	order := make([]int, len(s.x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.x[a], s.x[b]) })
	for _, list := range []*[]float64{&s.x, &s.y, &s.low, &s.high} {
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

// parametersName is "ef 64".
func parametersName(p *load.Point) string {
	switch {
	case p.EF > 0:
		return "ef " + strconv.Itoa(p.EF)
	case p.NProbe > 0:
		return "nprobe " + strconv.Itoa(p.NProbe)
	}
	return "all"
}

func qpsChart(points []load.Point, w, h int, ascii bool) []draw.Line {
	list := loadSeries(points)
	by := "sessions"
	if slices.ContainsFunc(points, func(p load.Point) bool { return p.Rate > 0 }) {
		by = "requests asked a second"
	}
	lines := []draw.Line{chartTitle("Queries per second", " by "+by+"; upright: 95% interval", w)}
	return append(lines, loadChart(list, w, h-1, ascii)...)
}

// loadChart draws queries per second over the logarithm of load.
func loadChart(list []series, w, h int, ascii bool) []draw.Line {
	c := chart{series: list, ascii: ascii, yText: words.ThreeDigits, xText: func(x float64) string { return trimmed(math.Exp2(x)) }}
	var xs, ys []float64
	for i := range list {
		xs, ys = append(append(xs, list[i].x...), 0), append(append(ys, list[i].y...), list[i].high...)
	}
	var ok bool
	if c.x, ok = draw.IntervalOf(xs); !ok {
		return tooSmall(w)
	}
	ys = slices.DeleteFunc(ys, func(y float64) bool { return !draw.Drawable(y) })
	if len(ys) == 0 {
		return tooSmall(w)
	}
	c.y = upTo(slices.Max(ys))
	slices.Sort(xs)
	xs = slices.Compact(xs)
	c.at = append([]float64{xs[len(xs)-1], xs[0]}, xs...)
	lines := []draw.Line{legend(list, w)}
	return orTooSmall(append(lines, c.draw(w, h-1)...), w)
}

// trimmed is a number that somebody gave.
func trimmed(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

func orTooSmall(lines []draw.Line, w int) []draw.Line {
	if len(lines) < 2 {
		return tooSmall(w)
	}
	return lines
}

// frontChart is recall against queries per second: each series is of one ef, and the line joins the points that no other beats.
func frontChart(points []load.Point, w, h int, ascii bool) []draw.Line {
	var list []series
	at := map[string]int{}
	c := chart{ascii: ascii, yText: words.ThreeDigits, xText: replays.RecallText}
	var xs, ys []float64
	for i := range points {
		p := &points[i]
		if !(p.Recall >= 0) || !draw.Drawable(p.QPS) {
			continue
		}
		name := parametersName(p)
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name] = k
			list = append(list, series{name: name, mark: seriesMark(k), role: seriesRole(k)})
		}
		list[k].x, list[k].y = append(list[k].x, p.Recall), append(list[k].y, p.QPS)
		xs, ys = append(xs, p.Recall), append(ys, p.QPS)
	}
	x, ok := draw.IntervalOf(xs)
	if !ok {
		return tooSmall(w)
	}
	c.x, c.y = draw.Interval{From: x.From, To: min(x.To, max(1, slices.Max(xs)))}, upTo(slices.Max(ys))
	if c.x.To <= c.x.From {
		c.x = x
	}
	front := series{role: render.RolePlain, bare: true}
	for _, p := range load.Front(points) {
		front.x, front.y = append(front.x, p.Recall), append(front.y, p.QPS)
	}
	c.series = []series{front} // marks of other points are not joined
	for _, s := range list {
		for i := range s.x {
			c.series = append(c.series, series{name: s.name, mark: s.mark, role: s.role, x: s.x[i : i+1], y: s.y[i : i+1]})
		}
	}
	slices.Sort(xs)
	c.at = append([]float64{xs[len(xs)-1], xs[0]}, slices.Compact(xs)...)
	lines := []draw.Line{chartTitle("Queries per second", " against recall; the line joins what no other point beats", w), legend(list, w)}
	return orTooSmall(append(lines, c.draw(w, h-2)...), w)
}

// pointName is "8 sessions, ef 64".
func pointName(p *load.Point) string {
	text := replays.ArrivalText(p)
	if name := parametersName(p); name != "all" {
		text += ", " + name
	}
	return text
}

// curveSeries are the queries per second of predictions by sessions.
func curveSeries(r *whatif.Report) []series {
	var list []series
	add := func(p *whatif.Prediction) {
		s := series{name: replays.ChangeName(r, p), mark: seriesMark(len(list)), role: seriesRole(len(list))}
		for i := range p.Curve {
			if i < len(r.Sessions) && r.Sessions[i] > 0 && draw.Drawable(p.Curve[i].QPS) {
				s.x, s.y = append(s.x, math.Log2(float64(r.Sessions[i]))), append(s.y, p.Curve[i].QPS)
			}
		}
		s.sort()
		list = append(list, s)
	}
	add(&r.Base)
	for i := range r.Others {
		add(&r.Others[i])
	}
	return list
}

func curveChart(r *whatif.Report, w, h int, ascii bool) []draw.Line {
	lines := []draw.Line{chartTitle("Queries per second", " predicted, by sessions", w)}
	return append(lines, loadChart(curveSeries(r), w, h-1, ascii)...)
}
