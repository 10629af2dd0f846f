package draw

import (
	"math"
	"slices"
	"strings"

	"kitescope/render"
)

// Series are points that a chart joins, with a mark on each.
type Series struct {
	Name string
	Mark rune
	Role render.Role
	X, Y []float64
	Low  []float64 // intervals of Y, where there are some
	High []float64
	Bare bool // a line without marks
}

// Chart draws series between two axes.
type Chart struct {
	Series []Series
	X, Y   Interval
	// XText and YText write the scales; At are the places on X that want a label, in their order of importance.
	XText, YText func(float64) string
	At           []float64
	ASCII        bool

	w, h  int // of the plot, in cells
	dots  []rune
	marks []rune
	roles []render.Role
}

// Draw lays the chart out in h lines of w cells, with its axes; nil where there is no room for it.
func (c *Chart) Draw(w, h int) []Line {
	top, bottom := c.YText(c.Y.To), c.YText(c.Y.From)
	label := max(Width(top), Width(bottom)) + 1
	c.w, c.h = w-label-1, h-2
	if c.w < 8 || c.h < 2 {
		return nil
	}
	c.dots, c.marks, c.roles = make([]rune, c.w*c.h), make([]rune, c.w*c.h), make([]render.Role, c.w*c.h)
	for i := range c.Series {
		c.join(&c.Series[i])
	}
	for i := range c.Series {
		c.markAll(&c.Series[i])
	}
	axis, corner, line := "│", "└", "─"
	if c.ASCII {
		axis, corner, line = "|", "+", "-"
	}
	var lines []Line
	for r := range c.h {
		text := ""
		switch {
		case r == 0:
			text = top
		case r == c.h-1:
			text = bottom
		case c.h >= 7 && r == c.h-1-c.Y.At((c.Y.From+c.Y.To)/2, c.h):
			text = c.YText((c.Y.From + c.Y.To) / 2)
		}
		lines = append(lines, append(Line{{Role: render.RoleDim, Text: FitRight(text, label) + axis}}, c.row(r)...))
	}
	return append(lines, Line{{Role: render.RoleDim, Text: Pad(label) + corner + strings.Repeat(line, c.w)}}, Line{{Role: render.RoleDim, Text: Pad(label+1) + c.Scale(c.w)}})
}

// UpTo is a scale from 0 to a round number that is not less than x.
func UpTo(x float64) Interval {
	if !(x > 0) || !Drawable(x) {
		return Interval{From: 0, To: 1}
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if top := f * unit; top >= x && Drawable(top) {
			return Interval{From: 0, To: top}
		}
	}
	return Interval{From: 0, To: x}
}

// row is a line of the plot: runs of cells of one role.
func (c *Chart) row(r int) Line {
	var line Line
	var cells []rune
	role := render.RolePlain
	flush := func() {
		if len(cells) > 0 {
			line = append(line, Piece{Role: role, Text: string(cells)})
		}
		cells = cells[:0]
	}
	for i := r * c.w; i < (r+1)*c.w; i++ {
		sign, its := ' ', render.RolePlain
		switch {
		case c.marks[i] != 0:
			sign, its = c.marks[i], c.roles[i]
		case c.dots[i] != 0:
			sign, its = c.dots[i], c.roles[i]
		}
		if its != role {
			flush()
			role = its
		}
		cells = append(cells, sign)
	}
	flush()
	return line
}

// Scale writes what the places on X are below an axis of w cells, as many as there is room for.
func (c *Chart) Scale(w int) string {
	cells := []rune(strings.Repeat(" ", w))
	for _, x := range c.At {
		text := []rune(c.XText(x))
		i := c.X.At(x, w)
		if i < 0 || len(text) > w {
			continue
		}
		from := max(0, min(i-len(text)/2, w-len(text)))
		free := cells[max(0, from-1):min(w, from+len(text)+1)]
		if !slices.ContainsFunc(free, func(r rune) bool { return r != ' ' }) {
			copy(cells[from:], text)
		}
	}
	return strings.TrimRight(string(cells), " ")
}

// join draws the lines between a series' points, and its intervals.
func (c *Chart) join(s *Series) {
	for i := range s.X {
		if i > 0 {
			c.line(s.X[i-1], s.Y[i-1], s.X[i], s.Y[i], s.Role)
		}
		if i < len(s.Low) && s.High[i] > s.Low[i] {
			c.line(s.X[i], s.Low[i], s.X[i], s.High[i], s.Role)
		}
	}
}

func (c *Chart) markAll(s *Series) {
	if s.Bare {
		return
	}
	for i := range s.X {
		x, y := c.X.At(s.X[i], c.w), c.Y.At(s.Y[i], c.h)
		if x < 0 || y < 0 {
			continue
		}
		at := (c.h-1-y)*c.w + x
		c.marks[at], c.roles[at] = s.Mark, s.Role
	}
}

// line sets dots between two points; ASCII has one in a cell.
func (c *Chart) line(x0, y0, x1, y1 float64, role render.Role) {
	across, up := c.w*DotsAcross, c.h*DotsUp
	if c.ASCII {
		across, up = c.w, c.h
	}
	ax, ay, bx, by := c.X.Clip(x0, across), c.Y.Clip(y0, up), c.X.Clip(x1, across), c.Y.Clip(y1, up)
	if ax < 0 || ay < 0 || bx < 0 || by < 0 {
		return
	}
	steps := max(1, max(bx-ax, ax-bx), max(by-ay, ay-by))
	for i := range steps + 1 {
		part := float64(i) / float64(steps)
		c.dot(ax+int(math.Round(part*float64(bx-ax))), ay+int(math.Round(part*float64(by-ay))), role)
	}
}

// dot sets one dot; y counts up.
func (c *Chart) dot(x, y int, role render.Role) {
	if c.ASCII {
		i := (c.h-1-y)*c.w + x
		c.dots[i], c.roles[i] = '.', role
		return
	}
	i := (c.h-1-y/DotsUp)*c.w + x/DotsAcross
	c.dots[i] = max(c.dots[i], Blank) | Dot(x%DotsAcross, y%DotsUp)
	c.roles[i] = role
}

// ChartLegend names the series, each with its mark.
func ChartLegend(list []Series, w int) Line {
	var line Line
	for i := range list {
		s := &list[i]
		if s.Bare {
			continue
		}
		text := string(s.Mark) + " " + s.Name
		if len(line) > 0 {
			text = "  " + text
		}
		if line.Width()+Width(text) > w-2 {
			return append(line, Piece{Role: render.RoleDim, Text: " …"})
		}
		line = append(line, Piece{Role: s.Role, Text: text})
	}
	return line
}

// SeriesRole tells series apart by colour, as their marks do without.
func SeriesRole(i int) render.Role {
	list := []render.Role{render.RoleAccent, render.RoleGood, render.RoleWarn, render.RoleProgress, render.RoleMore, render.RoleTitle}
	return list[i%len(list)]
}

// SeriesMark is a letter for each series.
func SeriesMark(i int) rune { return 'a' + rune(i%26) }
