package builds

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
)

// ComparisonVerdict is how a verdict looks. The mark says the same without colour. Green and red are for what was shown,
// all else is grey or plain.
func ComparisonVerdict(v bench.Verdict, ascii bool) (mark string, role render.Role) {
	switch v {
	case bench.Better:
		return []string{render.Glyph(render.RoleGood, false), "+"}[render.BoolInt(ascii)], render.RoleGood
	case bench.Worse:
		return []string{render.Glyph(render.RoleBad, false), "x"}[render.BoolInt(ascii)], render.RoleBad
	case bench.Changed:
		return []string{"≠", "*"}[render.BoolInt(ascii)], render.RolePlain
	case bench.NoDifference:
		return []string{"≈", "~"}[render.BoolInt(ascii)], render.RoleDim
	case bench.OneSide:
		return []string{"·", "."}[render.BoolInt(ascii)], render.RoleDim
	case bench.NotJudged:
		return []string{"–", "-"}[render.BoolInt(ascii)], render.RoleDim
	case bench.TooFew:
	}
	return words.UnknownMark, render.RoleDim
}

// ChangeShown reports whether a verdict says that there is a change.
func ChangeShown(v bench.Verdict) bool {
	return v == bench.Better || v == bench.Worse || v == bench.Changed
}

// MetricChange is the change of a metric: "+7.3%", and in parentheses what was measured, but not shown to be a change
// that counts.
func MetricChange(l *bench.Line) string {
	switch {
	case l.Verdict == bench.OneSide:
		return words.NoneMark
	case math.IsNaN(l.Ratio) && l.Before == l.After:
		return "(0%)"
	case math.IsNaN(l.Ratio):
		return words.UnknownMark
	case math.IsInf(l.Ratio, 0) && ChangeShown(l.Verdict):
		return "from 0"
	case math.IsInf(l.Ratio, 0):
		return "(from 0)"
	case ChangeShown(l.Verdict):
		return render.RatioText(l.Ratio)
	}
	return "(" + render.RatioText(l.Ratio) + ")"
}

// MetricInterval is the interval of a change: "+6.1 to +8.4%".
func MetricInterval(l *bench.Line) string {
	if l.Verdict == bench.OneSide {
		return words.NoneMark
	}
	return intervalText(l.Low, l.High)
}

// MetricText is a metric's name with all that tells it from others: "search k=10: p99 latency, 8 clients".
func MetricText(m *bench.Metric) string {
	text := metricName(m)
	if m.Of != "" {
		text = render.Harmless(m.Of) + ": " + text
	}
	if m.Concurrency > 0 {
		text += ", " + words.Plural(m.Concurrency, "client")
	}
	return text
}

// MetricGroup is what a metric is of: "search k=10, 8 clients".
func MetricGroup(m *bench.Metric) string {
	text := render.Harmless(m.Of)
	if m.Concurrency > 0 {
		if text != "" {
			text += ", "
		}
		text += words.Plural(m.Concurrency, "client")
	}
	return text
}

func metricName(m *bench.Metric) string {
	if m.Name == "" {
		return render.OrUnknown(m.Unit)
	}
	return render.Harmless(m.Name)
}

// MetricRuns is how many runs a line rests on: "24", or "5/6" where both sides differ.
func MetricRuns(l *bench.Line) string {
	if len(l.A) == len(l.B) {
		return strconv.Itoa(len(l.A))
	}
	return strconv.Itoa(len(l.A)) + "/" + strconv.Itoa(len(l.B))
}

// lineGroup is what lines of one group have in common.
type lineGroup struct {
	of      string
	clients int
}

// groupedLines are the lines, those of one group together, in the order in which things first come, fewer clients before
// more. What has no name comes first: it would seem to belong to the group above.
func groupedLines(c *bench.Comparison) []*bench.Line {
	first := map[string]int{}
	lines := make([]*bench.Line, len(c.Lines))
	for i := range c.Lines {
		l := &c.Lines[i]
		lines[i] = l
		if first[l.Of] == 0 {
			first[l.Of] = i + 1
		}
	}
	first[""] = 0
	slices.SortStableFunc(lines, func(a, b *bench.Line) int {
		return cmp.Or(cmp.Compare(first[a.Of], first[b.Of]), cmp.Compare(a.Concurrency, b.Concurrency))
	})
	return lines
}

// comparisonTable lays lines out for people.
type comparisonTable struct {
	c     *bench.Comparison
	o     *render.ReportOptions
	lines []*bench.Line
	// apart says that remarks stand below the table.
	apart bool
	wide  bool
	// doubt is the first change in parentheses that is not 0, doubts says that there is any at all.
	doubt  string
	doubts bool
	// runs and remarked say that lines differ in how many runs they rest on, and that there is any remark.
	runs, remarked bool
	// control are the lines of the control.
	control map[bench.Metric]*bench.Line
}

func newComparisonTable(c *bench.Comparison, lines []*bench.Line, wide bool, o *render.ReportOptions) *comparisonTable {
	t := &comparisonTable{c: c, o: o, lines: lines, wide: wide}
	for _, l := range lines {
		text := MetricChange(l)
		t.doubts = t.doubts || strings.HasPrefix(text, "(")
		if t.doubt == "" && (strings.HasPrefix(text, "(+") || strings.HasPrefix(text, "(-")) {
			t.doubt = text
		}
		t.runs = t.runs || MetricRuns(l) != MetricRuns(lines[0])
		t.remarked = t.remarked || l.Remark != ""
	}
	if c.Control == nil {
		return t
	}
	t.control = make(map[bench.Metric]*bench.Line, len(c.Control.Lines))
	for i := range c.Control.Lines {
		t.control[c.Control.Lines[i].Metric] = &c.Control.Lines[i]
	}
	return t
}

// parts are the metrics that are asked for, in groups in one table. Where each group is of one metric there are no groups, nor
// where somebody asks for an order or columns.
func (t *comparisonTable) parts() (*render.Asked[*bench.Line], []render.Part) {
	groups := []lineGroup{}
	of := func(l *bench.Line) lineGroup { return lineGroup{l.Of, l.Concurrency} }
	for i, l := range t.lines {
		if i == 0 || of(l) != of(t.lines[i-1]) {
			groups = append(groups, of(l))
		}
	}
	alone := len(groups) < 2 && (len(groups) == 0 || MetricGroup(&t.lines[0].Metric) == "")
	flat := alone || len(groups) == len(t.lines) || len(t.o.Ask.Sort)+len(t.o.Ask.Columns) > 0
	asked := render.Ask(t.o, t.rows(flat && !alone), nil)
	if flat || len(asked.Rows) == 0 {
		return asked, []render.Part{asked.List("no metric is on both sides or on one")}
	}
	var parts []render.Part
	for _, group := range groups {
		i := slices.IndexFunc(asked.Rows, func(l *bench.Line) bool { return of(l) == group })
		if i < 0 {
			continue
		}
		part := render.Part{List: asked.Part(func(l *bench.Line) bool { return of(l) == group }), Joined: len(parts) > 0}
		if name := MetricGroup(&asked.Rows[i].Metric); name != "" {
			part.Head = []render.Line{{Role: render.RoleAccent, Text: name}}
		}
		parts = append(parts, part)
	}
	return asked, parts
}

// rows are the metrics, by their full names or as those of a group.
func (t *comparisonTable) rows(full bool) *table.Rows[*bench.Line] {
	type line = *bench.Line
	columns := comparisonFields(t.c)
	show := func(name, title string, priority int, text func(l line) string) *table.ColumnOf[line] {
		c := table.Titled(columns, name, title, priority, text)
		c.Right = true
		return c
	}
	look := func(l line) render.Role {
		_, role := ComparisonVerdict(l.Verdict, t.o.ASCII)
		return role
	}
	dim := func(line) render.Role { return render.RoleDim }
	metric := show("metric", "METRIC", 0, func(l line) string {
		if full {
			return MetricText(&l.Metric)
		}
		return metricName(&l.Metric)
	})
	metric.Right, metric.Shorten = false, true
	show("before", "BEFORE", 0, func(l line) string { return t.side(l, 0) })
	show("after", "AFTER", 0, func(l line) string { return t.side(l, 1) })
	show("change_percent", "CHANGE", 0, t.change).Role = look
	verdict := show("verdict", "VERDICT", 2, func(l line) string { return l.Verdict.String() })
	verdict.Right, verdict.Role = false, look
	remark := show("remark", "REMARK", 0, t.remark)
	remark.Right, remark.Role = false, dim
	if t.apart || !t.remarked {
		remark.Show = table.Hidden
	}
	for _, wide := range []struct {
		name, title string
		role        func(l line) render.Role
		text        func(l line) string
	}{
		{"p_corrected", "P", look, func(l line) string { return testedChance(l, l.Corrected) }},
		{"p", "P ALONE", look, func(l line) string { return testedChance(l, l.P) }},
		{"better", "GOOD", nil, func(l line) string { return strings.Replace(directionWord(l.Better), "unknown", words.UnknownMark, 1) }},
		{"visible_percent", "VISIBLE", dim, MetricVisible},
		{"needs_runs", "NEEDS", dim, needsText},
	} {
		c := show(wide.name, wide.title, 0, wide.text)
		c.Show, c.Role = table.Wide, wide.role
	}
	runs := table.Picture("runs", []string{"RUNS", "PAIRS"}[render.BoolInt(t.c.Paired)], 3, MetricRuns)
	if !t.runs {
		runs = runs.Wider() // the head says it
	}
	control := table.Picture("control", "CONTROL", 0, t.controlChange).Looking(dim).Wider()
	if t.c.Control == nil {
		control.Show = table.Hidden
	}
	return table.New(table.Schema{
		Name: "metrics", Singular: "metric", Names: []string{"metric"}, Sparse: true,
		Order: strings.Fields("mark metric before after change_percent interval p_corrected p runs better control visible_percent needs_runs verdict remark"),
	}, t.lines, append(columns, runs, control,
		table.Picture("mark", "", 0, func(l line) string {
			mark, _ := ComparisonVerdict(l.Verdict, t.o.ASCII)
			return mark
		}).Looking(look),
		table.Picture("interval", "95% CI", 1, MetricInterval).Looking(look)))
}

// testedChance is a p value, of which there is none without a test.
func testedChance(l *bench.Line, p float64) string {
	if l.Test == "" {
		return words.NoneMark
	}
	return render.ChanceText(p)
}

// side is a median as far as there is one.
func (t *comparisonTable) side(l *bench.Line, side int) string {
	values, x := [2][]float64{l.A, l.B}, [2]float64{l.Before, l.After}
	if math.IsNaN(x[side]) && len(values[side]) == 0 {
		return words.NoneMark
	}
	return NewMeasureText(l.Unit, t.o.ASCII, l.Before, l.After).Text(x[side])
}

// change leaves room for the parentheses of others, so that digits stand below each other.
func (t *comparisonTable) change(l *bench.Line) string {
	text := MetricChange(l)
	if !t.doubts || strings.HasSuffix(text, ")") {
		return text
	}
	return text + " "
}

// controlChange is what the same metric did without a change.
func (t *comparisonTable) controlChange(l *bench.Line) string {
	if x := t.control[l.Metric]; x != nil {
		return MetricChange(x)
	}
	return words.NoneMark
}

// directionWord says which of two values is the good one.
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

// MetricVisible is the least change that the runs of a metric could have shown, "?" if it is unknown.
func MetricVisible(l *bench.Line) string {
	if math.IsNaN(l.Visible) || l.Visible <= 0 {
		return words.UnknownMark
	}
	return PercentOfAll(l.Visible)
}

func needsText(l *bench.Line) string {
	if l.Needs <= 0 {
		return words.UnknownMark
	}
	return strconv.Itoa(l.Needs)
}

// legend explains the marks that were used.
func (t *comparisonTable) legend() (lines []render.Line) {
	var parts []string
	for _, v := range comparisonVerdicts() {
		if countVerdict(t.c, v) == 0 {
			continue
		}
		mark, _ := ComparisonVerdict(v, t.o.ASCII)
		parts = append(parts, mark+" "+v.String())
	}
	text := strings.Join(parts, ", ")
	if t.doubt != "" && !OneRunEach(t.c) { // else it was said above
		text += "; " + t.doubt + " was measured, but not shown to be a change that counts"
	}
	lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	if t.wide {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: "P is the chance of such a difference without a change, over all metrics together, P ALONE over this one; " +
			"VISIBLE is the least change that these runs could show, NEEDS how many would show one of " + PercentOfAll(t.c.Effect)})
	}
	return lines
}
