package builds

import (
	"math"
	"testing"

	"kitescope/profile/bench"
)

// TestVerdictsText checks that worse metrics come first, and that changes are sorted by size within each verdict.
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
		l := testLine(bench.Metric{Name: x.name}, bench.HigherIsBetter, []float64{1}, []float64{x.after}, 0, 0, 0.01,
			x.v, "")
		c.Lines = append(c.Lines, l)
	}
	const want = "2 worse (e from 0; b -50.0%), 4 better (c +90.0%; g +50.0%; f +5.0% and 1 more), 1 no difference " +
		"shown, 1 too few runs"
	if got := verdictsLine(c); got.EscapedText() != want {
		t.Errorf("got  %s\nwant %s", got.EscapedText(), want)
	}
	if got := verdictsLine(&bench.Comparison{}); got.EscapedText() != "nothing was compared" {
		t.Errorf("of nothing: %s", got.EscapedText())
	}
}
