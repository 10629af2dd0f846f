package tui

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/paste"
	"kitescope/profile/bench"
	"kitescope/render"
)

// benchPage lists what changed between two sets of benchmark results, and draws the runs of the metric under
// the cursor.
type benchPage struct {
	table
	of      *bench.Comparison
	control bool     // it is of the control with itself
	words   []string // behind "compare" on a command line; nil where none prints it
	text    string   // metrics in which it occurs, in lower case
	list    []int32  // lines of the comparison that are shown, in order
	sort    compareSort
}

// compareSort is the column that metrics are sorted by.
type compareSort struct {
	column    compareColumn // compareFile: as in the files
	ascending bool
}

// RunComparison is Run for a comparison of benchmark results. cfg.Feed must be nil. cfg.Args are the words behind
// "compare".
func RunComparison(ctx context.Context, cfg Config, c *bench.Comparison) error {
	return Run(ctx, comparisonConfig(cfg, c))
}

// comparisonConfig opens with a comparison.
func comparisonConfig(cfg Config, c *bench.Comparison) Config {
	cfg.view = &ProfileView{first: newBenchPage(c, cfg.Args)}
	return cfg
}

func newBenchPage(c *bench.Comparison, words []string) *benchPage {
	p := &benchPage{of: c, words: words, sort: compareSort{column: compareFile}}
	p.choose()
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
			parts = append(parts, number(count[v])+" "+v.String())
		}
	}
	switch n := len(p.of.Lines); {
	case len(p.list) != n:
		parts = append(parts, number(len(p.list))+" of "+plural(n, "metric"))
	case len(parts) == 0 || m.w >= 100:
		parts = append(parts, plural(n, "metric"))
	}
	if p.text != "" {
		parts = append(parts, "/"+p.text)
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

// current is the metric under the cursor, nil if there is none.
func (p *benchPage) current() *bench.Line {
	if p.cursor >= len(p.list) {
		return nil
	}
	return &p.of.Lines[p.list[p.cursor]]
}

// choose lists the metrics that the filter leaves, in order, with the cursor on its metric if that is there.
func (p *benchPage) choose() {
	at := int32(-1)
	if p.cursor < len(p.list) {
		at = p.list[p.cursor]
	}
	p.list = p.list[:0]
	for i := range p.of.Lines {
		l := &p.of.Lines[i]
		if p.text == "" || strings.Contains(strings.ToLower(render.MetricText(&l.Metric)+" "+l.Verdict.String()), p.text) {
			p.list = append(p.list, int32(i))
		}
	}
	slices.SortStableFunc(p.list, func(a, b int32) int {
		c := p.sort.column.compare(&p.of.Lines[a], &p.of.Lines[b])
		if p.sort.ascending {
			return -c
		}
		return c
	})
	if i := slices.Index(p.list, at); i >= 0 {
		p.cursor = i
	}
	p.clamp(len(p.list))
}

// compareColumn is a column of the metrics.
type compareColumn uint8

const (
	compareMark compareColumn = iota
	compareOf
	compareMetric
	compareBefore
	compareAfter
	compareChange
	compareInterval
	compareChance
	compareVerdict
	compareRuns
	compareNeeds
	compareFile // no column: the order of the files
)

func (c compareColumn) head() view.Column {
	return [...]view.Column{
		compareMark:     {Title: "", Kind: view.ID},
		compareOf:       {Title: "OF", Kind: view.Text},
		compareMetric:   {Title: "METRIC", Kind: view.Text},
		compareBefore:   {Title: "BEFORE", Kind: view.Int, Priority: 4},
		compareAfter:    {Title: "AFTER", Kind: view.Int, Priority: 3},
		compareChange:   {Title: "CHANGE", Kind: view.Int},
		compareInterval: {Title: "95 % CI", Kind: view.Int, Priority: 6},
		compareChance:   {Title: "P", Kind: view.Int, Priority: 7},
		compareVerdict:  {Title: "VERDICT", Kind: view.ID, Priority: 5},
		compareRuns:     {Title: "RUNS", Kind: view.Int, Priority: 8}, // or pairs
		compareNeeds:    {Title: "NEEDS", Kind: view.Int, Priority: 9},
		compareFile:     {},
	}[c]
}

// columns are those that say something: what is the same in all rows needs no column.
func (p *benchPage) columns() []compareColumn {
	list := []compareColumn{compareMark}
	lines := p.of.Lines
	differ := func(of func(l *bench.Line) string) bool {
		return slices.ContainsFunc(lines, func(l bench.Line) bool { return of(&l) != of(&lines[0]) })
	}
	ofs := differ(func(l *bench.Line) string { return render.MetricGroup(&l.Metric) })
	if ofs {
		list = append(list, compareOf)
	}
	if !ofs || differ(func(l *bench.Line) string { return l.Name }) {
		list = append(list, compareMetric)
	}
	list = append(list, compareBefore, compareAfter, compareChange, compareInterval)
	if slices.ContainsFunc(lines, func(l bench.Line) bool { return !math.IsNaN(l.Corrected) }) {
		list = append(list, compareChance)
	}
	list = append(list, compareVerdict)
	if differ(render.MetricRuns) { // else the head says it
		list = append(list, compareRuns)
	}
	if slices.ContainsFunc(lines, func(l bench.Line) bool { return l.Needs > 0 }) {
		list = append(list, compareNeeds)
	}
	return list
}

// cellOf is the text of a metric in a column.
func (p *benchPage) cellOf(l *bench.Line, c compareColumn, ascii bool) string {
	switch c {
	case compareMark:
		mark, _ := render.ComparisonVerdict(l.Verdict, ascii)
		return mark
	case compareOf:
		return render.MetricGroup(&l.Metric)
	case compareMetric:
		return cmp.Or(clean(l.Name), clean(l.Unit), render.UnknownMark)
	case compareBefore:
		return cut(noneIf(measureOf(l, ascii).Text(l.Before), len(l.A) == 0), mostDigits)
	case compareAfter:
		return cut(noneIf(measureOf(l, ascii).Text(l.After), len(l.B) == 0), mostDigits)
	case compareChange:
		return render.MetricChange(l)
	case compareInterval:
		return render.MetricInterval(l)
	case compareChance:
		return noneIf(strings.TrimPrefix(chance(l.Corrected), "p "), math.IsNaN(l.Corrected))
	case compareVerdict:
		return l.Verdict.String()
	case compareRuns:
		return render.MetricRuns(l)
	case compareNeeds:
		return noneIf(number(l.Needs), l.Needs <= 0)
	default:
		return ""
	}
}

// mostDigits is how long a figure may be: what is longer is no measurement.
const mostDigits = 20

// measureOf writes a metric's medians, in one unit.
func measureOf(l *bench.Line, ascii bool) render.MeasureText {
	return render.NewMeasureText(l.Unit, ascii, l.Before, l.After)
}

func noneIf(text string, none bool) string {
	if none {
		return render.NoneMark
	}
	return text
}

// compare orders two metrics by a column: the largest first, names and chances the other way round, what is
// unknown last.
func (c compareColumn) compare(a, b *bench.Line) int {
	number := func(x, y float64) int {
		if math.IsNaN(x) || math.IsNaN(y) {
			return boolOrder(math.IsNaN(x), math.IsNaN(y))
		}
		return cmp.Compare(y, x)
	}
	switch c {
	case compareMetric:
		return strings.Compare(a.Name, b.Name)
	case compareOf:
		return cmp.Or(strings.Compare(a.Of, b.Of), cmp.Compare(a.Concurrency, b.Concurrency))
	case compareBefore:
		return number(a.Before, b.Before)
	case compareAfter:
		return number(a.After, b.After)
	case compareChange:
		return number(a.Ratio, b.Ratio)
	case compareInterval:
		return number(a.Low, b.Low)
	case compareChance:
		return number(-a.Corrected, -b.Corrected)
	case compareVerdict, compareMark:
		return verdictRank(a.Verdict) - verdictRank(b.Verdict)
	case compareRuns:
		return cmp.Compare(len(b.A)+len(b.B), len(a.A)+len(a.B))
	case compareNeeds:
		return cmp.Compare(b.Needs, a.Needs)
	default:
		return 0
	}
}

// boolOrder puts what is so behind what is not.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// verdictRank puts what wants a look first.
func verdictRank(v bench.Verdict) int {
	return slices.Index([]bench.Verdict{bench.Worse, bench.Better, bench.Changed, bench.NoDifference, bench.TooFew, bench.NotJudged, bench.OneSide}, v)
}

// compareView is a benchPage as the table draws it.
type compareView struct {
	*benchPage
	cols  []compareColumn
	ascii bool
}

// leastName is what names are cut to before columns are dropped: those of metrics differ at their ends and in the middle.
func (v compareView) leastName() int {
	if slices.Contains(v.cols, compareOf) { // which tells them apart as well
		return 24
	}
	return 32
}

func (v compareView) rows() int { return len(v.list) }

func (v compareView) columns() []view.Column {
	cols := make([]view.Column, len(v.cols))
	for i, c := range v.cols {
		cols[i] = c.head()
		if c == compareRuns && v.of.Paired {
			cols[i].Title = "PAIRS"
		}
	}
	return cols
}

func (v compareView) text(i, j int) string {
	return v.cellOf(&v.of.Lines[v.list[i]], v.cols[j], v.ascii)
}

func (v compareView) look(i int) rowLook {
	_, role := render.ComparisonVerdict(v.of.Lines[v.list[i]].Verdict, v.ascii)
	return rowLook{role: role}
}
