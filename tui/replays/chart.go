package replays

import (
	"math"

	"kitescope/render"
	"kitescope/tui/draw"
)

// plotLines are lines of a report.
func plotLines(lines [][]render.Piece) []draw.Line {
	out := make([]draw.Line, len(lines))
	for i, l := range lines {
		for _, p := range l {
			out[i] = append(out[i], draw.Piece{Role: p.Role, Text: p.Text})
		}
	}
	return out
}

// columns draws a value a cell as columns of h lines, from 0 to most.
func columns(values []float64, most float64, h int, ascii bool) []string {
	eighths := []rune(" ▁▂▃▄▅▆▇█")
	if ascii {
		eighths = []rune(" ....####")
	}
	lines := make([]string, h)
	for r := range lines {
		cells := make([]rune, len(values))
		for i, v := range values {
			cells[i] = ' '
			if !(v > 0) || !(most > 0) {
				continue
			}
			full := max(1, int(math.Round(min(1, v/most)*float64(8*h)))) // what is there is seen
			cells[i] = eighths[max(0, min(8, full-8*(h-1-r)))]
		}
		lines[r] = string(cells)
	}
	return lines
}
