package replays

import (
	"math"
	"slices"
	"strconv"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay/load"
	"kitescope/tui/draw"
)

// chartKind is one of the drawings of a replay.
type chartKind uint8

const (
	chartQPS chartKind = iota
	chartFront
	chartLatency
)

// charts are those that there is something to draw of.
func (d *Data) charts() (list []chartKind) {
	if r := d.Result; r != nil {
		if slices.ContainsFunc(loadSeries(r.Points), func(s draw.Series) bool { return len(s.X) > 1 }) {
			list = append(list, chartQPS)
		}
		if len(r.Points) > 1 && len(load.Front(r.Points)) > 0 {
			list = append(list, chartFront)
		}
		if slices.ContainsFunc(r.Points, func(p load.Point) bool { return len(p.Latency.Bars) > 1 }) {
			list = append(list, chartLatency)
		}
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
func loadSeries(points []load.Point) []draw.Series {
	var list []draw.Series
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
			list = append(list, draw.Series{Name: name, Mark: draw.SeriesMark(k), Role: draw.SeriesRole(k)})
		}
		s := &list[k]
		s.X, s.Y = append(s.X, math.Log2(x)), append(s.Y, p.QPS)
		s.Low, s.High = append(s.Low, p.QPSLow), append(s.High, p.QPSHigh)
	}
	for i := range list {
		list[i].Sort()
	}
	return list
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
	return append(lines, loads(list, w, h-1, ascii)...)
}

// loads draws queries per second over load.
func loads(list []draw.Series, w, h int, ascii bool) []draw.Line {
	if lines := draw.LoadChart(list, w, h, ascii, words.ThreeDigits); lines != nil {
		return lines
	}
	return tooSmall(w)
}

func orTooSmall(lines []draw.Line, w int) []draw.Line {
	if len(lines) < 2 {
		return tooSmall(w)
	}
	return lines
}

// frontChart is recall against queries per second: each series is of one ef, and the line joins the points that no other beats.
func frontChart(points []load.Point, w, h int, ascii bool) []draw.Line {
	var list []draw.Series
	at := map[string]int{}
	c := draw.Chart{ASCII: ascii, YText: words.ThreeDigits, XText: replays.RecallText}
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
			list = append(list, draw.Series{Name: name, Mark: draw.SeriesMark(k), Role: draw.SeriesRole(k)})
		}
		list[k].X, list[k].Y = append(list[k].X, p.Recall), append(list[k].Y, p.QPS)
		xs, ys = append(xs, p.Recall), append(ys, p.QPS)
	}
	x, ok := draw.IntervalOf(xs)
	if !ok {
		return tooSmall(w)
	}
	c.X, c.Y = draw.Interval{From: x.From, To: min(x.To, max(1, slices.Max(xs)))}, draw.UpTo(slices.Max(ys))
	if c.X.To <= c.X.From {
		c.X = x
	}
	front := draw.Series{Role: render.RolePlain, Bare: true}
	for _, p := range load.Front(points) {
		front.X, front.Y = append(front.X, p.Recall), append(front.Y, p.QPS)
	}
	c.Series = []draw.Series{front} // marks of other points are not joined
	for _, s := range list {
		for i := range s.X {
			c.Series = append(c.Series, draw.Series{Name: s.Name, Mark: s.Mark, Role: s.Role, X: s.X[i : i+1], Y: s.Y[i : i+1]})
		}
	}
	slices.Sort(xs)
	c.At = append([]float64{xs[len(xs)-1], xs[0]}, slices.Compact(xs)...)
	lines := []draw.Line{chartTitle("Queries per second", " against recall; the line joins what no other point beats", w), draw.ChartLegend(list, w)}
	return orTooSmall(append(lines, c.Draw(w, h-2)...), w)
}

// pointName is "8 sessions, ef 64".
func pointName(p *load.Point) string {
	text := replays.ArrivalText(p)
	if name := parametersName(p); name != "all" {
		text += ", " + name
	}
	return text
}
