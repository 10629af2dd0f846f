package picture

import (
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
