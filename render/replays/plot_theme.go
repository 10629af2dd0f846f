package replays

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render/picture"
	"kitescope/replay"
)

// plotTheme are the colours of a picture. Those of series can be told apart by colour-blind people (Okabe and Ito, "Color Universal
// Design", 2008), and where there is no colour by dashes, marks and hatching.
type plotTheme struct {
	paper, ink, dim, grid, bad color.Color
	series                     []color.Color
	states                     [3]color.Color
}

func newPlotTheme(dark bool) plotTheme {
	var (
		orange  = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
		sky     = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
		green   = color.RGBA{0x00, 0x9e, 0x73, 0xff}
		yellow  = color.RGBA{0xf0, 0xe4, 0x42, 0xff}
		scarlet = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
		pink    = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	)
	if dark {
		return plotTheme{
			paper: color.RGBA{0x16, 0x19, 0x1d, 0xff}, ink: color.RGBA{0xd8, 0xde, 0xe9, 0xff}, dim: color.RGBA{0x98, 0xa2, 0xb0, 0xff},
			grid: color.RGBA{0x35, 0x3b, 0x44, 0xff}, bad: color.RGBA{0xff, 0x7b, 0x86, 0xff},
			series: []color.Color{sky, orange, green, pink, yellow, scarlet},
			states: [3]color.Color{replay.Growing: scarlet, replay.Unindexed: orange, replay.Indexed: sky},
		}
	}
	return plotTheme{
		paper: color.White, ink: color.RGBA{0x24, 0x29, 0x2f, 0xff}, dim: color.RGBA{0x5b, 0x64, 0x6e, 0xff},
		grid: color.RGBA{0xdd, 0xdd, 0xdd, 0xff}, bad: color.RGBA{0xb0, 0x12, 0x1f, 0xff},
		series: picture.Colours(),
		states: [3]color.Color{replay.Growing: scarlet, replay.Unindexed: orange, replay.Indexed: sky},
	}
}

func (t *plotTheme) colour(i int) color.Color { return t.series[i%len(t.series)] }

// faint is a colour through which others are seen.
func faint(c color.Color) color.Color {
	n, _ := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = 0x38
	return n
}

func plotMark(i int) draw.GlyphDrawer {
	marks := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamondGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return marks[i%len(marks)]
}

// diamondGlyph is a filled square on its corner.
type diamondGlyph struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamondGlyph) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := style.Radius * 1.25
	var path vg.Path
	path.Move(vg.Point{X: at.X, Y: at.Y - r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y + r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Close()
	c.Fill(path)
}

// seriesDash: the first of several results, what the others are compared with, is dashed, the second solid.
func seriesDash(i, of int) []vg.Length {
	if of < 2 {
		return nil
	}
	dashes := [][]vg.Length{{6, 3}, nil, {1.5, 2}, {8, 3, 1.5, 3}}
	return dashes[i%len(dashes)]
}

// lineMark is an entry of the legend: a line with its mark.
func lineMark(text string, line draw.LineStyle, glyph draw.GlyphStyle) picture.Mark {
	return picture.Mark{Text: text, Draw: func(dc draw.Canvas, at vg.Point) {
		dc.StrokeLine2(line, at.X-picture.LegendSample/2, at.Y, at.X+picture.LegendSample/2, at.Y)
		if glyph.Shape != nil {
			dc.DrawGlyph(glyph, at)
		}
	}}
}

// hatched is how a bar of a state is filled: without colour one tells states by their lines.
func hatched(dc draw.Canvas, t *plotTheme, state replay.State, r vg.Rectangle) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return
	}
	fill := t.dim
	if state <= replay.Indexed {
		fill = t.states[state]
	}
	dc.SetColor(fill)
	dc.Fill(r.Path())
	const step = 5 * vg.Length(1)
	style := draw.LineStyle{Color: t.paper, Width: vg.Points(0.7)}
	switch state {
	case replay.Growing: // both ways
		diagonals(dc, style, r, step, false)
		diagonals(dc, style, r, step, true)
	case replay.Unindexed:
		diagonals(dc, style, r, step, false)
	case replay.Indexed:
	}
}

// diagonals are lines at 45 degrees within a rectangle.
func diagonals(dc draw.Canvas, style draw.LineStyle, r vg.Rectangle, step vg.Length, down bool) {
	width, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	first := vg.Length(math.Floor(float64((r.Min.X-height)/step))) * step // on a grid of the page: neighbours go on with each other
	for c := first; c < r.Max.X; c += step {
		from, to := max(c, r.Min.X), min(c+height, r.Max.X)
		if from >= to || width <= 0 {
			continue
		}
		y1, y2 := r.Min.Y+(from-c), r.Min.Y+(to-c)
		if down {
			y1, y2 = r.Max.Y-(from-c), r.Max.Y-(to-c)
		}
		dc.StrokeLine2(style, from, y1, to, y2)
	}
}

func stateMark(t *plotTheme, state replay.State) picture.Mark {
	return picture.Mark{Text: state.String(), Draw: func(dc draw.Canvas, at vg.Point) {
		hatched(dc, t, state, vg.Rectangle{Min: vg.Point{X: at.X - 10, Y: at.Y - 4}, Max: vg.Point{X: at.X + 10, Y: at.Y + 4}})
	}}
}

// plotted is a plotter made of a function.
type plotted func(dc draw.Canvas, x *plot.Plot)

// Plot implements plot.Plotter.
func (f plotted) Plot(dc draw.Canvas, x *plot.Plot) { f(dc, x) }

// numberTicks marks an axis at round numbers, with their digits in groups.
type numberTicks struct{}

// Ticks implements plot.Ticker.
func (numberTicks) Ticks(from, to float64) []plot.Tick {
	ticks := picture.ValueTicks{}.Ticks(from, to)
	for i := range ticks {
		if v := ticks[i].Value; v == math.Trunc(v) && math.Abs(v) < 1e15 {
			ticks[i].Label = words.Number(int64(v))
		}
	}
	return ticks
}

// logTicks marks a logarithmic axis at 1, 2 and 5 of each power of ten, and as many of those as there is room for.
type logTicks struct{ text func(float64) string }

// Ticks implements plot.Ticker.
func (t logTicks) Ticks(from, to float64) []plot.Tick {
	if !(from > 0) || !(to > from) || math.IsInf(to, 0) {
		return nil
	}
	decades := math.Log10(to / from)
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(from)); e <= math.Ceil(math.Log10(to)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < from*(1-1e-9) || v > to*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			switch {
			case m == 1, decades < 3.2 && (m == 2 || m == 5), decades < 0.8:
				tick.Label = t.text(v)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}
