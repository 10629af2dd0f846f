package replays

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render/picture"
	"kitescope/replay/load"
)

// mostGroups is how many loads a picture compares.
const mostGroups = 8

// bar is a figure with its interval.
type bar struct{ value, low, high float64 }

// comparedFigure is what is compared: NaN where it is unknown.
type comparedFigure struct {
	name string
	of   func(q *load.Point) bar
}

func comparedFigures() []comparedFigure {
	alone := func(v float64) bar { return bar{v, v, v} }
	return []comparedFigure{
		{"queries per second", func(q *load.Point) bar {
			b := alone(q.QPS)
			if hasInterval(q) {
				b.low, b.high = q.QPSLow, q.QPSHigh
			}
			return b
		}},
		{"p50 latency (ms)", func(q *load.Point) bar { return latencyBar(q, func(l *load.Latency) float64 { return float64(l.P50) }) }},
		{"p99 latency (ms)", func(q *load.Point) bar { return latencyBar(q, func(l *load.Latency) float64 { return float64(l.P99) }) }},
		{"CPU per query (ms)", func(q *load.Point) bar {
			if q.CPUPerQuery <= 0 {
				return alone(math.NaN())
			}
			return alone(float64(q.CPUPerQuery) / 1e6)
		}},
	}
}

// latencyBar is a figure of all rounds, with the least and the most of a round around it.
func latencyBar(q *load.Point, of func(l *load.Latency) float64) bar {
	if q.Latency.Count == 0 {
		return bar{math.NaN(), math.NaN(), math.NaN()}
	}
	b := bar{value: of(&q.Latency) / 1e6}
	b.low, b.high = b.value, b.value
	for i := range q.Repeats {
		if l := &q.Repeats[i].Latency; l.Count > 0 {
			b.low, b.high = min(b.low, of(l)/1e6), max(b.high, of(l)/1e6)
		}
	}
	return b
}

// compare has a panel for each figure, with the bars of all results beside each other, for each load that all of them have.
func (p *replayPicture) compare(results []Series) error {
	if len(results) < 2 {
		return picture.Nothing("a comparison needs two results", "give a baseline, too")
	}
	var groups [][]*load.Point
	first := results[0].Result
	for i := range first.Points {
		q := &first.Points[i]
		if p.o.EF > 0 && q.EF != p.o.EF || p.o.Sessions > 0 && q.Sessions != p.o.Sessions {
			continue
		}
		group := []*load.Point{q}
		for _, s := range results[1:] {
			if match := matching(s.Result, q); match != nil {
				group = append(group, match)
			}
		}
		if len(group) == len(results) {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return picture.Nothing("the results have no load and parameters in common", "")
	}
	groups = p.chooseGroups(groups)
	p.columns = 2
	p.height = 2.7 * vg.Inch
	for _, f := range comparedFigures() {
		p.comparePanel(f, groups, len(results))
	}
	for i := range results {
		p.legend = append(p.legend, picture.Mark{Text: results[i].name(i), Draw: func(dc draw.Canvas, at vg.Point) {
			p.fillBar(dc, i, vg.Rectangle{Min: vg.Point{X: at.X - 10, Y: at.Y - 4}, Max: vg.Point{X: at.X + 10, Y: at.Y + 4}})
		}})
	}
	p.legend = append(p.legend, picture.Mark{Text: "QPS: 95% CI; latency: min and max of the rounds", Draw: func(dc draw.Canvas, at vg.Point) {
		picture.Whisker(dc, picture.HalfStyle(p.theme.ink), at.X, at.Y-picture.LegendLine/3, at.Y+picture.LegendLine/3)
	}})
	p.heads = append(p.heads, p.circumstances(results)...)
	return nil
}

// fillBar fills what belongs to a result: the first is hatched, so that without colour it is told from the second.
func (p *replayPicture) fillBar(dc draw.Canvas, result int, r vg.Rectangle) {
	if r.Max.Y <= r.Min.Y || r.Max.X <= r.Min.X {
		return
	}
	dc.SetColor(p.theme.colour(result))
	dc.Fill(r.Path())
	style := draw.LineStyle{Color: p.theme.paper, Width: vg.Points(0.7)}
	if result%2 == 0 {
		diagonals(dc, style, r, 5, result%4 == 2)
	}
}

func (p *replayPicture) comparePanel(f comparedFigure, groups [][]*load.Point, results int) {
	top, known := 0.0, false
	for _, g := range groups {
		for _, q := range g {
			if b := f.of(q); !math.IsNaN(b.value) && picture.DrawableRate(b.high) {
				top, known = max(top, b.high), true
			}
		}
	}
	if !known {
		p.notes = append(p.notes, f.name+": unknown")
		return
	}
	x := p.panel(f.name)
	x.Y.Min, x.Y.Max, x.Y.Tick.Marker = 0, 1.1*max(top, 1e-9), numberTicks{}
	x.X.Min, x.X.Max = -0.6, float64(len(groups))-0.4
	x.X.Tick.Length, x.X.Tick.LineStyle.Color = 4, p.theme.paper // room, and no marks
	markGroups(x, groups)
	p.grid(x, false, true)
	x.Add(plotted(func(dc draw.Canvas, x *plot.Plot) {
		toX, toY := x.Transforms(&dc)
		width := 0.8 / float64(results)
		width = min(width, 0.06+0.08*float64(len(groups)))
		for i, g := range groups {
			for j, q := range g {
				b := f.of(q)
				if math.IsNaN(b.value) || !picture.DrawableRate(b.high) {
					continue
				}
				left := float64(i) + (float64(j)-float64(len(g))/2)*width
				r := vg.Rectangle{Min: vg.Point{X: toX(left) + 0.5, Y: toY(0)}, Max: vg.Point{X: toX(left+width) - 0.5, Y: toY(b.value)}}
				p.fillBar(dc, j, r)
				if b.high > b.low {
					picture.Whisker(dc, picture.HalfStyle(p.theme.ink), (r.Min.X+r.Max.X)/2, toY(b.low), toY(b.high))
				}
			}
		}
	}))
}

// chooseGroups takes, of more groups than there is room for, all loads of the parameters in the middle.
func (p *replayPicture) chooseGroups(groups [][]*load.Point) [][]*load.Point {
	all := len(groups)
	if all <= mostGroups {
		return groups
	}
	middle := parametersOf(groups[all/2][0])
	groups = slices.DeleteFunc(groups, func(g []*load.Point) bool { return parametersOf(g[0]) != middle })
	groups = evenly(groups, mostGroups)
	p.notes = append(p.notes, words.Count(int64(all-len(groups)), "more load is", "more loads are")+" not shown: choose with --ef and --sessions")
	return groups
}

// markGroups writes below bars what tells their loads apart, and below the axis what they have in common.
func markGroups(x *plot.Plot, groups [][]*load.Point) {
	first := groups[0][0]
	sameLoad, sameParameters := true, true
	for _, g := range groups {
		sameLoad = sameLoad && shortLoad(g[0]) == shortLoad(first)
		sameParameters = sameParameters && parametersOf(g[0]) == parametersOf(first)
	}
	words := func(q *load.Point) string {
		if open(q) {
			return shortLoad(q)
		}
		return strconv.Itoa(q.Sessions)
	}
	unit := "sessions"
	if open(first) {
		unit = "load"
	}
	params := parametersOf(first).text(false)
	var label func(q *load.Point) string
	switch {
	case sameLoad:
		label = func(q *load.Point) string { return parametersOf(q).text(false) }
		x.X.Label.Text = shortLoad(first)
	case sameParameters:
		label, x.X.Label.Text = words, join(unit, params)
	default:
		label = func(q *load.Point) string { return parametersOf(q).text(false) + "\n" + words(q) }
		x.X.Label.Text = unit
	}
	var ticks plot.ConstantTicks
	for i, g := range groups {
		text := label(g[0])
		if text == "" {
			text = " "
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: text})
	}
	x.X.Tick.Marker = ticks
}
