package replays

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/replay/whatif"
)

// mostClusters is how many predictions a picture holds.
const mostClusters = 12

// whatIf has what each cluster can do at most, as bars with the error of the model, and its queries per second by sessions.
func (p *replayPicture) whatIf(r *whatif.Report) error {
	list := predictions(r)
	if n := len(list); n > mostClusters {
		list = list[:mostClusters]
		p.notes = append(p.notes, words.Plural(n-mostClusters, "cluster")+" not drawn")
	}
	top := 0.0
	for _, x := range list {
		if picture.DrawableRate(x.Most) {
			top = max(top, x.Most)
		}
	}
	if top <= 0 {
		return picture.Nothing("nothing was predicted", "")
	}
	p.columns = 2
	p.height = max(3.6*vg.Inch, vg.Length(len(list))*0.36*vg.Inch+0.9*vg.Inch)
	p.gainPanel(r, list, top)
	p.curvePanel(r, list)
	p.heads = append(p.heads, whatIfHeads(r)...)
	for _, t := range trustTexts(r) {
		if t.warn {
			p.notes = append(p.notes, t.text)
		}
	}
	return nil
}

func whatIfHeads(r *whatif.Report) []string {
	text := setupText(&r.Setup, &render.ReportOptions{})
	if qps, p99 := r.Check.Worst(); qps >= 0 {
		off := "the simulation was off by up to " + words.Share(qps) + " in queries per second"
		if p99 >= 0 {
			off += " and " + words.Share(p99) + " in p99"
		}
		return []string{text, off + ", where it could be checked"}
	}
	return []string{text, "model not checked"}
}

func (p *replayPicture) gainPanel(r *whatif.Report, list []*whatif.Prediction, top float64) {
	x := p.panel("maximum queries per second and gain")
	x.X.Min, x.X.Max, x.X.Tick.Marker = 0, 1.45*top, numberTicks{} // the gain stands behind the bar
	x.X.Label.Text = "queries per second"
	var ticks plot.ConstantTicks
	for i, c := range list {
		ticks = append(ticks, plot.Tick{Value: float64(len(list) - 1 - i), Label: render.ShortenMiddle(ChangeName(r, c), 26, "…")})
	}
	x.Y.Tick.Marker, x.Y.Tick.Length = ticks, 0
	x.Y.Min, x.Y.Max = -0.6, float64(len(list))-0.4
	p.grid(x, true, false)
	x.Add(plotted(func(dc draw.Canvas, x *plot.Plot) {
		toX, toY := x.Transforms(&dc)
		text := p.text(9)
		text.YAlign = -0.5
		for i, c := range list {
			y := float64(len(list) - 1 - i)
			if !picture.DrawableRate(c.Most) {
				dc.FillText(text, vg.Point{X: toX(0) + 4, Y: toY(y)}, words.UnknownMark)
				continue
			}
			rect := vg.Rectangle{Min: vg.Point{X: toX(0), Y: toY(y - 0.32)}, Max: vg.Point{X: toX(c.Most), Y: toY(y + 0.32)}}
			dc.SetColor(p.clusterColour(i))
			dc.Fill(rect.Path())
			if i > 0 && c.Modelled > 0 {
				diagonals(dc, draw.LineStyle{Color: p.theme.paper, Width: vg.Points(0.7)}, rect, 6, false)
			}
			end := rect.Max.X
			if e, _ := r.Check.Worst(); e > 0 && e < 1 {
				low, high := toX(c.Most*(1-e)), toX(c.Most*(1+e))
				sideways(dc, picture.HalfStyle(p.theme.ink), low, high, toY(y))
				end = high
			}
			label := words.ThreeDigits(c.Most)
			if i > 0 {
				label += "  " + GainText(c)
			}
			p.textOn(dc, &text, vg.Point{X: end + 5, Y: toY(y)}, label)
		}
	}))
	p.legend = append(p.legend, picture.Mark{Text: "costs partly from the model, not measured", Draw: func(dc draw.Canvas, at vg.Point) {
		rect := vg.Rectangle{Min: vg.Point{X: at.X - 10, Y: at.Y - 4}, Max: vg.Point{X: at.X + 10, Y: at.Y + 4}}
		dc.SetColor(p.theme.colour(0))
		dc.Fill(rect.Path())
		diagonals(dc, draw.LineStyle{Color: p.theme.paper, Width: vg.Points(0.7)}, rect, 6, false)
	}})
	if e, _ := r.Check.Worst(); e > 0 {
		p.legend = append(p.legend, picture.Mark{Text: "largest error of the check", Draw: func(dc draw.Canvas, at vg.Point) {
			sideways(dc, picture.HalfStyle(p.theme.ink), at.X-8, at.X+8, at.Y)
		}})
	}
}

// clusterColour is grey for the cluster as it is.
func (p *replayPicture) clusterColour(i int) color.Color {
	if i == 0 {
		return p.theme.dim
	}
	return p.theme.colour(i - 1)
}

func sideways(dc draw.Canvas, style draw.LineStyle, from, to, y vg.Length) {
	const half = 3
	dc.StrokeLine2(style, from, y, to, y)
	dc.StrokeLine2(style, from, y-half, from, y+half)
	dc.StrokeLine2(style, to, y-half, to, y+half)
}

func (p *replayPicture) curvePanel(r *whatif.Report, list []*whatif.Prediction) {
	axis := loadAxis{}
	for _, n := range r.Sessions {
		if n > 0 {
			axis.values = append(axis.values, float64(n))
		}
	}
	if len(axis.values) == 0 {
		return
	}
	axis.logarithmic = axis.values[len(axis.values)-1] >= 8*axis.values[0]
	x := p.panel("queries per second by sessions, predicted")
	axis.mark(x)
	x.Y.Min, x.Y.Tick.Marker = 0, numberTicks{}
	x.Y.Label.Text = "queries per second"
	p.grid(x, true, true)
	top := 0.0
	for i, c := range list {
		var line plotter.XYs
		for j := range min(len(c.Curve), len(r.Sessions)) {
			if q := c.Curve[j].QPS; picture.DrawableRate(q) && r.Sessions[j] > 0 {
				line = append(line, plotter.XY{X: axis.place(float64(r.Sessions[j])), Y: q})
				top = max(top, q)
			}
		}
		if len(line) == 0 {
			continue
		}
		style := draw.LineStyle{Color: p.clusterColour(i), Width: vg.Points(1.6)}
		if i == 0 {
			style.Dashes = []vg.Length{6, 3}
		}
		glyph := draw.GlyphStyle{Color: style.Color, Radius: vg.Points(3), Shape: plotMark(i)}
		x.Add(&plotter.Line{XYs: line, LineStyle: style}, &plotter.Scatter{XYs: line, GlyphStyle: glyph})
		p.legend = append(p.legend, lineMark(render.ShortenMiddle(ChangeName(r, c), 40, "…"), style, glyph))
	}
	x.Y.Max = 1.05 * math.Max(top, 1e-9)
	if top == 0 {
		p.notes = append(p.notes, "of "+strconv.Itoa(len(list))+" clusters have no prediction by sessions")
	}
}
