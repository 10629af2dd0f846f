// Package builds writes reports about builds of programs: comparisons of benchmarks, judgements of profiles,
// packs and their verification, and PGO trials. Each report is converted to a render.Sheet, which package render
// writes in all formats. HTML pages of comparisons include a plot of all runs (plot_compare.go).
package builds

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
)

// ComparisonFormats returns the formats of comparisons of benchmarks.
func ComparisonFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "one line per metric; on a terminal what fits (default)",
		"wide":  "the same with p-values, directions and the control",
		"json":  "one JSON object, one metric per line, with the values of all runs (docs/reference/json.md)",
		"jsonl": "one JSON object per line and metric",
		"name":  "",
	})
}

// WriteComparison writes the changes between two sets of benchmark results, and their significance.
func WriteComparison(w io.Writer, c *bench.Comparison, f render.Format, o render.ReportOptions) error {
	if f.Name() != "table" {
		o.Width = 0
	}
	s := newComparisonSheet(c, &o)
	if f.Name() == "html" {
		figures, err := comparisonFigures(c)
		if err != nil {
			return err
		}
		s.Figures = figures
	}
	return s.Write(w, f)
}

// ComparisonSchema returns the schema of the metrics that WriteComparison writes.
func ComparisonSchema(o render.ReportOptions) *table.Schema {
	return comparisonTable(&bench.Comparison{}, &o).Schema()
}

func newComparisonSheet(c *bench.Comparison, o *render.ReportOptions) *render.Sheet {
	asked := render.Select(o, comparisonTable(c, o), nil)
	s := &render.Sheet{
		Kind: "Comparison", Options: o, Head: comparisonHead(c, o),
		About:  func(e *encode.Encoder) { writeComparisonHead(e, c) },
		Items:  asked.Items,
		Nested: func(e *encode.Encoder, i int) { writeLineValues(e, &c.Lines[i]) },
		Parts:  []render.Part{asked.List("no metrics on either side")}, Foot: asked.More(o),
	}
	if len(asked.Rows) > 0 {
		s.Foot = append(append(s.Foot, remarkLines(asked.Rows)...), legend(c, o))
	}
	return s
}

// ComparisonTitle returns the names of both sides: "before → after".
func ComparisonTitle(c *bench.Comparison, o *render.Options) string {
	return sideName(c.A) + render.Arrow(o) + sideName(c.B)
}

func sideName(s *bench.Set) string {
	if s == nil {
		return words.UnknownMark
	}
	return render.OrUnknown(s.Name)
}

func comparisonHead(c *bench.Comparison, o *render.ReportOptions) []render.Line {
	lines := []render.Line{
		{Role: render.RoleTitle, Text: ComparisonTitle(c, &o.Options)}, verdictsLine(c), {Text: testText(c)},
	}
	for side, s := range []*bench.Set{c.A, c.B} {
		if s != nil {
			lines = append(lines, sideLines(c, s, side)...)
		}
	}
	if text, ok := controlText(c); text != "" {
		lines = append(lines, render.Line{
			Role: []render.Role{render.RoleWarn, render.RolePlain}[render.BoolInt(ok)], Text: text,
		})
	}
	for _, n := range c.Notes {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: "note: " + render.Harmless(n)})
	}
	return lines
}

// comparisonVerdicts returns the verdicts in order of importance.
func comparisonVerdicts() []bench.Verdict {
	return []bench.Verdict{
		bench.Worse, bench.Better, bench.Changed, bench.NoDifference, bench.TooFew, bench.NotJudged, bench.OneSide,
	}
}

func countVerdict(c *bench.Comparison, v bench.Verdict) (n int) {
	for i := range c.Lines {
		n += render.BoolInt(c.Lines[i].Verdict == v)
	}
	return n
}

// verdictsLine counts metrics by verdict and lists changed metrics, largest change first: "1 worse (p99 latency
// +12.0%), 3 no difference shown".
func verdictsLine(c *bench.Comparison) render.Line {
	var line render.Line
	for _, v := range comparisonVerdicts() {
		n := countVerdict(c, v)
		if n == 0 {
			continue
		}
		_, role := comparisonVerdict(v, false)
		text := strconv.Itoa(n) + " " + v.String()
		if names := largestChanges(c, v); len(names) > 0 {
			text += " (" + words.FirstOf(names, 3, "; ") + ")"
		}
		if line.Text == "" {
			line.Role, line.Text = role, text
			continue
		}
		line.After = append(line.After, render.Piece{Role: render.RolePlain, Text: ", "}, render.Piece{
			Role: role, Text: text,
		})
	}
	if line.Text == "" {
		line.Text = "nothing was compared"
	}
	return line
}

// largestChanges returns the metrics of a verdict with their changes, largest first. It returns nil if the
// verdict is not a change.
func largestChanges(c *bench.Comparison, v bench.Verdict) (names []string) {
	if !v.IsChange() {
		return nil
	}
	lines := slices.DeleteFunc(render.Pointers(c.Lines), func(l *bench.Line) bool { return l.Verdict != v })
	size := func(l *bench.Line) float64 { return math.Abs(math.Log(max(l.Ratio, 0))) }
	slices.SortStableFunc(lines, func(a, b *bench.Line) int { return cmp.Compare(size(b), size(a)) })
	const widest = 48
	for _, l := range lines {
		names = append(names, render.ShortenMiddle(metricText(&l.Metric), widest, "~")+" "+metricChange(l))
	}
	return names
}

// testText describes the test: "24 pairs, Wilcoxon signed-rank, level 5% over 3 metrics, effect from 1%".
func testText(c *bench.Comparison) string {
	most := [2]int{}
	test, tested := "", 0
	for i := range c.Lines {
		l := &c.Lines[i]
		most[0], most[1] = max(most[0], len(l.A)), max(most[1], len(l.B))
		if l.Test != "" {
			test = l.Test
			tested++
		}
	}
	parts := []string{words.Plural(most[0], "run") + " before, " + strconv.Itoa(most[1]) + " after, not paired"}
	if c.Paired {
		parts = []string{words.Plural(most[0], "pair")}
	}
	if tested == 0 {
		return strings.Join(append(parts, "nothing was tested"), ", ")
	}
	parts = append(parts, render.Harmless(test), "level "+PercentOfAll(c.Level)+" over "+words.Plural(tested, "metric"))
	if c.Effect > 0 {
		parts = append(parts, "effect from "+PercentOfAll(c.Effect))
	}
	return strings.Join(parts, ", ")
}

// maxNamed limits how many failures, and how many metrics with the same remark, are listed by name.
const maxNamed = 3

// sideLines returns lines about a side and its failed runs.
func sideLines(c *bench.Comparison, s *bench.Set, side int) []render.Line {
	text := sideLabel(s, side) + ", "
	if s.Format != "" {
		text += render.Harmless(s.Format) + ", "
	}
	line := render.Line{Role: render.RoleDim, Text: text + words.Plural(len(s.Runs), "run")}
	if n := c.Failed[side]; n > 0 {
		line.After = append(line.After, render.Piece{Role: render.RoleWarn, Text: ", " + strconv.Itoa(n) + " failed"})
	}
	if n := c.Unmatched[side]; n > 0 {
		line.After = append(line.After, render.Piece{
			Role: render.RoleWarn, Text: ", " + strconv.Itoa(n) + " without a partner",
		})
	}
	lines := []render.Line{line}
	warn := func(text string) { lines = append(lines, render.Line{Role: render.RoleWarn, Text: "  " + text}) }
	failed := 0
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Failed == "" {
			continue
		}
		if failed++; failed <= maxNamed {
			warn("run " + render.OrUnknown(r.Name) + " failed: " + render.Harmless(r.Failed))
		}
	}
	if failed > maxNamed {
		warn("and " + strconv.Itoa(failed-maxNamed) + " more")
	}
	for _, n := range s.Notes {
		warn("note: " + render.Harmless(n))
	}
	return lines
}

// sideLabel returns the label of a side, with its name if that differs: "before: main".
func sideLabel(s *bench.Set, side int) string {
	part := []string{"before", "after"}[side]
	if name := sideName(s); name != part {
		return part + ": " + name
	}
	return part
}

// controlText describes the comparison of the first program with itself, or returns "" without a control. ok is
// false if the control shows a change or has too few runs.
func controlText(c *bench.Comparison) (text string, ok bool) {
	if c.Control == nil {
		return "", true
	}
	text = "control, the first program against itself: "
	var moved []string
	for i := range c.Control.Lines {
		if l := &c.Control.Lines[i]; l.Verdict.IsChange() {
			moved = append(moved, metricText(&l.Metric)+" "+render.RatioText(l.Ratio))
		}
	}
	if len(moved) > 0 {
		return text + "a change is shown where there is none, " + words.FirstOf(moved, maxNamed, "; ") +
			": the runs differ by more than chance, so do not trust the verdicts", false
	}
	quiet := countVerdict(c.Control, bench.NoDifference)
	if quiet == 0 {
		return text + "too few runs", false
	}
	return text + "no difference shown in " + words.Plural(quiet, "metric"), true
}

// remarkLines returns a line for each remark, with its metrics.
func remarkLines(rows []*bench.Line) (lines []render.Line) {
	var order []string
	of := map[string][]string{}
	for _, l := range rows {
		if l.Remark == "" {
			continue
		}
		if of[l.Remark] == nil {
			order = append(order, l.Remark)
		}
		of[l.Remark] = append(of[l.Remark], metricText(&l.Metric))
	}
	for _, remark := range order {
		text := render.Harmless(remark)
		if len(of[remark]) < len(rows) || len(rows) == 1 {
			text = words.FirstOf(of[remark], maxNamed, "; ") + ": " + text
		}
		lines = append(lines, render.Line{Text: text})
	}
	return lines
}

// legend explains the marks in the table.
func legend(c *bench.Comparison, o *render.ReportOptions) render.Line {
	var parts []string
	for _, v := range comparisonVerdicts() {
		if countVerdict(c, v) > 0 {
			mark, _ := comparisonVerdict(v, o.ASCII)
			parts = append(parts, mark+" "+v.String())
		}
	}
	text := strings.Join(parts, ", ") + "; a change in parentheses is not significant"
	return render.Line{Role: render.RoleDim, Text: text}
}

// comparisonVerdict returns the mark and role of a verdict. The mark makes the verdict clear without color.
func comparisonVerdict(v bench.Verdict, ascii bool) (mark string, role render.Role) {
	pick := func(full, plain string) string { return []string{full, plain}[render.BoolInt(ascii)] }
	switch v {
	case bench.Better:
		return pick(render.Glyph(render.RoleGood, false), "+"), render.RoleGood
	case bench.Worse:
		return pick(render.Glyph(render.RoleBad, false), "x"), render.RoleBad
	case bench.Changed:
		return pick("≠", "*"), render.RolePlain
	case bench.NoDifference:
		return pick("≈", "~"), render.RoleDim
	case bench.OneSide:
		return pick("·", "."), render.RoleDim
	case bench.NotJudged:
		return pick("–", "-"), render.RoleDim
	case bench.TooFew:
	}
	return words.UnknownMark, render.RoleDim
}

// metricChange returns the change of a metric: "+7.3%", in parentheses unless the change is significant.
func metricChange(l *bench.Line) string {
	text := render.RatioText(l.Ratio)
	switch {
	case l.Verdict == bench.OneSide:
		return words.NoneMark
	case math.IsNaN(l.Ratio):
		return words.UnknownMark
	case math.IsInf(l.Ratio, 0):
		text = "from 0"
	}
	if l.Verdict.IsChange() {
		return text
	}
	return "(" + text + ")"
}

// metricInterval returns the confidence interval of a change: "+6.1 to +8.4%".
func metricInterval(l *bench.Line) string {
	switch {
	case l.Verdict == bench.OneSide:
		return words.NoneMark
	case math.IsNaN(l.Low) && math.IsNaN(l.High):
		return words.UnknownMark
	}
	return render.ChangeNumber(l.Low) + " to " + render.ChangeNumber(l.High) + "%"
}

// metricText returns the full name of a metric: "search k=10: p99 latency, 8 clients".
func metricText(m *bench.Metric) string {
	if m.Name == "" && m.Benchmark == "" {
		return render.OrUnknown(m.Unit)
	}
	return render.Harmless(m.String())
}

// metricRuns returns the number of runs of a line: "24", or "5/6" if the sides differ.
func metricRuns(l *bench.Line) string {
	if len(l.A) == len(l.B) {
		return strconv.Itoa(len(l.A))
	}
	return strconv.Itoa(len(l.A)) + "/" + strconv.Itoa(len(l.B))
}

// comparisonTable returns the table of metrics, for scripts and people.
func comparisonTable(c *bench.Comparison, o *render.ReportOptions) *table.Rows[*bench.Line] {
	type line = *bench.Line
	columns := comparisonFields(c)
	show := func(name, title string, priority int, text func(l line) string) *table.ColumnOf[line] {
		c := table.SetTitle(columns, name, title, priority, text)
		c.AlignRight = true
		return c
	}
	look := func(l line) render.Role {
		_, role := comparisonVerdict(l.Verdict, o.ASCII)
		return role
	}
	metric := show("metric", "METRIC", 0, func(l line) string { return metricText(&l.Metric) })
	metric.AlignRight, metric.Shorten = false, true
	show("before", "BEFORE", 0, func(l line) string { return sideText(l, 0, o.ASCII) })
	show("after", "AFTER", 0, func(l line) string { return sideText(l, 1, o.ASCII) })
	show("change_percent", "CHANGE", 0, metricChange).Role = look
	verdict := show("verdict", "VERDICT", 2, func(l line) string { return l.Verdict.String() })
	verdict.AlignRight, verdict.Role = false, look
	for _, wide := range []struct {
		name, title string
		text        func(l line) string
	}{
		{"p_corrected", "P", func(l line) string { return testedPValue(l, l.Corrected) }},
		{"p", "P ALONE", func(l line) string { return testedPValue(l, l.P) }},
		{"better", "GOOD", func(l line) string { return directionWord(l.Better) }},
	} {
		show(wide.name, wide.title, 0, wide.text).Show = table.Wide
	}
	pictures := []table.ColumnOf[line]{
		table.DisplayColumn("runs", []string{"RUNS", "PAIRS"}[render.BoolInt(c.Paired)], 3, metricRuns).WideOnly(),
		table.DisplayColumn("mark", "", 0, func(l line) string {
			mark, _ := comparisonVerdict(l.Verdict, o.ASCII)
			return mark
		}).WithRole(look),
		table.DisplayColumn("interval", "95% CI", 1, metricInterval).WithRole(look),
	}
	if c.Control != nil {
		control := map[bench.Metric]line{}
		for i := range c.Control.Lines {
			control[c.Control.Lines[i].Metric] = &c.Control.Lines[i]
		}
		pictures = append(pictures, table.DisplayColumn("control", "CONTROL", 0, func(l line) string {
			if x := control[l.Metric]; x != nil {
				return metricChange(x)
			}
			return words.NoneMark
		}).WideOnly())
	}
	return table.New(table.Schema{
		Name: "metrics", Singular: "metric", Names: []string{"metric"}, Sparse: true,
		Order: strings.Fields("mark metric before after change_percent interval p_corrected p runs better control " +
			"verdict"),
	}, render.Pointers(c.Lines), append(columns, pictures...))
}

// testedPValue formats a p-value, or returns "-" without a test.
func testedPValue(l *bench.Line, p float64) string {
	if l.Test == "" {
		return words.NoneMark
	}
	return render.PValueText(p)
}

// sideText formats the median of a side.
func sideText(l *bench.Line, side int, ascii bool) string {
	values, x := [2][]float64{l.A, l.B}, [2]float64{l.Before, l.After}
	if len(values[side]) == 0 {
		return words.NoneMark
	}
	m := newMeasure(l.Unit, l.Before, l.After)
	return m.text(x[side], ascii)
}

// measure formats values of a metric in a common unit.
type measure struct {
	benchunit.Scaler
	unit string // without the prefix
}

// newMeasure returns the measure for values in a unit without a prefix: "s", "B", "1/s", "B/s", "%", "" or any
// other word.
func newMeasure(unit string, values ...float64) measure {
	values = drawable(values)
	switch unit {
	case "B", "B/s":
		return measure{benchunit.CommonScale(values, benchunit.Binary), unit}
	case "s":
		return measure{benchunit.CommonScale(values, benchunit.Decimal), unit}
	case "1/s":
		return measure{benchunit.CommonScale(values, benchunit.Decimal), "/s"}
	}
	if least := slices.MinFunc(append(values, math.Inf(1)), func(a, b float64) int {
		return cmp.Compare(math.Abs(a), math.Abs(b))
	}); unit == "" && math.Abs(least) >= 1 {
		return measure{benchunit.CommonScale(values, benchunit.Decimal), unit}
	}
	const widest = 12
	m := measure{benchunit.Scaler{Factor: 1}, render.ShortenMiddle(render.Harmless(unit), widest, "~")}
	if i := slices.IndexFunc(values, func(x float64) bool { return x != 0 }); i >= 0 {
		const digits, most = 4, 8
		m.Prec = min(most, words.DecimalsFor(math.Abs(values[i]), digits))
	}
	return m
}

// text formats a value with its unit: "12.34 ms", "1.203k/s", "?".
func (m *measure) text(x float64, ascii bool) string {
	if math.IsNaN(x) {
		return words.UnknownMark
	}
	number, unit := strconv.FormatFloat(x/m.Factor, 'f', m.Prec, 64), m.name()
	if ascii {
		unit = strings.ReplaceAll(unit, "µ", "u")
	}
	if unit == "" || strings.HasSuffix(unit, "/s") && m.unit == "/s" || unit == "%" {
		return number + unit
	}
	return number + " " + unit
}

// name returns the unit with its prefix: "ms".
func (m *measure) name() string { return m.Prefix + m.unit }

// directionWord returns the better direction of a metric.
func directionWord(d bench.Direction) string {
	switch d {
	case bench.LowerIsBetter:
		return "lower"
	case bench.HigherIsBetter:
		return "higher"
	case bench.Neither:
		return "neither"
	case bench.Unknown:
	}
	return "unknown"
}

// comparisonFields returns the columns of a metric for scripts.
func comparisonFields(c *bench.Comparison) []table.ColumnOf[*bench.Line] {
	type line = *bench.Line
	text := render.TextKey[line]
	count := func(name string, of func(l line) int) table.ColumnOf[line] {
		return render.Key(name, table.Int, func(l line) table.Cell { return table.OfInt(int64(of(l))) })
	}
	exact := render.Key[line]
	change := func(name string, of func(l line) float64) table.ColumnOf[line] {
		return exact(name, table.Exact, func(l line) table.Cell {
			if l.Verdict == bench.OneSide {
				return table.OfNone()
			}
			return render.FiniteCell(100 * (of(l) - 1))
		})
	}
	chance := func(name string, of func(l line) float64) table.ColumnOf[line] {
		return exact(name, table.Exact, func(l line) table.Cell {
			if l.Test == "" {
				return table.OfNone()
			}
			return render.FiniteCell(of(l))
		})
	}
	median := func(name string, of func(l line) (float64, []float64)) table.ColumnOf[line] {
		return exact(name, table.Exact, func(l line) table.Cell {
			x, values := of(l)
			if len(values) == 0 {
				return table.OfNone()
			}
			return render.FiniteCell(x)
		})
	}
	return []table.ColumnOf[line]{
		text("of", func(l line) string { return l.Benchmark }),
		text("metric", func(l line) string { return l.Name }),
		text("unit", func(l line) string { return l.Unit }),
		exact("concurrency", table.Int, func(l line) table.Cell { return render.PositiveCell(l.Concurrency) }),
		text("better", func(l line) string { return directionWord(l.Better) }),
		median("before", func(l line) (float64, []float64) { return l.Before, l.A }),
		median("after", func(l line) (float64, []float64) { return l.After, l.B }),
		change("change_percent", func(l line) float64 { return l.Ratio }),
		change("change_percent_low", func(l line) float64 { return l.Low }),
		change("change_percent_high", func(l line) float64 { return l.High }),
		chance("p", func(l line) float64 { return l.P }),
		chance("p_corrected", func(l line) float64 { return l.Corrected }),
		text("test", func(l line) string { return l.Test }),
		count("runs_before", func(l line) int { return len(l.A) }),
		count("runs_after", func(l line) int { return len(l.B) }),
		exact("paired", table.Bool, func(line) table.Cell { return table.OfBool(c.Paired) }),
		text("verdict", func(l line) string { return l.Verdict.String() }),
		exact("shown", table.Bool, func(l line) table.Cell { return table.OfBool(l.Verdict.IsChange()) }),
		text("remark", func(l line) string { return l.Remark }),
	}
}

// writeLineValues writes the value of each run.
func writeLineValues(e *encode.Encoder, l *bench.Line) {
	for side, values := range [][]float64{l.A, l.B} {
		e.Key([]string{"values_before", "values_after"}[side])
		e.BeginList()
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) { // JSON has no such numbers
				e.Text(words.UnknownMark)
				continue
			}
			e.Exact(v)
		}
		e.EndList()
	}
}

func writeComparisonHead(e *encode.Encoder, c *bench.Comparison) {
	writeSides(e, c)
	e.Key("verdicts")
	e.BeginObject()
	for _, v := range comparisonVerdicts() {
		if n := countVerdict(c, v); n > 0 {
			e.Entry(strings.ReplaceAll(v.String(), " ", "_"), n)
		}
	}
	e.EndObject()
	e.NonZero("notes", c.Notes)
	if c.Control == nil {
		return
	}
	e.Key("control")
	e.BeginObject()
	writeSides(e, c.Control)
	_, quiet := controlText(c)
	e.Entry("quiet", quiet)
	e.Key("items")
	e.BeginList()
	fields := table.New(table.Schema{Sparse: true}, render.Pointers(c.Control.Lines), comparisonFields(c.Control))
	it := render.NewItems(table.All(fields, table.Hidden))
	for i := range c.Control.Lines {
		it.Write(e, i)
	}
	e.EndList()
	e.EndObject()
}

// writeSides writes both sides and the parameters of the comparison.
func writeSides(e *encode.Encoder, c *bench.Comparison) {
	for side, s := range []*bench.Set{c.A, c.B} {
		e.Key([]string{"before", "after"}[side])
		e.BeginObject()
		if s != nil {
			writeSide(e, c, s, side)
		}
		e.EndObject()
	}
	e.Entry("paired", c.Paired)
	e.Entry("level", encode.Exact(c.Level))
	e.Entry("effect_percent", encode.Exact(100*c.Effect))
}

func writeSide(e *encode.Encoder, c *bench.Comparison, s *bench.Set, side int) {
	e.Entry("name", s.Name)
	e.Entry("format", s.Format)
	e.Entry("runs", len(s.Runs))
	e.Entry("failed", c.Failed[side])
	e.Entry("unmatched", c.Unmatched[side])
	if slices.ContainsFunc(s.Runs, func(r bench.Run) bool { return r.Failed != "" }) {
		e.Key("failures")
		e.BeginList()
		for i := range s.Runs {
			if r := &s.Runs[i]; r.Failed != "" {
				e.BeginObject()
				e.Entry("run", r.Name)
				e.Entry("reason", r.Failed)
				e.EndObject()
			}
		}
		e.EndList()
	}
	e.NonZero("notes", s.Notes)
}

// PercentOfAll formats a fraction in percent for prose: "67%".
func PercentOfAll(share float64) string {
	if x := 100 * share; x >= 9.95 && x <= 99.5 {
		return strconv.FormatFloat(x, 'f', 0, 64) + "%"
	}
	return strings.Replace(shareCell(share), ".0%", "%", 1)
}

// shareCell formats a fraction in percent with one decimal, for columns.
func shareCell(share float64) string {
	x := 100 * share
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return words.UnknownMark
	case x == 0:
		return "0%"
	case math.Abs(x) < 0.05:
		return "<0.1%"
	}
	if x > 99.95 && x < 100 { // do not round up to 100%
		x = 99.9
	}
	return strings.Replace(strconv.FormatFloat(x, 'f', 1, 64), "100.0", "100", 1) + "%"
}
