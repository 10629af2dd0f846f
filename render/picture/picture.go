// Package picture is what the plots of all subjects share. What enters are texts, values and sizes of a subject's plot; what leaves are
// pieces of gonum.org/v1/plot that look alike everywhere.
//
//  1. Texts are made harmless and are shortened or broken to the room that there is (Text, Fit, Wrap).
//  2. The legend's rows and the grid of panels are laid out (MarkRows, Grid), axes get round numbers (ValueTicks, RecallAxis).
//  3. A canvas of one of Formats takes it all (NewCanvas), and is written (Write).
package picture

import (
	"bytes"
	"errors"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"kitescope/internal/hints"
	"kitescope/render"
)

// DrawHead writes a title, cut to the width, and lines below it.
func DrawHead(dc draw.Canvas, title, small draw.TextStyle, text string, lines []string) {
	title.YAlign, small.YAlign = -1, -1
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, Fit(&title, text, dc.Max.X-dc.Min.X))
	for i, line := range lines {
		dc.FillText(small, vg.Point{X: dc.Min.X, Y: dc.Max.Y - (TitleLines+vg.Length(i))*LegendLine}, line)
	}
}

// Grid puts count plots into rows, from left to right; what is left over is empty.
func Grid(rows, columns, count int, at func(k int) *plot.Plot) [][]*plot.Plot {
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
		for j := range grid[i] {
			if k := i*columns + j; k < count {
				grid[i][j] = at(k)
			}
		}
	}
	return grid
}

// Nothing says why there is no picture, and what can be drawn instead.
func Nothing(why, hint string) error {
	return &hints.Error{Err: errors.New(why), Advice: hint}
}

// GridGrey is the colour of lines behind a plot.
var GridGrey = color.Gray{Y: 0xdd}

// Colours can be told apart by colour-blind people: Okabe and Ito, "Color Universal Design" (2008), without yellow,
// which white paper swallows.
func Colours() []color.Color {
	return []color.Color{
		color.RGBA{0x00, 0x72, 0xb2, 0xff},
		color.RGBA{0xd5, 0x5e, 0x00, 0xff},
		color.RGBA{0x00, 0x9e, 0x73, 0xff},
		color.RGBA{0xcc, 0x79, 0xa7, 0xff},
		color.RGBA{0xe6, 0x9f, 0x00, 0xff},
		color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	}
}

// Write writes a picture. Of an SVG it names fonts as wide as the one that it was laid out with, for machines without it.
func Write(w io.Writer, to io.WriterTo, format string) error {
	if format != "svg" {
		_, err := to.WriteTo(w)
		return err
	}
	var b bytes.Buffer
	if _, err := to.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Kitescope Sans;"), []byte("font-family:Liberation Sans,Arimo,Helvetica,Arial,sans-serif;")))
	return err
}

// Formats are the formats of plots.
func Formats() render.Formats { return render.FormatsBy(canvases()) }

// Sizes that pictures share: their margin, of panels the gap between them and the letters of their names, of a legend its lines, its
// letters and the room for a sign; a title is so many of its lines high.
const (
	Margin         = 0.12 * vg.Inch
	PanelGap       = 0.22 * vg.Inch
	PanelTitleSize = 10
	LegendLine     = 0.2 * vg.Inch
	LegendSize     = 9
	LegendSample   = 0.3 * vg.Inch
	TitleLines     = 1.4
)

// DPI are the dots that an inch has in pictures of dots, unless a subject counts in pixels of its own.
const DPI = 110

// canvas makes one of a size, and what writes it.
type canvas func(w, h vg.Length, dpi int) (vg.CanvasSizer, io.WriterTo)

// canvases are those of the formats.
func canvases() map[string]canvas {
	return map[string]canvas{
		"svg": func(w, h vg.Length, _ int) (vg.CanvasSizer, io.WriterTo) {
			c := vgsvg.New(w, h)
			return c, c
		},
		"png": func(w, h vg.Length, dpi int) (vg.CanvasSizer, io.WriterTo) {
			c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
			return c, vgimg.PngCanvas{Canvas: c}
		},
		"pdf": func(w, h vg.Length, _ int) (vg.CanvasSizer, io.WriterTo) {
			c := vgpdf.New(w, h)
			return c, c
		},
	}
}

// NewCanvas is a canvas of a format, and what writes it; nil if Formats has no such format.
func NewCanvas(format string, w, h vg.Length, dpi int) (vg.CanvasSizer, io.WriterTo) {
	if of := canvases()[format]; of != nil {
		return of(w, h, dpi)
	}
	return nil, nil
}

// Style is text of a size, from its left end on its base line.
func Style(size vg.Length) draw.TextStyle {
	style := plot.New().Title.TextStyle
	style.Font = Sans(style.Font, size)
	style.XAlign, style.YAlign = 0, 0
	return style
}

// Sans is a font without serifs, of a size.
func Sans(f font.Font, size vg.Length) font.Font {
	f.Variant, f.Size = "Sans", size
	return f
}
