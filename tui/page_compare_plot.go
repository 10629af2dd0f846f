package tui

import (
	"math"
	"slices"
	"strings"
)

// interval is the part of a line of numbers that is drawn.
type interval struct{ from, to float64 }

// intervalOf is the one with all numbers in it and a margin; NaN and infinite ones are left out. ok is false if there are
// no others.
func intervalOf(lists ...[]float64) (s interval, ok bool) {
	s = interval{math.Inf(1), math.Inf(-1)}
	for _, list := range lists {
		for _, x := range list {
			if drawable(x) {
				s.from, s.to = min(s.from, x), max(s.to, x)
			}
		}
	}
	if s.from > s.to {
		return interval{}, false
	}
	// Differences are of halves, as those of the largest numbers have no place in a float.
	margin := (s.to/2 - s.from/2) / 16
	if margin == 0 { // all are the same
		if margin = math.Abs(s.from) / 100; margin == 0 {
			margin = 1
		}
	}
	s.from, s.to = max(s.from-margin, -math.MaxFloat64), min(s.to+margin, math.MaxFloat64)
	return s, true
}

func drawable(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// at is which of n places a number falls into, -1 if it is outside.
func (s interval) at(x float64, n int) int {
	if !drawable(x) || x < s.from || x > s.to || n <= 0 {
		return -1
	}
	share := (x/2 - s.from/2) / (s.to/2 - s.from/2)
	if !drawable(share) {
		return n / 2
	}
	return max(0, min(n-1, int(share*float64(n))))
}

// Dots of a braille cell by column, from the lowest up (Unicode, Braille Patterns: dots 7, 3, 2, 1 and 8, 6, 5, 4).
const brailleBlank = 0x2800

func brailleDot(column, up int) rune {
	return [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}[column][up]
}

// Dots in a cell: braille has 2 x 4 of them, ASCII one.
const (
	dotsAcross = 2
	dotsUp     = 4
)

// stacks counts numbers by the place of w cells that their dots fall into, and says how high the highest stack is.
func stacks(list []float64, s interval, w int, ascii bool) (counts []int, most int) {
	if !ascii {
		w *= dotsAcross
	}
	counts = make([]int, w)
	for _, x := range list {
		if i := s.at(x, w); i >= 0 {
			counts[i]++
			most = max(most, counts[i])
		}
	}
	return counts, most
}

// dots draws each number as a dot in rows lines of w cells, stacked where several fall into one place. Where a
// stack is too high all are scaled, and none vanishes.
func dots(list []float64, s interval, w, rows int, ascii bool) []string {
	counts, most := stacks(list, s, w, ascii)
	across, up := dotsAcross, dotsUp
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
					cells[c] = max(cells[c], brailleBlank)
					for i := range min(above, up) {
						cells[c] |= brailleDot(k, i)
					}
				}
			}
		}
		lines[r] = string(cells)
	}
	return lines
}

// ruler draws an interval with a mark in it on a line of w cells: ├───┼──┤. What is NaN is not drawn.
func ruler(low, mark, high float64, s interval, w int, ascii bool) []rune {
	signs := []rune("├─┼┤")
	if ascii {
		signs = []rune("|-+|")
	}
	cells := []rune(strings.Repeat(" ", w))
	from, to := s.clip(low, w), s.clip(high, w)
	if from >= 0 && to >= 0 {
		for i := from; i <= to; i++ {
			cells[i] = signs[1]
		}
		cells[from], cells[to] = signs[0], signs[3]
	}
	if i := s.at(mark, w); i >= 0 {
		cells[i] = signs[2]
	}
	return cells
}

// clip is at, with what is outside at the nearer end.
func (s interval) clip(x float64, n int) int {
	switch {
	case math.IsNaN(x):
		return -1
	case x <= s.from:
		return 0
	case x >= s.to:
		return n - 1
	}
	return s.at(x, n)
}

// put writes a sign on a line at a number, if it is on it and the place is free.
func (s interval) put(cells []rune, x float64, sign rune) {
	if i := s.at(x, len(cells)); i >= 0 && (cells[i] == ' ' || cells[i] == '─' || cells[i] == '-') {
		cells[i] = sign
	}
}

// quartiles are the lower and the upper quartile, interpolated; NaN with less than four numbers, of which they say
// nothing.
func quartiles(list []float64) (low, high float64) {
	good := slices.DeleteFunc(slices.Clone(list), func(x float64) bool { return !drawable(x) })
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
