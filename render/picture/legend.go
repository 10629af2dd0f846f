package picture

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark is an entry of the legend: draw puts its sign to the left of at.
type Mark struct {
	Text string
	Draw func(dc draw.Canvas, at vg.Point)
}

// MarkRows breaks a legend into lines.
func MarkRows(legend []Mark, style *draw.TextStyle, width vg.Length) [][]Mark {
	var rows [][]Mark
	left := vg.Length(0)
	for _, mark := range legend {
		mark.Text = Fit(style, mark.Text, width/2)
		need := LegendSample*1.5 + 4 + style.Width(mark.Text)
		if len(rows) == 0 || need > left {
			rows = append(rows, nil)
			left = width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], mark)
		left -= need
	}
	return rows
}

// DrawFoot writes a legend at the foot of a canvas, and lines in a colour of their own below it.
func DrawFoot(dc draw.Canvas, small draw.TextStyle, dim color.Color, legend [][]Mark, feet []string) {
	small.YAlign = -0.5
	at := vg.Point{X: dc.Min.X, Y: dc.Min.Y + vg.Length(len(legend)+len(feet))*LegendLine - LegendLine/2}
	for _, row := range legend {
		for _, mark := range row {
			mark.Draw(dc, vg.Point{X: at.X + LegendSample/2, Y: at.Y})
			dc.FillText(small, vg.Point{X: at.X + LegendSample + 4, Y: at.Y}, mark.Text)
			at.X += LegendSample + 4 + small.Width(mark.Text) + LegendSample/2
		}
		at = vg.Point{X: dc.Min.X, Y: at.Y - LegendLine}
	}
	small.Color = dim
	for _, text := range feet {
		dc.FillText(small, at, text)
		at.Y -= LegendLine
	}
}
