package builds

import (
	"math"
	"strings"
	"testing"

	"kitescope/profile/bench"
	"kitescope/render"
)

// What got worse comes first, and of each verdict that shows a change the largest.
func TestVerdictsText(t *testing.T) {
	c := &bench.Comparison{}
	for _, x := range []struct {
		name  string
		after float64
		v     bench.Verdict
	}{
		{"a", 1.02, bench.Better},
		{"b", 0.5, bench.Worse},
		{"c", 1.9, bench.Better},
		{"d", 1.01, bench.NoDifference},
		{"e", math.Inf(1), bench.Worse},
		{"f", 1.05, bench.Better},
		{"g", 1.5, bench.Better},
		{"h", 3, bench.TooFew},
	} {
		l := testLine(bench.Metric{Name: x.name}, bench.HigherIsBetter, []float64{1}, []float64{x.after}, 0, 0, 0.01, x.v, "")
		c.Lines = append(c.Lines, l)
	}
	const want = "2 worse (e from 0; b -50.0%), 4 better (c +90.0%; g +50.0%; f +5.0% and 1 more), 1 no difference shown, 1 too few runs"
	if got := VerdictsText(c); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := VerdictsText(&bench.Comparison{}); got != "nothing was compared" {
		t.Errorf("of nothing: %s", got)
	}
}

// Remarks that differ in their numbers only are one line below the table.
func TestRemarksOfOneShape(t *testing.T) {
	c := &bench.Comparison{A: testSet("before", "csv", 8), B: testSet("after", "csv", 8), Paired: true}
	for i, remark := range []string{
		"needs at least 10 pairs, and 231 to see 1%", "needs at least 10 pairs, and 37 to see 1%", "equal in every pair",
		"needs at least 10 pairs, and 340 to see 1%", "could have shown 1.9% or more", "could have shown 11% or more",
	} {
		m := bench.Metric{Name: string(rune('a' + i))}
		c.Lines = append(c.Lines, testLine(m, bench.HigherIsBetter, spread(8, 1, 0.1), spread(8, 1, 0.1), 1, 1, 0.5, bench.NoDifference, remark))
	}
	table := newComparisonTable(c, groupedLines(c), false, &render.ReportOptions{})
	var got []string
	for _, l := range table.remarks(table.lines) {
		got = append(got, l.Text)
	}
	const want = `a; b; d: needs at least 10 pairs, and 37 to 340 to see 1%
c: equal in every pair
e; f: could have shown 1.9 to 11% or more`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// Both sides are one line, unless something is to be said of one of them.
func TestSidesOfAComparison(t *testing.T) {
	c := &bench.Comparison{A: testSet("before", "csv", 8), B: testSet("new", "csv", 8)}
	text := func() string {
		var lines []string
		for _, l := range bothSides(c) {
			lines = append(lines, l.All())
		}
		return strings.Join(lines, "|")
	}
	for _, x := range []struct {
		change func()
		want   string
	}{
		{func() {}, "csv, 8 runs a side"},
		{func() { c.B = testSet("new", "csv", 1) }, "csv, 8 runs against 1"},
		{func() { c.B.Format = "ab" }, "before: csv, 8 runs|after:  new, ab, 1 run"},
		{func() { c.B.Format, c.A.Runs[2].Failed = "csv", "exit status 1" }, "before: csv, 8 runs|  run 3 failed: exit status 1|after:  new, csv, 1 run"},
		{func() { c.A.Runs[2].Failed, c.B.Notes = "", []string{"odd"} }, "before: csv, 8 runs|after:  new, csv, 1 run|  note: odd"},
	} {
		x.change()
		if got := text(); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}
