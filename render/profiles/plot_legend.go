package profiles

import (
	"cmp"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
)

var othersGrey = color.Gray{Y: 0xb4}

func plotDashes() [][]vg.Length {
	return [][]vg.Length{nil, {5, 2}, {1.5, 1.5}}
}

// usageLegend gives processes their lines: those that use most CPU a colour and a dash each, the others grey.
type usageLegend struct {
	u      *usage.Usage
	style  []draw.LineStyle // by index of the series
	named  []int            // series in the legend
	others int
	began  bool // something was started again
}

func newLegend(u *usage.Usage) *usageLegend {
	l := &usageLegend{u: u, style: make([]draw.LineStyle, len(u.Series))}
	order := make([]int, len(u.Series))
	for i := range order {
		order[i] = i
		l.style[i] = draw.LineStyle{Color: othersGrey, Width: vg.Points(0.7)}
		l.began = l.began || u.Series[i].Restarts > 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(u.Series[b].Totals[usage.CPU].Total, u.Series[a].Totals[usage.CPU].Total)
	})
	colours, dashes := picture.Colours(), plotDashes()
	n := min(len(order), len(colours)*len(dashes))
	l.named, l.others = slices.Sorted(slices.Values(order[:n])), len(order)-n
	for i, series := range l.named {
		l.style[series] = draw.LineStyle{Color: colours[i%len(colours)], Dashes: dashes[i/len(colours)], Width: vg.Points(1.2)}
	}
	return l
}

// add draws a stretch of a series; a single point, which makes no line, as a dot.
func (l *usageLegend) add(p *plot.Plot, series int, line plotter.XYs) {
	if len(line) == 1 {
		p.Add(&plotter.Scatter{XYs: line, GlyphStyle: draw.GlyphStyle{Color: l.style[series].Color, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}})
		return
	}
	p.Add(&plotter.Line{XYs: line, LineStyle: l.style[series]})
}

// restarts marks the moments at which a process began anew.
func (l *usageLegend) restarts(p *plot.Plot, series int, at plotter.XYs) {
	if len(at) > 0 {
		p.Add(&plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: l.style[series].Color, Radius: vg.Points(3.5), Shape: draw.CrossGlyph{}}})
	}
}

// entries are the texts of the legend.
func (l *usageLegend) entries() []string {
	var list []string
	for _, i := range l.named {
		list = append(list, render.ShortenMiddle(render.Harmless(l.u.Series[i].Name), 32, "…"))
	}
	if l.others > 0 {
		list = append(list, strconv.Itoa(l.others)+" others")
	}
	if l.began {
		list = append(list, "started again")
	}
	return list
}

const legendColumns = 4

func (l *usageLegend) lines() int { return (len(l.entries()) + legendColumns - 1) / legendColumns }

func (l *usageLegend) height(note string) vg.Length {
	return vg.Length(l.lines()+render.BoolInt(note != "")) * picture.LegendLine
}

// draw writes the legend, and a note below it, at the foot of the picture.
func (l *usageLegend) draw(dc draw.Canvas, note string) {
	text := picture.Style(picture.LegendSize)
	text.YAlign = -0.5
	width := (dc.Max.X - dc.Min.X) / legendColumns
	bottom := dc.Min.Y
	if note != "" {
		dc.FillText(text, vg.Point{X: dc.Min.X, Y: bottom + picture.LegendLine/2}, picture.Text(note))
		bottom += picture.LegendLine
	}
	top := bottom + vg.Length(l.lines())*picture.LegendLine
	for i, entry := range l.entries() {
		at := vg.Point{X: dc.Min.X + vg.Length(i%legendColumns)*width, Y: top - (vg.Length(i/legendColumns)+0.5)*picture.LegendLine}
		switch {
		case i < len(l.named):
			dc.StrokeLine2(l.style[l.named[i]], at.X, at.Y, at.X+picture.LegendSample, at.Y)
		case i == len(l.named) && l.others > 0:
			dc.StrokeLine2(draw.LineStyle{Color: othersGrey, Width: vg.Points(0.7)}, at.X, at.Y, at.X+picture.LegendSample, at.Y)
		default:
			dc.DrawGlyph(draw.GlyphStyle{Color: color.Black, Radius: vg.Points(3.5), Shape: draw.CrossGlyph{}}, vg.Point{X: at.X + picture.LegendSample/2, Y: at.Y})
		}
		dc.FillText(text, vg.Point{X: at.X + picture.LegendSample + 4, Y: at.Y}, entry)
	}
}
