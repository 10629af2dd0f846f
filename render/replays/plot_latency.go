package replays

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render/picture"
	"kitescope/replay/load"
)

// mostDistributions is how many a picture of them holds.
const mostDistributions = 6

// rankedPoint is a point that is drawn as a distribution.
type rankedPoint struct {
	point  *load.Point
	name   string
	result int
	load   int // which of those that are drawn
}

// latency has a line for each point: which latency so many of its requests kept. The axis below is logarithmic in the requests
// beyond, as the tail is what matters (HdrHistogram's percentile plots).
func (p *replayPicture) latency(results []Series) error {
	points, left := p.chooseDistributions(results)
	if len(points) == 0 {
		return picture.Nothing("no point has latencies", "")
	}
	x := p.panel("")
	least, most, beyond := math.Inf(1), 0.0, 1.0
	var lines []plotter.XYs
	for _, q := range points {
		line := distribution(&q.point.Latency)
		lines = append(lines, line)
		for _, at := range line {
			least, most, beyond = min(least, at.Y), max(most, at.Y), max(beyond, at.X)
		}
	}
	p.percentileAxis(x, beyond)
	unit := unitOf(most)
	x.Y.Label.Text = "latency (" + unit.name + ")"
	x.Y.Min, x.Y.Max, x.Y.Tick.Marker = 0, 1.06*most/unit.size, numberTicks{}
	if least > 0 && most > 12*least {
		x.Y.Min, x.Y.Max, x.Y.Scale, x.Y.Tick.Marker = 0.9*least/unit.size, 1.15*most/unit.size, plot.LogScale{}, logTicks{words.Setting}
		x.Y.Label.Text = "latency (" + unit.name + ", logarithmic)"
	}
	p.grid(x, false, true)
	x.Add(p.percentileGuides())
	for i, q := range points {
		colour := p.theme.colour(q.load)
		style := draw.LineStyle{Color: colour, Width: vg.Points(1.6), Dashes: distributionDash(q.load, q.result, len(results))}
		glyph := draw.GlyphStyle{Color: colour, Radius: vg.Points(3.5), Shape: plotMark(q.load)}
		for j := range lines[i] {
			lines[i][j].Y /= unit.size
		}
		l := &q.point.Latency
		marks := plotter.XYs{{X: percentilePlace(0.5), Y: float64(l.P50) / unit.size}, {X: percentilePlace(0.99), Y: float64(l.P99) / unit.size}}
		if x.Y.Min > 0 {
			marks = slices.DeleteFunc(marks, func(at plotter.XY) bool { return at.Y <= 0 })
		}
		x.Add(&plotter.Line{XYs: lines[i], LineStyle: style}, &plotter.Scatter{XYs: marks, GlyphStyle: glyph})
		p.legend = append(p.legend, lineMark(q.name+": p50 "+words.Latency(l.P50, false)+", p99 "+words.Latency(l.P99, false), style, glyph))
	}
	p.heads = append(p.heads, p.circumstances(results)...)
	if left > 0 {
		p.notes = append(p.notes, words.Count(int64(left), "more point is", "more points are")+" not shown: choose with --ef and --sessions")
	}
	return nil
}

func distributionDash(i, result, results int) []vg.Length {
	if results > 1 {
		return seriesDash(result, results)
	}
	return [][]vg.Length{nil, {6, 3}, {1.5, 2}, {8, 3, 1.5, 3}}[i%4]
}

// chooseDistributions takes the points that were asked for; of many the parameters in the middle, and loads evenly among them, the
// same of each result.
func (p *replayPicture) chooseDistributions(results []Series) (list []rankedPoint, left int) {
	all, k := parametersIn(results)
	var loads []load.Load
	points := map[load.Load][]rankedPoint{}
	count := 0
	for r, s := range results {
		for i := range s.Result.Points {
			q := &s.Result.Points[i]
			if q.Latency.Count == 0 || p.o.EF > 0 && q.EF != p.o.EF || p.o.Sessions > 0 && q.Sessions != p.o.Sessions {
				continue
			}
			name := join(shortLoad(q), parametersOf(q).text(k))
			if len(results) > 1 {
				name = join(s.name(r), name)
			}
			if points[q.Load()] == nil {
				loads = append(loads, q.Load())
			}
			points[q.Load()] = append(points[q.Load()], rankedPoint{point: q, name: name, result: r})
			count++
		}
	}
	if count > mostDistributions && len(all) > 1 && p.o.Sessions == 0 && p.o.EF == 0 {
		middle := all[len(all)/2]
		loads = slices.DeleteFunc(loads, func(l load.Load) bool { return searchParameters{l.EF, l.NProbe, l.K} != middle })
	}
	for i, l := range evenly(loads, max(1, mostDistributions/len(results))) {
		for _, q := range points[l] {
			q.load = i
			list = append(list, q)
		}
	}
	list = list[:min(len(list), 2*mostDistributions)]
	return list, count - len(list)
}

// evenly takes at most n of a list, the first and the last among them.
func evenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	few := make([]T, n)
	for i := range few {
		few[i] = list[i*(len(list)-1)/max(1, n-1)]
	}
	return few
}

// percentilePlace is where a part of the requests stands: 0, 1, 2, 3 of none, 90%, 99%, 99.9%.
func percentilePlace(q float64) float64 { return -math.Log10(max(1-q, 1e-7)) }

// distribution is a line: X is percentilePlace of a part of the requests, Y the latency that they kept, in nanoseconds.
func distribution(l *load.Latency) plotter.XYs {
	var line plotter.XYs
	var all, sum int64
	for _, b := range l.Bars {
		all += max(0, b.Count)
	}
	if all <= 0 || len(l.Bars) < 2 {
		for _, x := range []struct {
			q float64
			d time.Duration
		}{{0, l.Min}, {0.5, l.P50}, {0.9, l.P90}, {0.95, l.P95}, {0.99, l.P99}, {0.999, l.P999}} {
			line = append(line, plotter.XY{X: percentilePlace(x.q), Y: float64(max(1, x.d))})
		}
		return line
	}
	line = plotter.XYs{{X: 0, Y: float64(max(1, l.Min))}}
	for _, b := range l.Bars {
		if b.Count <= 0 {
			continue
		}
		sum += b.Count
		// The last one stands where it is one of all requests.
		q := min(float64(sum)/float64(all), 1-0.5/float64(all))
		line = append(line, plotter.XY{X: percentilePlace(q), Y: float64(max(1, b.UpTo))})
	}
	return line
}

func (p *replayPicture) percentileAxis(x *plot.Plot, beyond float64) {
	x.X.Min, x.X.Max = 0, max(2.2, beyond*1.02)
	x.X.Label.Text = "requests at least as fast (%)"
	var ticks plot.ConstantTicks
	for _, t := range []struct {
		q    float64
		text string
	}{{0, "0"}, {0.5, "50"}, {0.75, "75"}, {0.9, "90"}, {0.95, "95"}, {0.99, "99"}, {0.995, "99.5"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}, {0.999999, "99.9999"}} {
		if at := percentilePlace(t.q); at <= x.X.Max {
			ticks = append(ticks, plot.Tick{Value: at, Label: t.text})
		}
	}
	x.X.Tick.Marker = ticks
}

// percentileGuides are lines at p50 and p99, which people quote.
func (p *replayPicture) percentileGuides() plotted {
	return func(dc draw.Canvas, x *plot.Plot) {
		toX, _ := x.Transforms(&dc)
		text := p.text(9)
		text.Color, text.YAlign, text.XAlign = p.theme.dim, -1, -1
		for _, g := range []struct {
			q    float64
			name string
		}{{0.5, "p50"}, {0.99, "p99"}} {
			at := toX(percentilePlace(g.q))
			dc.StrokeLine2(draw.LineStyle{Color: p.theme.dim, Width: vg.Points(0.7), Dashes: []vg.Length{2, 2}}, at, dc.Min.Y, at, dc.Max.Y)
			dc.FillText(text, vg.Point{X: at - 3, Y: dc.Max.Y}, g.name)
		}
	}
}

// timeUnit is what an axis counts in.
type timeUnit struct {
	name string
	size float64 // nanoseconds
}

func unitOf(most float64) timeUnit {
	switch {
	case most < 2e6:
		return timeUnit{"µs", 1e3}
	case most < 10e9:
		return timeUnit{"ms", 1e6}
	}
	return timeUnit{"s", 1e9}
}
