package profiles

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
)

// UsageChart draws what processes use as small curves, one a process and measure, on width x height cells of a terminal.
// All curves of a measure have the same scale and all the same time axis, so that processes compare at a glance.
func UsageChart(u *usage.Usage, now time.Time, width, height int, o render.Options) []string {
	c := &usageChart{u: u, o: &o, painter: render.NewPainter(&o), width: width, height: height}
	c.looks = knownMeasures(u)
	c.layout()
	return c.draw(now)
}

type usageChart struct {
	u             *usage.Usage
	o             *render.Options
	painter       render.Painter
	width, height int
	looks         []measureLook
	tops          []float64
	name          int      // cells of the names
	cell          int      // cells of a measure
	bands         [][2]int // of looks
	rows          int      // lines of a process
	shown         int      // processes
	from, to      time.Time
}

// Sizes of a chart in cells.
const (
	leastProcess = 12
	leastCell    = 15
	mostName     = 28
	idealCell    = 32
	chartFoot    = 1
	mostRows     = 12
	valueCells   = 9
	leastCurved  = 3 // lines from which on a value stands above its curve
)

func (c *usageChart) layout() {
	for _, s := range c.u.Series {
		c.name = max(c.name, render.Cells(render.Harmless(s.Name)))
	}
	c.name = min(max(c.name, leastProcess), mostName, max(8, c.width/4))
	free := max(1, c.height-1-chartFoot-render.BoolInt(PerQueryText(c.u) != ""))
	n := max(1, len(c.u.Series))
	c.arrange(c.width-c.name, free, n)
	free = max(1, free/len(c.bands)-1)
	c.rows = min(mostRows, max(1, free/n))
	if c.rows < leastCurved {
		c.rows = 1 // two lines of which one is a number are no better than one
	}
	c.shown = min(len(c.u.Series), free/c.rows)
	if c.shown < len(c.u.Series) {
		c.shown = max(1, c.shown-1) // a line says how many there are besides
	}
	c.tops = make([]float64, len(c.looks))
	for i, l := range c.looks {
		for _, s := range c.u.Series {
			c.tops[i] = fmax(c.tops[i], s.Totals[l.measure].Max)
		}
	}
}

// arrange puts the measures side by side, and into several bands below each other where there is height for it. Those for
// which there is no room at all are left to the table at the end.
func (c *usageChart) arrange(room, free, processes int) {
	bands := min(ceilDiv(len(c.looks), max(1, room/idealCell)), max(1, free/(processes*(leastCurved+1)+1)))
	perBand := min(ceilDiv(len(c.looks), max(1, bands)), max(1, room/(leastCell+render.Gutter)))
	c.cell = max(1, room/max(1, perBand)-render.Gutter)
	for i := 0; i < len(c.looks) && len(c.bands) < max(1, bands); i += perBand {
		c.bands = append(c.bands, [2]int{i, min(len(c.looks), i+perBand)})
	}
	if len(c.bands) == 0 {
		c.bands = [][2]int{{0, 0}}
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func (c *usageChart) draw(now time.Time) []string {
	c.from, c.to = c.u.Begin, now
	lines := []string{c.title(now)}
	if text := PerQueryText(c.u); text != "" {
		lines = append(lines, c.paint(render.RoleAccent, render.Fit(text, c.width, c.ellipsis())))
	}
	for _, band := range c.bands {
		lines = append(lines, c.header(band))
		for _, s := range c.u.Series[:c.shown] {
			lines = append(lines, c.process(s, band)...)
		}
	}
	if rest := len(c.u.Series) - c.shown; rest > 0 {
		lines = append(lines, c.paint(render.RoleDim, render.Fit(c.ellipsis()+" "+strconv.Itoa(rest)+" more in the table at the end", c.width, c.ellipsis())))
	}
	return lines
}

func (c *usageChart) paint(r render.Role, s string) string { return string(c.painter.Paint(nil, r, s)) }

func (c *usageChart) ellipsis() string {
	if c.o.ASCII {
		return "~"
	}
	return "…"
}

func (c *usageChart) title(now time.Time) string {
	text := now.UTC().Format("15:04:05") + " UTC, watching " + words.Plural(len(c.u.Series), "process")
	if len(c.u.Series) != 1 {
		text = now.UTC().Format("15:04:05") + " UTC, watching " + strconv.Itoa(len(c.u.Series)) + " processes"
	}
	text += " for " + words.Age(now.Sub(c.u.Begin).Truncate(time.Second)) + ", every " + words.Age(c.u.Interval) + "; ^C ends it"
	return c.paint(render.RoleTitle, render.Fit(text, c.width, c.ellipsis()))
}

// header names the columns and says how much their curves are at the top.
func (c *usageChart) header(band [2]int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", c.name))
	for i := band[0]; i < band[1]; i++ {
		l := &c.looks[i]
		text := l.title
		if top := c.tops[i]; top > 0 {
			text += " to " + l.text(top)
			if render.Cells(text) > c.cell {
				text = l.title + " " + l.text(top)
			}
		}
		b.WriteString("  " + render.Padded(render.Fit(text, c.cell, c.ellipsis()), c.cell))
	}
	return c.paint(render.RoleDim, strings.TrimRight(b.String(), " "))
}

// process draws one process: a value and a curve a measure.
func (c *usageChart) process(s *usage.Series, band [2]int) []string {
	name := render.ShortenMiddle(render.Harmless(s.Name), c.name, c.ellipsis())
	last, _ := s.Last()
	state, role := "", render.RolePlain
	switch {
	case s.Ended != "":
		state, role = render.Harmless(s.Ended), render.RoleDim
	case last.Gap != "":
		state, role = render.Harmless(last.Gap), render.RoleBad
	case s.Readings == 0:
		state, role = "no answer yet", render.RoleDim
	}
	var columns [][]string
	for i := band[0]; i < band[1]; i++ {
		columns = append(columns, c.curve(s, i, c.looks[i].text(last.Values[c.looks[i].measure])))
	}
	var lines []string
	for row := range c.rows {
		var b strings.Builder
		switch row {
		case 0:
			b.WriteString(c.paint(render.RoleAccent, render.Padded(name, c.name)))
		case 1:
			b.WriteString(c.paint(role, render.Padded(render.Fit(state, c.name, c.ellipsis()), c.name)))
		default:
			b.WriteString(strings.Repeat(" ", c.name))
		}
		for i := range columns {
			b.WriteString("  " + columns[i][row])
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// curve draws one measure of one process in its lines: beside its value if there is one line, else below it.
func (c *usageChart) curve(s *usage.Series, i int, value string) []string {
	role := render.RolePlain
	if value == words.UnknownMark {
		role = render.RoleDim
	}
	if c.rows < leastCurved {
		curve := c.sample(s, c.looks[i].measure, max(1, c.cell-valueCells))
		text := render.Padded(render.Fit(value, valueCells-1, c.ellipsis()), valueCells-1)
		return []string{c.paint(role, text) + " " + c.paint(render.RoleProgress, render.Sparkline(curve, c.tops[i], c.o.ASCII))}
	}
	lines := []string{c.paint(role, render.Padded(render.Fit(value, c.cell, c.ellipsis()), c.cell))}
	for _, line := range render.Area(c.sample(s, c.looks[i].measure, c.cell), c.tops[i], c.rows-1, c.o.ASCII) {
		lines = append(lines, c.paint(render.RoleProgress, line))
	}
	return lines
}

// sample is a measure at n moments from the beginning until now. A cell in which nothing was read is no number; one between
// two readings that are further apart than a cell has what the later says of it.
func (c *usageChart) sample(s *usage.Series, m usage.Measure, n int) []float64 {
	span := max(c.to.Sub(c.from), time.Duration(n)*c.u.Interval) // a watch that has just begun does not fill its chart
	sums, weights := make([]float64, n), make([]float64, n)
	place := func(t time.Time) int {
		return min(n-1, max(0, int(float64(n)*float64(t.Sub(c.from))/float64(span))))
	}
	points := s.Points
	if p, ok := s.Last(); ok && (len(points) == 0 || points[len(points)-1].At.Before(p.At)) {
		points = append(slices.Clip(points), p)
	}
	for i := range points {
		p := &points[i]
		if !p.Values.Known(m) {
			continue
		}
		first, last := place(p.At.Add(-min(p.Over, 2*time.Duration(s.Merged)*c.u.Interval))), place(p.At)
		for at := min(first+1, last); at <= last; at++ {
			sums[at] += p.Values[m]
			weights[at]++
		}
	}
	for i := range sums {
		if weights[i] > 0 {
			sums[i] /= weights[i]
		} else {
			sums[i] = math.NaN()
		}
	}
	return sums
}
