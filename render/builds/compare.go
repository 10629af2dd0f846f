// Package builds writes what tells one build from another: comparisons of benchmarks, judgements of profiles that a build would be
// optimised with, what was packed and which binary took it, and trials of the whole. What enters is a value of profile/bench,
// profile/pgo or profile/trial, a format and options; what leaves is written to an io.Writer.
//
//  1. Figures become words with a unit for each metric (compare_units.go), verdicts a mark and a role.
//  2. Each report becomes a render.Sheet, which package render writes in all formats; a trial is a page of Markdown around one.
//  3. Comparisons are also drawn (plot_compare.go).
package builds

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
)

// ComparisonFormats are the formats of comparisons of benchmarks.
func ComparisonFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "a line for each metric; on a terminal what fits (default)",
		"wide":  "the same with chances, directions, the control and what could have been seen",
		"json":  "one JSON object, one metric per line, with the values of all runs (docs/reference/json.md)",
		"jsonl": "one JSON object per line and metric",
		"name":  "",
	})
}

// WriteComparison writes what changed between two sets of benchmark results, and how sure that is.
func WriteComparison(w io.Writer, c *bench.Comparison, f render.Format, o render.ReportOptions) error {
	if f.Name() != "table" {
		o.Width = 0
	}
	s := newComparisonSheet(c, f.Name() == "wide", &o)
	if f.Name() == "html" {
		figures, err := ComparisonFigures(c)
		if err != nil {
			return err
		}
		s.Figures = figures
	}
	return s.Write(w, f)
}

// ComparisonSchema is what can be asked of the metrics that WriteComparison writes.
func ComparisonSchema(o render.ReportOptions) *table.Schema {
	return newComparisonTable(&bench.Comparison{}, nil, false, &o).rows(false).Schema()
}

func newComparisonSheet(c *bench.Comparison, wide bool, o *render.ReportOptions) *render.Sheet {
	lines := groupedLines(c)
	t := newComparisonTable(c, lines, wide, o)
	t.apart = len(lines) > 1 && !slices.ContainsFunc(lines, func(l *bench.Line) bool { return l.Remark != lines[0].Remark })
	asked, parts := t.parts()
	s := &render.Sheet{
		Kind: "Comparison", Options: o, Head: comparisonHead(c, &o.Options),
		About:  func(e *encode.Encoder) { writeComparisonHead(e, c) },
		Items:  asked.Items,
		Nested: func(e *encode.Encoder, i int) { writeLineValues(e, lines[i]) },
		Parts:  parts, Foot: asked.More(o),
	}
	if len(lines) == 0 {
		return s
	}
	if !t.apart && len(asked.Rows) > 0 && o.Width > 0 && !o.KeepColumns && render.TablesWidth(s.Parts) > o.Width {
		t.apart = true
		_, s.Parts = t.parts()
	}
	if t.apart {
		s.Foot = append(s.Foot, t.remarks(asked.Rows)...)
	}
	s.Foot = append(s.Foot, t.legend()...)
	return s
}

// ComparisonTitle names both sides: "before → after".
func ComparisonTitle(c *bench.Comparison, o *render.Options) string {
	return sideName(c.A) + render.Arrow(o) + sideName(c.B)
}

func sideName(s *bench.Set) string {
	if s == nil {
		return words.UnknownMark
	}
	return render.OrUnknown(s.Name)
}

func comparisonHead(c *bench.Comparison, o *render.Options) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: ComparisonTitle(c, o)}, verdictsLine(c)}
	if OneRunEach(c) {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: oneRun + ": the difference may be chance"})
	}
	lines = append(lines, render.Line{Text: TestText(c)})
	lines = append(lines, bothSides(c)...)
	if text, ok := ControlText(c); text != "" {
		lines = append(lines, render.Line{Role: []render.Role{render.RoleWarn, render.RolePlain}[render.BoolInt(ok)], Text: text})
	}
	for _, n := range c.Notes {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: "note: " + render.Harmless(n)})
	}
	return lines
}

// comparisonVerdicts are the verdicts in the order in which they are counted: what wants a look comes first.
func comparisonVerdicts() []bench.Verdict {
	return []bench.Verdict{bench.Worse, bench.Better, bench.Changed, bench.NoDifference, bench.TooFew, bench.NotJudged, bench.OneSide}
}

func countVerdict(c *bench.Comparison, v bench.Verdict) (n int) {
	for i := range c.Lines {
		n += render.BoolInt(c.Lines[i].Verdict == v)
	}
	return n
}

// VerdictsText counts metrics by their verdict, and names those of which a change was shown, the largest first:
// "1 worse (p99 latency +12.0%), 3 no difference shown".
func VerdictsText(c *bench.Comparison) string {
	line := verdictsLine(c)
	for _, piece := range line.After {
		line.Text += piece.Text
	}
	return line.Text
}

func verdictsLine(c *bench.Comparison) render.Line {
	var line render.Line
	for _, v := range comparisonVerdicts() {
		n := countVerdict(c, v)
		if n == 0 {
			continue
		}
		_, role := ComparisonVerdict(v, false)
		text := strconv.Itoa(n) + " " + v.String()
		if names := largestChanges(c, v); len(names) > 0 {
			text += " (" + words.FirstOf(names, 3, "; ") + ")"
		}
		if line.Text == "" {
			line.Role, line.Text = role, text
			continue
		}
		line.After = append(line.After, render.Piece{Role: render.RolePlain, Text: ", "}, render.Piece{Role: role, Text: text})
	}
	if line.Text == "" {
		line.Text = "nothing was compared"
	}
	return line
}

// largestChanges are the metrics of a verdict with their changes, the largest first; none where no change was shown.
func largestChanges(c *bench.Comparison, v bench.Verdict) (names []string) {
	if !ChangeShown(v) {
		return nil
	}
	var lines []*bench.Line
	for i := range c.Lines {
		if c.Lines[i].Verdict == v {
			lines = append(lines, &c.Lines[i])
		}
	}
	size := func(l *bench.Line) float64 { return math.Abs(math.Log(max(l.Ratio, 0))) }
	slices.SortStableFunc(lines, func(a, b *bench.Line) int { return cmp.Compare(size(b), size(a)) })
	const widest = 48
	for _, l := range lines {
		names = append(names, render.ShortenMiddle(MetricText(&l.Metric), widest, "~")+" "+MetricChange(l))
	}
	return names
}

// OneRunEach reports whether no metric has more than one run on any side.
func OneRunEach(c *bench.Comparison) bool {
	for i := range c.Lines {
		if len(c.Lines[i].A) > 1 || len(c.Lines[i].B) > 1 {
			return false
		}
	}
	return len(c.Lines) > 0
}

// TestText says how was compared: "24 pairs, Wilcoxon signed-rank, level 5% over 3 metrics, effect from 1%": the words of the flags.
func TestText(c *bench.Comparison) string {
	runs := [2][2]int{{math.MaxInt, 0}, {math.MaxInt, 0}} // least and most of each side
	var tests []string
	tested := 0
	for i := range c.Lines {
		l := &c.Lines[i]
		for side, values := range [][]float64{l.A, l.B} {
			if l.Verdict != bench.OneSide {
				runs[side][0], runs[side][1] = min(runs[side][0], len(values)), max(runs[side][1], len(values))
			}
		}
		if l.Test != "" {
			tested++
			if !slices.Contains(tests, l.Test) {
				tests = append(tests, l.Test)
			}
		}
	}
	var parts []string
	switch {
	case runs[0][1] == 0 && runs[1][1] == 0:
	case c.Paired:
		parts = append(parts, spanText(runs[0])+" "+[]string{"pairs", "pair"}[render.BoolInt(runs[0][1] == 1)])
	default:
		parts = append(parts, sidesText(spanText(runs[0]), spanText(runs[1])), "not paired")
	}
	for i := range tests {
		parts = append(parts, render.Harmless(tests[i]))
	}
	switch {
	case tested == 0:
		return strings.Join(append(parts, "nothing was tested"), ", ")
	case tested == countVerdict(c, bench.TooFew):
		return strings.Join(append(parts, "too few for any verdict"), ", ")
	}
	level := "level " + PercentOfAll(c.Level)
	if tested > 1 {
		level += " over " + strconv.Itoa(tested) + " metrics"
	}
	parts = append(parts, level)
	if c.Effect > 0 {
		parts = append(parts, "effect from "+PercentOfAll(c.Effect))
	}
	return strings.Join(parts, ", ")
}

// sidesText says how many runs both sides have: "1 run a side", "12 runs against 10".
func sidesText(before, after string) string {
	text := before + " " + []string{"runs", "run"}[render.BoolInt(before == "1")]
	if before == after {
		return text + " a side"
	}
	return text + " against " + after
}

func spanText(n [2]int) string {
	if n[0] >= n[1] {
		return strconv.Itoa(n[1])
	}
	return strconv.Itoa(n[0]) + " to " + strconv.Itoa(n[1])
}

// mostFailures is how many runs without values are named.
const mostFailures = 3

// bothSides say what the sides are: in one line, unless there is more to say of one of them than of the other.
func bothSides(c *bench.Comparison) (lines []render.Line) {
	plain := func(s *bench.Set, side int) bool {
		return s != nil && len(s.Notes) == 0 && c.Failed[side] == 0 && c.Unmatched[side] == 0 &&
			!slices.ContainsFunc(s.Runs, func(r bench.Run) bool { return r.Failed != "" })
	}
	if plain(c.A, 0) && plain(c.B, 1) && c.A.Format == c.B.Format {
		text := sidesText(strconv.Itoa(len(c.A.Runs)), strconv.Itoa(len(c.B.Runs)))
		if c.A.Format != "" {
			text = render.Harmless(c.A.Format) + ", " + text
		}
		return []render.Line{{Role: render.RoleDim, Text: text}}
	}
	for side, s := range []*bench.Set{c.A, c.B} {
		lines = append(lines, sideLines(c, s, side)...)
	}
	return lines
}

// sideLabel is a side by its part, and its name if that says more: "before: main".
func sideLabel(s *bench.Set, side int) string {
	part := []string{"before", "after"}[side]
	if name := sideName(s); name != part {
		return part + ": " + name
	}
	return part
}

// sideLines say what a side is, and which of its runs do not count.
func sideLines(c *bench.Comparison, s *bench.Set, side int) []render.Line {
	if s == nil {
		return nil
	}
	line := render.Line{Role: render.RoleDim, Text: []string{"before: ", "after:  "}[side]}
	if name := sideName(s); name != []string{"before", "after"}[side] {
		line.Text += name + ", "
	}
	if s.Format != "" {
		line.Text += render.Harmless(s.Format) + ", "
	}
	line.Text += words.Plural(len(s.Runs), "run")
	if n := c.Failed[side]; n > 0 {
		line.After = append(line.After, render.Piece{Role: render.RoleWarn, Text: ", " + strconv.Itoa(n) + " failed"})
	}
	if n := c.Unmatched[side]; n > 0 {
		line.After = append(line.After, render.Piece{Role: render.RoleWarn, Text: ", " + strconv.Itoa(n) + " without a partner"})
	}
	lines := []render.Line{line}
	failed := 0
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Failed == "" {
			continue
		}
		if failed++; failed <= mostFailures {
			lines = append(lines, render.Line{Role: render.RoleWarn, Text: "  run " + render.OrUnknown(r.Name) + " failed: " + render.Harmless(r.Failed)})
		}
	}
	if failed > mostFailures {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: "  and " + strconv.Itoa(failed-mostFailures) + " more"})
	}
	for _, n := range s.Notes {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: "  note: " + render.Harmless(n)})
	}
	return lines
}

// ControlText says what the same program compared with itself shows, "" if there is no control; ok if that is no change.
func ControlText(c *bench.Comparison) (text string, ok bool) {
	if c.Control == nil {
		return "", true
	}
	text = "control, the first program against itself: "
	var moved []string
	for i := range c.Control.Lines {
		l := &c.Control.Lines[i]
		if ChangeShown(l.Verdict) {
			moved = append(moved, MetricText(&l.Metric)+" "+render.RatioText(l.Ratio))
		}
	}
	if len(moved) > 0 {
		return text + "a change is shown where there is none, " + words.FirstOf(moved, 3, "; ") + ": the runs differ by more than chance, so do not trust the verdicts", false
	}
	quiet := countVerdict(c.Control, bench.NoDifference)
	all := len(c.Control.Lines) - countVerdict(c.Control, bench.NotJudged) - countVerdict(c.Control, bench.OneSide)
	if quiet == 0 {
		return text + "too few runs", false
	}
	return text + "no difference shown in " + strconv.Itoa(quiet) + " of " + words.Plural(all, "metric"), true
}
