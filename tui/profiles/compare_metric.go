package profiles

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// metricPage is one metric of a comparison: its runs, drawn and listed.
type metricPage struct {
	tui.Window
	list  *benchPage // its rows are the other metrics
	lines []draw.Line
	made  metricFrame
}

// metricFrame is what the lines of a metricPage were made for.
type metricFrame struct {
	line *bench.Line
	w, h int
}

func newMetricPage(list *benchPage) *metricPage { return &metricPage{list: list} }

func (p *metricPage) Scope() tui.Scope { return tui.InMetric }

func (p *metricPage) Crumb() string {
	if l := p.list.line(); l != nil {
		return draw.Cut(builds.MetricText(&l.Metric), 48)
	}
	return "metric"
}

func (p *metricPage) Note(*tui.Model) string {
	return "metric " + words.Number(p.list.Cursor+1) + " of " + words.Number(len(p.list.Shown))
}

func (p *metricPage) Refresh(*tui.Model) tui.Cmd  { return nil }
func (p *metricPage) Command(m *tui.Model) string { return p.list.Command(m) }
func (p *metricPage) TSVTable() (string, int)     { return p.runs() }
func (p *metricPage) Can(m *tui.Model, a tui.Action) string {
	switch a {
	case tui.ActSave, tui.ActCopyRow:
		return p.list.Can(m, a)
	case tui.ActLeft:
		if p.list.Cursor == 0 {
			return "this is the first metric"
		}
	case tui.ActRight:
		if p.list.Cursor >= len(p.list.Shown)-1 {
			return "this is the last metric"
		}
	}
	return ""
}

func (p *metricPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	p.lay(m)
	if p.Move(a) {
		return nil
	}
	switch a {
	case tui.ActLeft, tui.ActRight:
		p.list.Move(map[tui.Action]tui.Action{tui.ActLeft: tui.ActUp, tui.ActRight: tui.ActDown}[a], len(p.list.Shown))
		p.Top = 0
	case tui.ActBack:
		return m.Back()
	case tui.ActCopyRow:
		text, rows := p.runs()
		return m.Copy(text, words.Plural(rows, "run"))
	case tui.ActSave:
		return p.list.Act(m, a)
	}
	return nil
}

func (p *metricPage) Body(m *tui.Model, w, h int) []string {
	l := p.list.line()
	if l == nil {
		return append([]string{""}, draw.Sentence(m.Styles, "there is no metric", w)...)
	}
	p.lay(m)
	out := make([]string, 0, h)
	from, to := p.Seen()
	for _, line := range p.lines[from:to] {
		out = append(out, " "+line.Styled(m.Styles))
	}
	return out
}

// lay makes the lines, unless they are there, and keeps the window on them.
func (p *metricPage) lay(m *tui.Model) {
	l, w, h := p.list.line(), m.Width, m.BodyHeight()
	if f := (metricFrame{l, w, h}); l != nil && p.made != f {
		p.made = f
		p.lines = append(drawMetric(p.list.of, l, w-2, max(h*2/3, leastMetric), m.Config.ASCII), draw.Line{})
		if curve := drawCurve(p.list.of, l, w-2, max(h*2/3, leastMetric), m.Config.ASCII); curve != nil {
			p.lines = append(append(p.lines, curve...), draw.Line{})
		}
		p.lines = append(p.lines, runLines(p.list.of, l, w-2, math.MaxInt, m.Config.ASCII)...)
		p.lines = append(p.lines, p.about(w, m.Config.ASCII)...)
	}
	p.Fit(len(p.lines), h)
}

// leastMetric is how many lines a drawing has where the page is smaller: it scrolls.
const leastMetric = 11

// runLines is the table of runs, in at most so many lines: pairs with their change, or both sides beside each other.
func runLines(c *bench.Comparison, l *bench.Line, w, most int, ascii bool) []draw.Line {
	before, after := l.A[:min(len(l.A), most)], l.B[:min(len(l.B), most)]
	text := builds.NewMeasureText(l.Unit, ascii, slices.Concat(before, after)...)
	cells := 6
	for _, list := range [][]float64{before, after} {
		for _, x := range list {
			cells = max(cells, draw.Width(text.Text(x)))
		}
	}
	line := func(role render.Role, i, a, b, change string) draw.Line {
		s := draw.FitRight(i, 5) + "  " + draw.FitRight(a, cells) + "  " + draw.FitRight(b, cells)
		if change != "" {
			s += "  " + draw.FitRight(change, 10)
		}
		return draw.Line{{Role: role, Text: draw.Cut(s, w)}}
	}
	title := ""
	if c.Paired {
		title = "CHANGE"
	}
	lines := []draw.Line{line(render.RoleDim, map[bool]string{true: "PAIR", false: "RUN"}[c.Paired], "BEFORE", "AFTER", title)}
	for i := range max(len(before), len(after)) {
		a, b, change := "", "", ""
		if i < len(before) {
			a = text.Text(before[i])
		}
		if i < len(after) {
			b = text.Text(after[i])
		}
		if c.Paired && a != "" && b != "" {
			change = render.RatioText(after[i] / before[i])
		}
		lines = append(lines, line(render.RolePlain, strconv.Itoa(i+1), a, b, change))
	}
	return lines
}

// about is what was compared, and how the drawing is read.
func (p *metricPage) about(w int, ascii bool) []draw.Line {
	c := p.list.of
	lines := []draw.Line{{}, {{Role: render.RoleDim, Text: "ABOUT THE COMPARISON"}}}
	add := func(role render.Role, text string) {
		for _, line := range draw.Prose(text, w-3) {
			lines = append(lines, draw.Line{{Role: role, Text: draw.Cut(line, w-2)}})
		}
	}
	add(render.RolePlain, builds.ComparisonTitle(c, &render.Options{ASCII: ascii})+": "+builds.TestText(c))
	if text, ok := builds.ControlText(c); text != "" {
		add(map[bool]render.Role{true: render.RolePlain, false: render.RoleWarn}[ok], text)
	}
	for _, note := range p.list.doubts() {
		add(render.RoleWarn, note)
	}
	bar, edge := "├─┼─┤", "╎"
	if ascii {
		bar, edge = "|-+-|", ":"
	}
	add(render.RoleDim, "each dot is a run; "+bar+" are quartiles and median of the runs, and the 95% interval of the change with its median; changes between "+edge+" and "+edge+" are too small to count")
	return lines
}

// runs are the values of all runs as TSV, with all digits.
func (p *metricPage) runs() (tsv string, rows int) {
	l := p.list.line()
	if l == nil {
		return "", 0
	}
	var b strings.Builder
	b.WriteString("RUN\tBEFORE\tAFTER\n")
	rows = max(len(l.A), len(l.B))
	for i := range rows {
		b.WriteString(strconv.Itoa(i + 1))
		for _, list := range [][]float64{l.A, l.B} {
			b.WriteByte('\t')
			if i < len(list) {
				b.WriteString(strconv.FormatFloat(list[i], 'g', -1, 64))
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), rows
}
