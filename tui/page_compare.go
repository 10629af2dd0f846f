package tui

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"kitescope/paste"
	"kitescope/profile/bench"
	"kitescope/render/builds"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// benchPage lists what changed between two sets of benchmark results, and draws the runs of the metric under
// the cursor.
type benchPage struct {
	list[*bench.Line]
	of      *bench.Comparison
	control bool     // it is of the control with itself
	words   []string // behind "compare" on a command line; nil where none prints it
	ascii   bool
}

// RunComparison is Run for a comparison of benchmark results. cfg.Feed must be nil. cfg.Args are the words behind
// "compare".
func RunComparison(ctx context.Context, cfg Config, c *bench.Comparison) error {
	return Run(ctx, comparisonConfig(cfg, c))
}

// comparisonConfig opens with a comparison.
func comparisonConfig(cfg Config, c *bench.Comparison) Config {
	cfg.First, cfg.Instead = newBenchPage(c, cfg.Args), "only a comparison"
	cfg.Pages = append(ProfilePages(nil), cfg.Pages...)
	return cfg
}

func newBenchPage(c *bench.Comparison, words []string) *benchPage {
	p := &benchPage{of: c, words: words}
	columns := p.metricColumns()
	p.list = list[*bench.Line]{
		noun:    "metric",
		columns: func(int) []column[*bench.Line] { return columns },
		words:   func(l *bench.Line) string { return builds.MetricText(&l.Metric) + " " + l.Verdict.String() },
		look: func(l *bench.Line) rowLook {
			_, role := builds.ComparisonVerdict(l.Verdict, p.ascii)
			return rowLook{role: role}
		},
		open:     func(m *Model, _ *bench.Line) cmd { return m.push(newMetricPage(p)) },
		save:     p.saveMenu,
		asItCame: "in the order of the files",
		least:    32, // names of metrics differ at their ends and in the middle
	}
	if columnNamed(columns, "of") >= 0 { // which tells them apart as well
		p.least = 24
	}
	lines := make([]*bench.Line, len(c.Lines))
	for i := range c.Lines {
		lines[i] = &c.Lines[i]
	}
	p.setRows(lines)
	return p
}

func (p *benchPage) scope() scope { return inCompare }

func (p *benchPage) crumb() string {
	if p.control {
		return "control"
	}
	return "compare"
}

// note counts the verdicts.
func (p *benchPage) note(m *Model) string {
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
	case len(p.shown) != n:
		parts = append(parts, words.Number(len(p.shown))+" of "+words.Plural(n, "metric"))
	case len(parts) == 0 || m.w >= 100:
		parts = append(parts, words.Plural(n, "metric"))
	}
	if p.filter != "" {
		parts = append(parts, "/"+p.filter)
	}
	return strings.Join(parts, " · ")
}

func (p *benchPage) refresh(*Model) cmd { return nil }

func (p *benchPage) command(*Model) string {
	if len(p.words) == 0 || p.control {
		return ""
	}
	return paste.Shell("compare").Word(p.words...).String()
}

// line is the metric under the cursor, nil if there is none.
func (p *benchPage) line() *bench.Line {
	l, _ := p.current()
	return l
}

// metricColumns are those that say something: what is the same in all rows needs no column.
func (p *benchPage) metricColumns() []column[*bench.Line] {
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
	return slices.DeleteFunc(p.allColumns(), func(c column[*bench.Line]) bool { return useless[c.Name] })
}

func (p *benchPage) allColumns() []column[*bench.Line] {
	type line = *bench.Line
	by := func(of func(l line) float64) func(a, b line) int {
		return func(a, b line) int { return largestFirst(of(a), of(b)) }
	}
	verdict := func(a, b line) int { return verdictRank(a.Verdict) - verdictRank(b.Verdict) }
	mark := sortedColumn("mark", "", table.ID, 0, func(l line) string {
		mark, _ := builds.ComparisonVerdict(l.Verdict, p.ascii)
		return mark
	}, verdict)
	mark.sign = true // the verdict is there as well
	return []column[line]{
		mark,
		sortedColumn("of", "OF", table.Text, 0, func(l line) string { return builds.MetricGroup(&l.Metric) },
			func(a, b line) int {
				return cmp.Or(strings.Compare(a.Of, b.Of), cmp.Compare(a.Concurrency, b.Concurrency))
			}),
		sortedColumn("metric", "METRIC", table.Text, 0, func(l line) string { return cmp.Or(words.Harmless(l.Name), words.Harmless(l.Unit), words.UnknownMark) },
			func(a, b line) int { return strings.Compare(a.Name, b.Name) }),
		sortedColumn("before", "BEFORE", table.Int, 4, func(l line) string { return p.median(l, l.Before, l.A) }, by(func(l line) float64 { return l.Before })),
		sortedColumn("after", "AFTER", table.Int, 3, func(l line) string { return p.median(l, l.After, l.B) }, by(func(l line) float64 { return l.After })),
		sortedColumn("change", "CHANGE", table.Int, 0, builds.MetricChange, by(func(l line) float64 { return l.Ratio })),
		sortedColumn("interval", "95% CI", table.Int, 6, builds.MetricInterval, by(func(l line) float64 { return l.Low })),
		sortedColumn("chance", "P", table.Int, 7, func(l line) string {
			return draw.NoneIf(strings.TrimPrefix(chance(l.Corrected), "p "), math.IsNaN(l.Corrected))
		}, by(func(l line) float64 { return -l.Corrected })),
		sortedColumn("verdict", "VERDICT", table.ID, 5, func(l line) string { return l.Verdict.String() }, verdict),
		sortedColumn("runs", map[bool]string{true: "PAIRS", false: "RUNS"}[p.of.Paired], table.Int, 8, builds.MetricRuns,
			func(a, b line) int { return cmp.Compare(len(b.A)+len(b.B), len(a.A)+len(a.B)) }),
		sortedColumn("needs", "NEEDS", table.Int, 9, func(l line) string { return draw.NoneIf(words.Number(l.Needs), l.Needs <= 0) },
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
		return boolOrder(math.IsNaN(x), math.IsNaN(y))
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
