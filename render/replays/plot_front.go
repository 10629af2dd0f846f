package replays

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render/picture"
	"kitescope/replay"
	"kitescope/replay/load"
)

// front has for each result the most queries per second of each recall, named by their parameters, and all other points as dots.
func (p *replayPicture) front(results []Series) error {
	var recalls, rates []float64
	for _, s := range results {
		for i := range s.Result.Points {
			if q := &s.Result.Points[i]; onPaper(q) {
				recalls, rates = append(recalls, q.Recall), append(rates, q.QPS)
			}
		}
	}
	if len(recalls) == 0 {
		return picture.Nothing("no point has a recall", "replay with --truth exact, or with a log that has the truth")
	}
	axis := picture.NewRecallAxis(recalls)
	x := p.panel("")
	axis.Mark(x, recalls)
	x.Y.Label.Text = "queries per second"
	x.Y.Min, x.Y.Max, x.Y.Tick.Marker = 0, 1.08*slices.Max(rates), numberTicks{}
	if least := slices.Min(rates); slices.Max(rates) > 50*least {
		x.Y.Min, x.Y.Max, x.Y.Scale = least/1.3, 1.3*slices.Max(rates), plot.LogScale{}
		x.Y.Tick.Marker = logTicks{words.Setting}
		x.Y.Label.Text += " (logarithmic)"
	}
	p.grid(x, true, true)
	_, k := parametersIn(results)
	for r := range results {
		p.frontOf(x, &axis, results, r, k)
	}
	p.heads = append(p.heads, p.circumstances(results)...)
	p.notes = append(p.notes, "marks: best load of each set of parameters, dots: other loads; the line joins the Pareto-optimal points")
	return nil
}

func onPaper(q *load.Point) bool {
	return q.Recall >= 0 && q.Recall <= 1 && q.QPS > 0 && picture.DrawableRate(q.QPS)
}

// bestLoads are for each of a result's parameters the point with most queries per second, by recall.
func bestLoads(r *replay.Result) []*load.Point {
	best := map[searchParameters]*load.Point{}
	for i := range r.Points {
		q := &r.Points[i]
		if b := best[parametersOf(q)]; onPaper(q) && (b == nil || q.QPS > b.QPS) {
			best[parametersOf(q)] = q
		}
	}
	points := make([]*load.Point, 0, len(best))
	for _, q := range best {
		points = append(points, q)
	}
	slices.SortFunc(points, func(a, b *load.Point) int {
		return cmp.Or(cmp.Compare(a.Recall, b.Recall), cmp.Compare(b.QPS, a.QPS), parametersOf(a).compare(parametersOf(b)))
	})
	return points
}

func (p *replayPicture) frontOf(x *plot.Plot, axis *picture.RecallAxis, results []Series, r int, k bool) {
	points := bestLoads(results[r].Result)
	if len(points) == 0 {
		return
	}
	place := func(q *load.Point) plotter.XY { return plotter.XY{X: axis.Place(q.Recall), Y: q.QPS} }
	var dots, line, marks plotter.XYs
	for i := range results[r].Result.Points {
		if q := &results[r].Result.Points[i]; onPaper(q) {
			dots = append(dots, place(q))
		}
	}
	front := load.Front(results[r].Result.Points)
	for i := range front {
		if onPaper(&front[i]) {
			line = append(line, place(&front[i]))
		}
	}
	same := !slices.ContainsFunc(points, func(q *load.Point) bool { return shortLoad(q) != shortLoad(points[0]) })
	var labels []string
	for _, q := range points {
		marks = append(marks, place(q))
		label := parametersOf(q).text(k)
		if !same || label == "" {
			label = join(label, shortLoad(q))
		}
		labels = append(labels, label)
	}
	colour := p.theme.colour(r)
	style := draw.LineStyle{Color: colour, Width: vg.Points(1.6), Dashes: seriesDash(r, len(results))}
	glyph := draw.GlyphStyle{Color: colour, Radius: vg.Points(3.5), Shape: plotMark(r)}
	small := &plotter.Scatter{XYs: dots, GlyphStyle: draw.GlyphStyle{Color: faint(colour), Radius: vg.Points(2), Shape: draw.CircleGlyph{}}}
	x.Add(small, &plotter.Line{XYs: line, LineStyle: style}, &plotter.Scatter{XYs: marks, GlyphStyle: glyph})
	x.Add(p.frontLabels(marks, labels, r%2 == 0 && len(results) > 1))
	name := results[r].name(r)
	if same {
		name = join(name, shortLoad(points[0]))
	}
	p.legend = append(p.legend, lineMark(name, style, glyph))
}

// frontLabels stand where there is room: the line falls, so to the right of a point above it, and to the left of one below.
func (p *replayPicture) frontLabels(marks plotter.XYs, labels []string, below bool) plotted {
	return func(dc draw.Canvas, x *plot.Plot) {
		toX, toY := x.Transforms(&dc)
		text := p.text(9)
		text.YAlign = -0.5
		for i, at := range marks {
			width := text.Width(labels[i])
			right, left := toX(at.X)+6, toX(at.X)-6-width
			place := vg.Point{X: right, Y: toY(at.Y) + 8}
			if below {
				place = vg.Point{X: left, Y: toY(at.Y) - 9}
			}
			if place.X+width > dc.Max.X {
				place.X = left
			}
			if place.X < dc.Min.X {
				place.X = right
			}
			dc.FillText(text, place, labels[i])
		}
	}
}

// shortLoad is a load in a label.
func shortLoad(q *load.Point) string {
	switch {
	case q.Timed:
		return "as logged"
	case q.Rate > 0:
		return words.Setting(q.Rate) + "/s"
	}
	return words.Plural(q.Sessions, "session")
}
