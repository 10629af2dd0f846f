package profiles

import (
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// Sizes of the page.
const (
	mostPlot   = 18 // lines of a drawing that the table does not get
	spareLines = 5  // free lines from which on runs are listed there
)

func (p *benchPage) Body(m *tui.Model, w, h int) []string {
	if len(p.of.Lines) == 0 {
		text := strings.Join(append([]string{"nothing was compared"}, p.of.Notes...), "; ")
		return append([]string{""}, draw.Sentence(m.Styles, words.Harmless(words.OneLine(text)), w)...)
	}
	head := p.head(m, w, h)
	h -= len(head)
	p.Above, p.ascii = len(head), m.Config.ASCII
	if len(p.Shown) == 0 {
		return append(head, p.List.Body(m.Styles, w, h)...)
	}
	if w >= draw.BesideWidth {
		left := w * 9 / 16
		table := p.List.Body(m.Styles, left, h)
		plot := drawMetric(p.of, p.line(), w-left-3, h, m.Config.ASCII)
		if curve := drawCurve(p.of, p.line(), w-left-3, h-len(plot)-1, m.Config.ASCII); curve != nil {
			plot = append(append(plot, draw.Line{}), curve...)
		}
		plot = append(append(plot, draw.Line{}), runLines(p.of, p.line(), w-left-3, h, m.Config.ASCII)...)
		return append(head, draw.Beside(m.Styles, table, plot, left, h)...)
	}
	rows := max(draw.LeastRows, min(len(p.Shown), max(h*2/5, h-1-mostPlot)))
	lines := p.List.Body(m.Styles, w, rows+1)
	for len(lines) < rows+1 {
		lines = append(lines, "")
	}
	lines = append(head, lines...)
	h -= rows + 1
	plot := drawMetric(p.of, p.line(), w-2, h, m.Config.ASCII)
	if h-len(plot) >= spareLines {
		plot = append(append(plot, draw.Line{}), runLines(p.of, p.line(), w-2, h, m.Config.ASCII)...)
	}
	for _, l := range plot[:min(h, len(plot))] {
		lines = append(lines, " "+l.Styled(m.Styles))
	}
	return lines
}

// head says what is compared, and what makes its verdicts doubtful, as far as there is room.
func (p *benchPage) head(m *tui.Model, w, h int) []string {
	const roomyHead = 17
	var lines []string
	add := func(s draw.Style, text string) {
		lines = append(lines, " "+s.On(draw.Cut(words.Harmless(words.OneLine(text)), w-2)))
	}
	if h >= roomyHead {
		add(m.Styles.Strong, builds.ComparisonTitle(p.of, &render.Options{ASCII: m.Config.ASCII})+": "+builds.VerdictsText(p.of))
		add(m.Styles.Dim, builds.TestText(p.of))
	}
	if text, ok := builds.ControlText(p.of); text != "" && ok && h >= roomyHead {
		add(m.Styles.Dim, text)
	}
	if doubts := p.doubts(); len(doubts) > 0 {
		add(m.Styles.Warn, strings.Join(doubts, "; "))
	}
	return lines
}

// doubts are what makes the verdicts less sure.
func (p *benchPage) doubts() []string {
	var doubts []string
	if builds.OneRunEach(p.of) {
		doubts = append(doubts, "one run a side proves nothing")
	}
	if text, ok := builds.ControlText(p.of); !ok {
		doubts = append(doubts, text)
	}
	for side, name := range []string{"before", "after"} {
		if n := p.of.Failed[side]; n > 0 {
			doubts = append(doubts, words.Plural(n, "run")+" "+name+" failed")
		}
		if n := p.of.Unmatched[side]; n > 0 {
			doubts = append(doubts, words.Plural(n, "run")+" "+name+" without a partner")
		}
	}
	for _, s := range []*bench.Set{p.of.A, p.of.B} {
		if s != nil {
			doubts = append(doubts, s.Notes...)
		}
	}
	return append(doubts, p.of.Notes...)
}

// metricPlot draws the runs of a metric.
type metricPlot struct {
	of    *bench.Comparison
	line  *bench.Line
	text  builds.MeasureText
	ascii bool
	role  render.Role
	w     int // of the page
	room  int // for marks, between what stands at both ends
}

// Cells at the left of a drawing, for the name of a side, and what is around marks.
const (
	plotLabel = 7
	plotGap   = 2
	mostStrip = 4 // lines of the runs of a side
)

// drawMetric draws a metric in at most h lines of w cells: the runs of both sides on one scale, the change with its
// interval, and what there is to say. What is worth least gives way first.
func drawMetric(c *bench.Comparison, l *bench.Line, w, h int, ascii bool) []draw.Line {
	if l == nil || h <= 0 {
		return nil
	}
	_, role := builds.ComparisonVerdict(l.Verdict, ascii)
	p := &metricPlot{of: c, line: l, text: measureOf(l, ascii), ascii: ascii, role: role, w: w}
	p.room = max(8, w-plotLabel-plotGap-p.valueWidth())
	lines := []draw.Line{p.title()}
	remarks := p.remarks()
	const (
		bare    = 6 // title, strips, scale, change, its scale
		rulered = bare + 3
	)
	least := min(len(remarks), max(0, h-bare))
	rulers := h-least >= rulered
	high := 1
	if rulers {
		high = max(1, min(mostStrip, (h-least-rulered)/2))
	}
	if h >= 4 {
		lines = append(lines, p.sides(high, rulers)...)
	}
	if h >= bare {
		change := p.change(rulers)
		if l.Remark != "" && len(lines)+len(change) >= h { // it says more than a scale
			change = change[:max(0, len(change)-1)]
		}
		lines = append(lines, change...)
	}
	lines = append(lines, clipped(remarks, h-len(lines), w)...)
	return lines[:min(len(lines), h)]
}

// clipped are at most n lines of prose; the last says that there are more.
func clipped(lines []draw.Line, n, w int) []draw.Line {
	switch {
	case n <= 0:
		return nil
	case len(lines) <= n:
		return lines
	}
	last := lines[n-1][0]
	last.Text = draw.Cut(last.Text+" …", w)
	return append(slices.Clone(lines[:n-1]), draw.Line{last})
}

func (p *metricPlot) title() draw.Line {
	mark, role := builds.ComparisonVerdict(p.line.Verdict, p.ascii)
	verdict := mark + " " + p.line.Verdict.String()
	if text := builds.MetricChange(p.line); text != words.NoneMark {
		verdict += " " + text
	}
	name := draw.CutName(builds.MetricText(&p.line.Metric), max(8, p.w-draw.Width(verdict)-3))
	return draw.Line{{Role: render.RoleAccent, Text: name}, {Role: render.RolePlain, Text: "  "}, {Role: role, Text: draw.Cut(verdict, p.w-draw.Width(name)-2)}}
}

// values are what stands at the right of both strips.
func (p *metricPlot) values() [2]string {
	return [2]string{draw.NoneIf(p.text.Text(p.line.Before), len(p.line.A) == 0), draw.NoneIf(p.text.Text(p.line.After), len(p.line.B) == 0)}
}

func (p *metricPlot) valueWidth() int {
	v := p.values()
	return max(draw.Width(v[0]), draw.Width(v[1]), draw.Width(render.RatioText(p.line.Ratio)))
}

// row is a line of the drawing: a name, marks, a value.
func (p *metricPlot) row(label string, role render.Role, marks, value string) draw.Line {
	line := draw.Line{{Role: render.RoleDim, Text: draw.Fit(label, plotLabel)}, {Role: role, Text: draw.Fit(marks, p.room)}}
	if value != "" {
		line = append(line, draw.Piece{Role: role, Text: draw.Pad(plotGap) + ansi.Truncate(value, p.w-plotLabel-p.room-plotGap, p.sign("…", ">"))})
	}
	return line
}

// sides are the runs before and after, with their quartiles and medians where there is room for them.
func (p *metricPlot) sides(high int, rulers bool) []draw.Line {
	l := p.line
	s, ok := draw.IntervalOf(l.A, l.B, []float64{l.Before, l.After})
	if !ok {
		return []draw.Line{{{Role: render.RoleDim, Text: "there is no value to draw"}}}
	}
	high = min(high, max(p.stripHeight(l.A, s), p.stripHeight(l.B, s)))
	values := p.values()
	var lines []draw.Line
	medians := []float64{l.Before, l.After}
	for side, list := range [][]float64{l.A, l.B} {
		role := [2]render.Role{render.RoleProgress, p.role}[side]
		strip := dots(list, s, p.room, high, p.ascii)
		for i, marks := range strip {
			label, value := "", ""
			if i == len(strip)-1 {
				label, value = [2]string{"before", "after"}[side], values[side]
			}
			lines = append(lines, p.row(label, role, marks, value))
		}
		if rulers {
			low, upper := quartiles(list)
			marks := ruler(low, medians[side], upper, s, p.room, p.ascii)
			lines = append(lines, p.row("", role, string(marks), ""))
		}
	}
	scale := []rune(strings.Repeat(p.sign("─", "-"), p.room))
	if !rulers { // the medians are on the scale then
		s.Put(scale, l.Before, []rune(p.sign("△", "b"))[0])
		s.Put(scale, l.After, []rune(p.sign("▲", "a"))[0])
	}
	ends := builds.NewMeasureText(l.Unit, p.ascii, s.From, s.To)
	return append(lines, p.scale(scale, ends.Text(s.From), ends.Text(s.To)))
}

// stripHeight is how many lines the runs of a side fill.
func (p *metricPlot) stripHeight(list []float64, s draw.Interval) int {
	_, most := stacks(list, s, p.room, p.ascii)
	if !p.ascii {
		most = (most + draw.DotsUp - 1) / draw.DotsUp
	}
	return max(1, most)
}

// scale writes what the ends of a line of numbers are into it.
func (p *metricPlot) scale(cells []rune, from, to string) draw.Line {
	free := func(from, to int) bool { // what is marked there must be seen
		line := []rune(p.sign("─", "-"))[0]
		return !slices.ContainsFunc(cells[from:to], func(r rune) bool { return r != line })
	}
	const least = 8 // cells of the line that have to be left
	if n := draw.Width(from) + 1; n+least < len(cells) && free(0, n) {
		copy(cells, []rune(draw.Fit(from, n)))
	}
	if n := draw.Width(to) + 1; n+least < len(cells) && free(len(cells)-n, len(cells)) {
		copy(cells[len(cells)-n:], []rune(draw.FitRight(to, n)))
	}
	return p.row("", render.RoleDim, string(cells), "")
}

// change draws the interval of the change against none, above it the changes of all pairs.
func (p *metricPlot) change(pairs bool) []draw.Line {
	l := p.line
	if l.Verdict == bench.OneSide || math.IsNaN(l.Ratio) {
		return nil
	}
	var ratios []float64
	if p.of.Paired {
		for i := range min(len(l.A), len(l.B)) {
			ratios = append(ratios, l.B[i]/l.A[i])
		}
	}
	effect := max(0, p.of.Effect)
	s, ok := draw.IntervalOf(ratios, []float64{l.Ratio, l.Low, l.High, 1 - effect, 1 + effect})
	if !ok {
		return nil
	}
	var lines []draw.Line
	if pairs && len(ratios) > 0 {
		lines = append(lines, p.row("pairs", p.role, dots(ratios, s, p.room, 1, p.ascii)[0], ""))
	}
	marks := ruler(l.Low, l.Ratio, l.High, s, p.room, p.ascii)
	s.Put(marks, 1, []rune(p.sign("│", "0"))[0])
	lines = append(lines, p.row("change", p.role, string(marks), render.RatioText(l.Ratio)))
	scale := []rune(strings.Repeat(p.sign("─", "-"), p.room))
	for _, x := range []float64{1 - effect, 1 + effect} {
		if effect > 0 {
			s.Put(scale, x, []rune(p.sign("╎", ":"))[0])
		}
	}
	s.Put(scale, 1, []rune(p.sign("0", "0"))[0])
	return append(lines, p.scale(scale, render.RatioText(s.From), render.RatioText(s.To)))
}

func (p *metricPlot) sign(full, ascii string) string {
	if p.ascii {
		return ascii
	}
	return full
}

// remarks say what the drawing does not.
func (p *metricPlot) remarks() []draw.Line {
	l := p.line
	var lines []draw.Line
	add := func(role render.Role, text string) {
		for _, line := range draw.Prose(text, p.w) {
			lines = append(lines, draw.Line{{Role: role, Text: draw.Cut(line, p.w)}})
		}
	}
	if l.Remark != "" {
		add(render.RoleWarn, l.Remark)
	}
	if l.Verdict != bench.OneSide || l.Remark == "" {
		add(render.RolePlain, p.summary())
	}
	return lines
}

// summary is how the change was found, and what could have been.
func (p *metricPlot) summary() string {
	l := p.line
	if l.Verdict == bench.OneSide {
		return "the other side does not have it"
	}
	runs := words.Plural(len(l.A), "run") + " against " + words.Number(len(l.B))
	if p.of.Paired {
		runs = words.Plural(len(l.A), "pair")
	}
	parts := []string{runs}
	if l.Test != "" && !math.IsNaN(l.Corrected) {
		parts = append(parts, words.Harmless(l.Test), chance(l.P)+", corrected "+strings.TrimPrefix(chance(l.Corrected), "p "))
	}
	if !math.IsNaN(l.Low) && !math.IsNaN(l.High) {
		parts = append(parts, "95% CI "+builds.MetricInterval(l))
	}
	if text := builds.MetricVisible(l); text != words.UnknownMark && l.Remark == "" {
		parts = append(parts, "these runs show changes from "+text+" on")
	}
	if l.Needs > 0 && p.of.Effect > 0 && l.Remark == "" {
		noun := "runs a side"
		if p.of.Paired {
			noun = "pairs"
		}
		parts = append(parts, words.Number(l.Needs)+" "+noun+" would show "+builds.PercentOfAll(p.of.Effect))
	}
	return strings.Join(parts, ", ")
}
