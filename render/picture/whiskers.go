package picture

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Whisker draws an interval: a line with a bar at either end.
func Whisker(dc draw.Canvas, style draw.LineStyle, x, from, to vg.Length) {
	const half = 3
	dc.StrokeLine2(style, x, from, x, to)
	dc.StrokeLine2(style, x-half, from, x+half, from)
	dc.StrokeLine2(style, x-half, to, x+half, to)
}

// Whiskers are vertical lines: where, from, to.
type Whiskers struct {
	List  [][3]float64
	Style func(i int) draw.LineStyle
}

// Plot implements plot.Plotter.
func (m Whiskers) Plot(dc draw.Canvas, x *plot.Plot) {
	toX, toY := x.Transforms(&dc)
	for i, w := range m.List {
		if w[1] < w[2] {
			Whisker(dc, m.Style(i), toX(w[0]), toY(w[1]), toY(w[2]))
		}
	}
}

// HalfStyle is a thin line.
func HalfStyle(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(0.8)}
}
