package profiles

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// benchPage lists what changed between two sets of benchmark results, and draws the runs of the metric under
// the cursor.
type benchPage struct {
	tui.List[*bench.Line]
	of      *bench.Comparison
	control bool     // it is of the control with itself
	words   []string // behind "compare" on a command line; nil where none prints it
	ascii   bool
}

// RunComparison is tui.Run for a comparison of benchmark results. cfg.Feed must be nil. cfg.Args are the words behind
// "compare".
func RunComparison(ctx context.Context, cfg tui.Config, c *bench.Comparison) error {
	return tui.Run(ctx, comparisonConfig(cfg, c))
}

// comparisonConfig opens with a comparison.
func comparisonConfig(cfg tui.Config, c *bench.Comparison) tui.Config {
	cfg.First, cfg.Instead = newBenchPage(c, cfg.Args), "only a comparison"
	cfg.Pages = append(Pages(nil), cfg.Pages...)
	return cfg
}

// leastVerdict is the width from which on the verdict stays in words, whatever else has to go.
const leastVerdict = 80

func newBenchPage(c *bench.Comparison, words []string) *benchPage {
	p := &benchPage{of: c, words: words}
	columns := p.metricColumns()
	p.List = tui.List[*bench.Line]{
		Noun: "metric",
		Columns: func(w int) []tui.Column[*bench.Line] {
			list := slices.Clone(columns)
			if at := tui.ColumnNamed(list, "verdict"); at >= 0 { // in fewer cells names would be cut to nothing, and there is the sign
				list[at].Kept = w >= leastVerdict
			}
			return list
		},
		Words: func(l *bench.Line) string { return builds.MetricText(&l.Metric) + " " + l.Verdict.String() },
		Look: func(l *bench.Line) tui.RowLook {
			_, role := builds.ComparisonVerdict(l.Verdict, p.ascii)
			return tui.RowLook{Role: role}
		},
		Open:     func(m *tui.Model, _ *bench.Line) tui.Cmd { return m.Push(newMetricPage(p)) },
		Save:     p.saveMenu,
		AsItCame: "in the order of the files",
		Least:    32, // names of metrics differ at their ends and in the middle
	}
	if tui.ColumnNamed(columns, "of") >= 0 { // which tells them apart as well
		p.Least = 24
	}
	lines := make([]*bench.Line, len(c.Lines))
	for i := range c.Lines {
		lines[i] = &c.Lines[i]
	}
	p.SetRows(lines)
	return p
}

func (p *benchPage) Scope() tui.Scope { return tui.InCompare }

func (p *benchPage) Crumb() string {
	if p.control {
		return "control"
	}
	return "compare"
}

// Note counts the verdicts.
func (p *benchPage) Note(m *tui.Model) string {
	count := map[bench.Verdict]int{}
	for i := range p.of.Lines {
		count[p.of.Lines[i].Verdict]++
	}
	var parts []string
	for _, v := range []bench.Verdict{bench.Worse, bench.Better, bench.Changed} {
		if count[v] > 0 {
			parts = append(parts, words.Number(count[v])+" "+v.String())
		}
	}
	switch n := len(p.of.Lines); {
	case len(p.Shown) != n:
		parts = append(parts, words.Number(len(p.Shown))+" of "+words.Plural(n, "metric"))
	case len(parts) == 0 || m.Width >= 100:
		parts = append(parts, words.Plural(n, "metric"))
	}
	parts = append(parts, tui.FilterNote(p.Filter)...)
	return strings.Join(parts, " · ")
}

func (p *benchPage) Refresh(*tui.Model) tui.Cmd { return nil }

func (p *benchPage) Command(*tui.Model) string {
	if len(p.words) == 0 || p.control {
		return ""
	}
	return shellquote.Shell("compare").Word(p.words...).String()
}

// line is the metric under the cursor, nil if there is none.
func (p *benchPage) line() *bench.Line {
	l, _ := p.Current()
	return l
}

// metricColumns are those that say something: what is the same in all rows needs no column.
func (p *benchPage) metricColumns() []tui.Column[*bench.Line] {
	lines := p.of.Lines
	differ := func(of func(l *bench.Line) string) bool {
		return slices.ContainsFunc(lines, func(l bench.Line) bool { return of(&l) != of(&lines[0]) })
	}
	ofs := differ(func(l *bench.Line) string { return builds.MetricGroup(&l.Metric) })
	useless := map[string]bool{
		"of":     !ofs,
		"metric": ofs && !differ(func(l *bench.Line) string { return l.Name }),
		"chance": !slices.ContainsFunc(lines, func(l bench.Line) bool { return !math.IsNaN(l.Corrected) }),
		"runs":   !differ(builds.MetricRuns), // the head says it
		"needs":  !slices.ContainsFunc(lines, func(l bench.Line) bool { return l.Needs > 0 }),
	}
	return slices.DeleteFunc(p.allColumns(), func(c tui.Column[*bench.Line]) bool { return useless[c.Name] })
}

func (p *benchPage) allColumns() []tui.Column[*bench.Line] {
	type line = *bench.Line
	by := func(of func(l line) float64) func(a, b line) int {
		return func(a, b line) int { return largestFirst(of(a), of(b)) }
	}
	verdict := func(a, b line) int { return verdictRank(a.Verdict) - verdictRank(b.Verdict) }
	mark := tui.SortedColumn("mark", "", table.ID, 0, func(l line) string {
		mark, _ := builds.ComparisonVerdict(l.Verdict, p.ascii)
		return mark
	}, verdict)
	mark.Sign = true // the verdict is there as well
	mark.Kept = true
	return []tui.Column[line]{
		mark,
		tui.SortedColumn("of", "OF", table.Text, 0, func(l line) string { return builds.MetricGroup(&l.Metric) },
			func(a, b line) int {
				return cmp.Or(strings.Compare(a.Of, b.Of), cmp.Compare(a.Concurrency, b.Concurrency))
			}),
		tui.SortedColumn("metric", "METRIC", table.Text, 0, func(l line) string { return cmp.Or(words.Harmless(l.Name), words.Harmless(l.Unit), words.UnknownMark) },
			func(a, b line) int { return strings.Compare(a.Name, b.Name) }),
		tui.SortedColumn("before", "BEFORE", table.Int, 4, func(l line) string { return p.median(l, l.Before, l.A) }, by(func(l line) float64 { return l.Before })),
		tui.SortedColumn("after", "AFTER", table.Int, 3, func(l line) string { return p.median(l, l.After, l.B) }, by(func(l line) float64 { return l.After })),
		tui.SortedColumn("change", "CHANGE", table.Int, 0, builds.MetricChange, by(func(l line) float64 { return l.Ratio })),
		tui.SortedColumn("interval", "95% CI", table.Int, 5, builds.MetricInterval, by(func(l line) float64 { return l.Low })),
		tui.SortedColumn("chance", "P", table.Int, 7, func(l line) string {
			return draw.NoneIf(strings.TrimPrefix(chance(l.Corrected), "p "), math.IsNaN(l.Corrected))
		}, by(func(l line) float64 { return -l.Corrected })),
		tui.SortedColumn("verdict", "VERDICT", table.ID, 1, func(l line) string { return l.Verdict.String() }, verdict),
		tui.SortedColumn("runs", map[bool]string{true: "PAIRS", false: "RUNS"}[p.of.Paired], table.Int, 8, builds.MetricRuns,
			func(a, b line) int { return cmp.Compare(len(b.A)+len(b.B), len(a.A)+len(a.B)) }),
		tui.SortedColumn("needs", "NEEDS", table.Int, 9, func(l line) string { return draw.NoneIf(words.Number(l.Needs), l.Needs <= 0) },
			func(a, b line) int { return cmp.Compare(b.Needs, a.Needs) }),
	}
}

// median is the middle of the runs of a side.
func (p *benchPage) median(l *bench.Line, value float64, runs []float64) string {
	return draw.Cut(draw.NoneIf(measureOf(l, p.ascii).Text(value), len(runs) == 0), mostDigits)
}

// largestFirst orders two numbers; what is unknown is last.
func largestFirst(x, y float64) int {
	if math.IsNaN(x) || math.IsNaN(y) {
		return tui.BoolOrder(math.IsNaN(x), math.IsNaN(y))
	}
	return cmp.Compare(y, x)
}

// mostDigits is how long a figure may be: what is longer is no measurement.
const mostDigits = 20

// measureOf writes a metric's medians, in one unit.
func measureOf(l *bench.Line, ascii bool) builds.MeasureText {
	return builds.NewMeasureText(l.Unit, ascii, l.Before, l.After)
}

// verdictRank puts what wants a look first.
func verdictRank(v bench.Verdict) int {
	return slices.Index([]bench.Verdict{bench.Worse, bench.Better, bench.Changed, bench.NoDifference, bench.TooFew, bench.NotJudged, bench.OneSide}, v)
}
