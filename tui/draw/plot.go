package draw

import (
	"math"
	"strings"

	"kitescope/render"
)

// BesideWidth is from how many cells on a drawing stands beside a table, LeastRows how many lines of the table stay where it stands
// below.
const (
	BesideWidth = 160
	LeastRows   = 3
)

// Beside puts a drawing at the right of a table.
func Beside(st *Styles, table []string, plot []Line, left, h int) []string {
	lines := make([]string, 0, h)
	for i := range h {
		line := ""
		if i < len(table) {
			line = table[i]
		}
		line = Fit(line, left) + st.Dim.On("│") + " "
		if i < len(plot) {
			line += plot[i].Styled(st)
		}
		lines = append(lines, line)
	}
	return lines
}

// Line is a line of a drawing: plain pieces, each with its role.
type Line []Piece

// Piece is a text in the look of a role.
type Piece struct {
	Role render.Role
	Text string
}

// Styled is the line for a terminal.
func (l Line) Styled(st *Styles) string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(st.Roles[p.Role].On(p.Text))
	}
	return b.String()
}

// Interval is the part of a line of numbers that is drawn.
type Interval struct{ From, To float64 }

// IntervalOf is the one with all numbers in it and a margin; NaN and infinite ones are left out. ok is false if there are
// no others.
func IntervalOf(lists ...[]float64) (s Interval, ok bool) {
	s = Interval{math.Inf(1), math.Inf(-1)}
	for _, list := range lists {
		for _, x := range list {
			if Drawable(x) {
				s.From, s.To = min(s.From, x), max(s.To, x)
			}
		}
	}
	if s.From > s.To {
		return Interval{}, false
	}
	// Differences are of halves, as those of the largest numbers have no place in a float.
	margin := (s.To/2 - s.From/2) / 16
	if margin == 0 { // all are the same
		if margin = math.Abs(s.From) / 100; margin == 0 {
			margin = 1
		}
	}
	s.From, s.To = max(s.From-margin, -math.MaxFloat64), min(s.To+margin, math.MaxFloat64)
	return s, true
}

// Drawable reports whether a number has a place on a scale: NaN and infinite ones have none.
func Drawable(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// At is which of n places a number falls into, -1 if it is outside.
func (s Interval) At(x float64, n int) int {
	if !Drawable(x) || x < s.From || x > s.To || n <= 0 {
		return -1
	}
	share := (x/2 - s.From/2) / (s.To/2 - s.From/2)
	if !Drawable(share) {
		return n / 2
	}
	return max(0, min(n-1, int(share*float64(n))))
}

// Blank is a braille cell without dots.
const Blank = 0x2800

// Dot is one of a braille cell's, by its column from the left and from the lowest up (Unicode, Braille Patterns: dots 7, 3, 2, 1
// and 8, 6, 5, 4), to be added to Blank.
func Dot(column, up int) rune {
	return [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}[column][up]
}

// DotsAcross and DotsUp are how many dots a braille cell has; one of ASCII has one.
const (
	DotsAcross = 2
	DotsUp     = 4
)

// Clip is At, with what is outside at the nearer end.
func (s Interval) Clip(x float64, n int) int {
	switch {
	case math.IsNaN(x):
		return -1
	case x <= s.From:
		return 0
	case x >= s.To:
		return n - 1
	}
	return s.At(x, n)
}

// Put writes a sign on a line at a number, if it is on it and the place is free.
func (s Interval) Put(cells []rune, x float64, sign rune) {
	if i := s.At(x, len(cells)); i >= 0 && (cells[i] == ' ' || cells[i] == '─' || cells[i] == '-') {
		cells[i] = sign
	}
}

// Width is the cells of a line.
func (l Line) Width() int {
	n := 0
	for _, p := range l {
		n += Width(p.Text)
	}
	return n
}

// Plain is a line's text.
func (l Line) Plain() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.Text)
	}
	return b.String()
}

// CutTo leaves out what is beyond w cells.
func (l Line) CutTo(w int) Line {
	if l.Width() <= w {
		return l
	}
	out := Line{}
	for _, p := range l {
		if Width(p.Text) > w {
			p.Text = Cut(p.Text, w)
		}
		w -= Width(p.Text)
		out = append(out, p)
		if w <= 0 {
			break
		}
	}
	return out
}
