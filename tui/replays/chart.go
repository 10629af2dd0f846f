package replays

import (
	"math"
	"slices"
	"strings"

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

// series are points that a chart joins, with a mark on each.
type series struct {
	name string
	mark rune
	role render.Role
	x, y []float64
	low  []float64 // intervals of y, where there are some
	high []float64
	bare bool // a line without marks
}

// chart draws series between two axes.
type chart struct {
	series []series
	x, y   draw.Interval
	// xText and yText write the scales; at are the places on x that want a label, in their order of importance.
	xText, yText func(float64) string
	at           []float64
	ascii        bool

	w, h  int // of the plot, in cells
	dots  []rune
	marks []rune
	roles []render.Role
}

// draw lays the chart out in h lines of w cells, with its axes.
func (c *chart) draw(w, h int) []draw.Line {
	top, bottom := c.yText(c.y.To), c.yText(c.y.From)
	label := max(draw.Width(top), draw.Width(bottom)) + 1
	c.w, c.h = w-label-1, h-2
	if c.w < 8 || c.h < 2 {
		return nil
	}
	c.dots, c.marks, c.roles = make([]rune, c.w*c.h), make([]rune, c.w*c.h), make([]render.Role, c.w*c.h)
	for i := range c.series {
		c.join(&c.series[i])
	}
	for i := range c.series {
		c.markAll(&c.series[i])
	}
	axis, corner, line := "│", "└", "─"
	if c.ascii {
		axis, corner, line = "|", "+", "-"
	}
	var lines []draw.Line
	for r := range c.h {
		text := ""
		switch {
		case r == 0:
			text = top
		case r == c.h-1:
			text = bottom
		case c.h >= 7 && r == c.h-1-c.y.At((c.y.From+c.y.To)/2, c.h):
			text = c.yText((c.y.From + c.y.To) / 2)
		}
		lines = append(lines, append(draw.Line{{Role: render.RoleDim, Text: draw.FitRight(text, label) + axis}}, c.row(r)...))
	}
	return append(lines, draw.Line{{Role: render.RoleDim, Text: draw.Pad(label) + corner + strings.Repeat(line, c.w)}}, draw.Line{{Role: render.RoleDim, Text: draw.Pad(label+1) + c.scale()}})
}

// upTo is a scale from 0 to a round number that is not less than x.
func upTo(x float64) draw.Interval {
	if !(x > 0) || !draw.Drawable(x) {
		return draw.Interval{From: 0, To: 1}
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if top := f * unit; top >= x && draw.Drawable(top) {
			return draw.Interval{From: 0, To: top}
		}
	}
	return draw.Interval{From: 0, To: x}
}

// row is a line of the plot: runs of cells of one role.
func (c *chart) row(r int) draw.Line {
	var line draw.Line
	var cells []rune
	role := render.RolePlain
	flush := func() {
		if len(cells) > 0 {
			line = append(line, draw.Piece{Role: role, Text: string(cells)})
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

// scale writes what the places on x are below the axis, as many as there is room for.
func (c *chart) scale() string {
	cells := []rune(strings.Repeat(" ", c.w))
	for _, x := range c.at {
		text := []rune(c.xText(x))
		i := c.x.At(x, c.w)
		if i < 0 || len(text) > c.w {
			continue
		}
		from := max(0, min(i-len(text)/2, c.w-len(text)))
		free := cells[max(0, from-1):min(c.w, from+len(text)+1)]
		if !slices.ContainsFunc(free, func(r rune) bool { return r != ' ' }) {
			copy(cells[from:], text)
		}
	}
	return strings.TrimRight(string(cells), " ")
}

// join draws the lines between a series' points, and its intervals.
func (c *chart) join(s *series) {
	for i := range s.x {
		if i > 0 {
			c.line(s.x[i-1], s.y[i-1], s.x[i], s.y[i], s.role)
		}
		if i < len(s.low) && s.high[i] > s.low[i] {
			c.line(s.x[i], s.low[i], s.x[i], s.high[i], s.role)
		}
	}
}

func (c *chart) markAll(s *series) {
	if s.bare {
		return
	}
	for i := range s.x {
		x, y := c.x.At(s.x[i], c.w), c.y.At(s.y[i], c.h)
		if x < 0 || y < 0 {
			continue
		}
		at := (c.h-1-y)*c.w + x
		c.marks[at], c.roles[at] = s.mark, s.role
	}
}

// line sets dots between two points; ASCII has one in a cell.
func (c *chart) line(x0, y0, x1, y1 float64, role render.Role) {
	across, up := c.w*draw.DotsAcross, c.h*draw.DotsUp
	if c.ascii {
		across, up = c.w, c.h
	}
	ax, ay, bx, by := c.x.Clip(x0, across), c.y.Clip(y0, up), c.x.Clip(x1, across), c.y.Clip(y1, up)
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
func (c *chart) dot(x, y int, role render.Role) {
	if c.ascii {
		i := (c.h-1-y)*c.w + x
		c.dots[i], c.roles[i] = '.', role
		return
	}
	i := (c.h-1-y/draw.DotsUp)*c.w + x/draw.DotsAcross
	c.dots[i] = max(c.dots[i], draw.Blank) | draw.Dot(x%draw.DotsAcross, y%draw.DotsUp)
	c.roles[i] = role
}

// legend names the series, each with its mark.
func legend(list []series, w int) draw.Line {
	var line draw.Line
	for i := range list {
		s := &list[i]
		if s.bare {
			continue
		}
		text := string(s.mark) + " " + s.name
		if len(line) > 0 {
			text = "  " + text
		}
		if line.Width()+draw.Width(text) > w-2 {
			return append(line, draw.Piece{Role: render.RoleDim, Text: " …"})
		}
		line = append(line, draw.Piece{Role: s.role, Text: text})
	}
	return line
}

// seriesRole tells series apart by colour, as their marks do without.
func seriesRole(i int) render.Role {
	list := []render.Role{render.RoleAccent, render.RoleGood, render.RoleWarn, render.RoleProgress, render.RoleMore, render.RoleTitle}
	return list[i%len(list)]
}

// seriesMark is a letter for each series.
func seriesMark(i int) rune { return 'a' + rune(i%26) }
