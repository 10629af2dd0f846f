package profiles

import (
	"strings"
	"testing"

	"kitescope/profile/bench"
)

// TestCurveOfAMetric: what was measured with several numbers of clients is drawn over them, both sides, with one mark for each; what was
// not, is not.
func TestCurveOfAMetric(t *testing.T) {
	c := &bench.Comparison{}
	for i, clients := range []int{8, 1, 64} {
		before, after := float64(100*(i+1)), float64(150*(i+1))
		c.Lines = append(c.Lines, bench.Line{
			Metric: bench.Metric{Name: "QPS", Unit: "1/s", Concurrency: clients}, Before: before, After: after,
			A: []float64{before - 10, before, before + 10}, B: []float64{after},
		})
	}
	c.Lines = append(c.Lines, bench.Line{Metric: bench.Metric{Name: "load time", Unit: "s"}, Before: 1, After: 2, A: []float64{1}, B: []float64{2}})
	text := func(i, w, h int, ascii bool) string {
		var b strings.Builder
		for _, l := range drawCurve(c, &c.Lines[i], w, h, ascii) {
			if l.Width() > w {
				t.Errorf("%d cells of %d: %+v", l.Width(), w, l)
			}
			for _, p := range l {
				b.WriteString(p.Text)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	for _, ascii := range []bool{false, true} {
		got := text(1, 70, 14, ascii)
		title, drawing, _ := strings.Cut(got, "\n")
		legend, drawing, _ := strings.Cut(drawing, "\n")
		if !strings.HasPrefix(title, "QPS") || !strings.Contains(title, "by clients") || !strings.Contains(legend, "b before") || !strings.Contains(legend, "a after") {
			t.Errorf("title %q, legend %q", title, legend)
		}
		if strings.Count(drawing, "b") != 3 || strings.Count(drawing, "a") != 3 {
			t.Errorf("not three points a side:\n%s", drawing)
		}
		for _, clients := range []string{" 1 ", " 8 ", " 64"} {
			if !strings.Contains(drawing, clients) {
				t.Errorf("no place for %s clients:\n%s", clients, drawing)
			}
		}
		if ascii && strings.ContainsFunc(got, func(r rune) bool { return r > '~' }) {
			t.Errorf("not ASCII:\n%s", got)
		}
	}
	if got := text(3, 70, 14, false); got != "" {
		t.Errorf("a metric of no number of clients has a curve:\n%s", got)
	}
	if got := text(0, 70, leastCurve-1, false); got != "" {
		t.Errorf("a curve in %d lines:\n%s", leastCurve-1, got)
	}
}
