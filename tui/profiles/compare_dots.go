package profiles

import (
	"math"
	"slices"
	"strings"

	"kitescope/tui/draw"
)

// stacks counts numbers by the place of w cells that their dots fall into, and says how high the highest stack is.
func stacks(list []float64, s draw.Interval, w int, ascii bool) (counts []int, most int) {
	if !ascii {
		w *= draw.DotsAcross
	}
	counts = make([]int, w)
	for _, x := range list {
		if i := s.At(x, w); i >= 0 {
			counts[i]++
			most = max(most, counts[i])
		}
	}
	return counts, most
}

// dots draws each number as a dot in rows lines of w cells, stacked where several fall into one place. Where a
// stack is too high all are scaled, and none vanishes.
func dots(list []float64, s draw.Interval, w, rows int, ascii bool) []string {
	counts, most := stacks(list, s, w, ascii)
	across, up := draw.DotsAcross, draw.DotsUp
	if ascii {
		across, up = 1, 1
	}
	room := rows * up
	lines := make([]string, rows)
	for r := range rows {
		cells := make([]rune, w)
		for c := range cells {
			cells[c] = ' '
			for k := range across {
				n := counts[c*across+k]
				if most > room && n > 0 {
					n = max(1, n*room/most)
				}
				above := n - (rows-1-r)*up // dots of this line, and of those above
				switch {
				case above <= 0:
				case ascii:
					cells[c] = 'o'
				default:
					cells[c] = max(cells[c], draw.Blank)
					for i := range min(above, up) {
						cells[c] |= draw.Dot(k, i)
					}
				}
			}
		}
		lines[r] = string(cells)
	}
	return lines
}

// ruler draws an interval with a mark in it on a line of w cells: ├───┼──┤. What is NaN is not drawn.
func ruler(low, mark, high float64, s draw.Interval, w int, ascii bool) []rune {
	signs := []rune("├─┼┤")
	if ascii {
		signs = []rune("|-+|")
	}
	cells := []rune(strings.Repeat(" ", w))
	from, to := s.Clip(low, w), s.Clip(high, w)
	if from >= 0 && to >= 0 {
		for i := from; i <= to; i++ {
			cells[i] = signs[1]
		}
		cells[from], cells[to] = signs[0], signs[3]
	}
	if i := s.At(mark, w); i >= 0 {
		cells[i] = signs[2]
	}
	return cells
}

// quartiles are the lower and the upper quartile, interpolated; NaN with less than four numbers, of which they say
// nothing.
func quartiles(list []float64) (low, high float64) {
	good := slices.DeleteFunc(slices.Clone(list), func(x float64) bool { return !draw.Drawable(x) })
	if len(good) < 4 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(good)
	at := func(q float64) float64 {
		i, part := math.Modf(q * float64(len(good)-1))
		k := int(i)
		if k+1 >= len(good) {
			return good[k]
		}
		return good[k]*(1-part) + good[k+1]*part
	}
	return at(0.25), at(0.75)
}
