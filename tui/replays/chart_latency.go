package replays

import (
	"math"
	"slices"
	"time"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/load"
	"kitescope/tui/draw"
)

// latencyRange is from the first bar to the last on a logarithmic scale.
func latencyRange(l *load.Latency) (draw.Interval, bool) {
	from, to := time.Duration(0), time.Duration(0)
	for i := range l.Bars {
		if d := l.Bars[i].UpTo; d > 0 {
			if from == 0 {
				from = d
			}
			to = d
		}
	}
	if from <= 0 || to <= from {
		return draw.Interval{}, false
	}
	return draw.Interval{From: math.Log(float64(from)), To: math.Log(float64(to))}, true
}

// pointOf is a point by number, nil where there is none with a distribution.
func pointOf(points []load.Point, i int) *load.Point {
	if i < 0 || i >= len(points) {
		return nil
	}
	return &points[i]
}

// latencyChart is the histogram of a point's latencies.
func latencyChart(points []load.Point, at, w, h int, ascii bool) []draw.Line {
	p := pointOf(points, at)
	if p == nil {
		return tooSmall(w)
	}
	lines := []draw.Line{chartTitle("Latency", ": requests by how long they took; "+pointName(p), w)}
	s, ok := latencyRange(&p.Latency)
	if !ok || h < 6 || w < 30 {
		return append(lines, tooSmall(w)...)
	}
	room := w - 2
	values := spreadBars(p.Latency.Bars, s, room)
	for _, cells := range columns(values, slices.Max(values), h-4, ascii) {
		lines = append(lines, draw.Line{{Role: render.RolePlain, Text: " "}, {Role: render.RoleAccent, Text: cells}})
	}
	l := &p.Latency
	axis := draw.Chart{ASCII: ascii, X: s, XText: func(x float64) string { return words.Latency(time.Duration(math.Exp(x)), ascii) }}
	axis.At = []float64{s.From, s.To}
	cells := []rune(rowOf(room, ascii))
	marks := &draw.Chart{ASCII: ascii, X: s}
	names := map[float64]string{}
	for _, q := range []struct {
		name string
		d    time.Duration
	}{{"p50", l.P50}, {"p99", l.P99}, {"p99.9", l.P999}, {"p90", l.P90}} {
		if q.d > 0 {
			x := math.Log(float64(q.d))
			if _, ok := names[x]; !ok {
				names[x] = q.name + " " + words.Latency(q.d, ascii)
				marks.At = append(marks.At, x)
				s.Put(cells, x, axisMark(ascii))
			}
		}
	}
	marks.XText = func(x float64) string { return names[x] }
	return append(lines, draw.Line{{Role: render.RoleDim, Text: " " + string(cells)}}, draw.Line{{Role: render.RolePlain, Text: " " + marks.Scale(room)}}, draw.Line{{Role: render.RoleDim, Text: " " + axis.Scale(room)}})
}

func axisMark(ascii bool) rune {
	if ascii {
		return '+'
	}
	return '┴'
}

func rowOf(w int, ascii bool) string {
	sign := '─'
	if ascii {
		sign = '-'
	}
	cells := make([]rune, w)
	for i := range cells {
		cells[i] = sign
	}
	return string(cells)
}

// spreadBars distributes a histogram's bars over n places of its logarithmic scale.
func spreadBars(bars []load.Bar, s draw.Interval, n int) []float64 {
	values := make([]float64, n)
	from := s.From
	for i := range bars {
		if bars[i].UpTo <= 0 || bars[i].Count <= 0 {
			continue
		}
		to := min(s.To, math.Log(float64(bars[i].UpTo)))
		if to <= from { // what took no longer than the scale begins with
			values[max(0, s.Clip(from, n))] += float64(bars[i].Count)
			continue
		}
		a, b := (from-s.From)/(s.To-s.From)*float64(n), (to-s.From)/(s.To-s.From)*float64(n)
		for k := int(a); k < n && float64(k) < b; k++ {
			part := min(b, float64(k+1)) - max(a, float64(k))
			values[k] += float64(bars[i].Count) * part / (b - a)
		}
		from = to
	}
	return values
}
