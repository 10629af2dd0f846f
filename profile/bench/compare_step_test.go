package bench

import (
	"strings"
	"testing"
)

// rounded are runs of one metric, of which it is known what the program rounded it to.
func rounded(step float64, values ...float64) *Set {
	s := column(Metric{Name: "p50 latency", Unit: "s"}, LowerIsBetter, values...)
	for i := range s.Runs {
		s.Runs[i].Values[0].Step = step
	}
	return s
}

func repeated(n int, x float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// TestRoundingIsNoChange: 0.149 and 0.151 ms are printed as 0.1 and 0.2 ms.
func TestRoundingIsNoChange(t *testing.T) {
	for _, v := range []struct {
		step, before, after, effect float64
		want                        Verdict
		remark                      string
	}{
		{0, 0.0001, 0.0002, 0, Worse, ""},
		{0.0001, 0.0001, 0.0002, 0, NoDifference, "real, but values are rounded to 0.0001 s: it may be smaller than what counts"},
		{0.0001, 0.0001, 0.0002, -1, NoDifference, "rounded to 0.0001 s"},
		{0.0001, 0.0001, 0.0003, 0, Worse, ""},
		{0.0001, 0.0100, 0.0102, 0, NoDifference, "rounded to 0.0001 s"}, // 1.0 %, or twice that
		{0.0001, 0.0100, 0.0103, 0, Worse, ""},
		{0.001, 0, 0.001, 0, NoDifference, "rounded to 0.001 s"},
		{0.001, 0, 0.002, 0, Worse, "it was 0 before"},
		{0.001, 0.002, 0, 0, Better, ""},
	} {
		c := mustCompare(t, rounded(v.step, repeated(10, v.before)...), rounded(v.step, repeated(10, v.after)...), Options{Effect: v.effect})
		if l := c.Lines[0]; l.Verdict != v.want || !strings.Contains(l.Remark, v.remark) {
			t.Errorf("%v to %v in steps of %v: %s", v.before, v.after, v.step, summary(&l))
		}
	}
	// The coarser of two counts, in the unit of both.
	a, b := rounded(1, repeated(10, 1)...), rounded(0.0001, repeated(10, 0.002)...)
	for i := range a.Runs {
		a.Runs[i].Values[0].Unit = "ms"
	}
	if l := mustCompare(t, a, b, Options{}).Lines[0]; l.Step != 0.001 || l.Verdict != NoDifference {
		t.Errorf("step %v: %s", l.Step, summary(&l))
	}
}

func TestSmallChangesAreNotSurelySmall(t *testing.T) {
	a := column(qps(), HigherIsBetter, times(30, 100, 0.01, 0)...)
	sure := mustCompare(t, a, scaledSet(a, 1.002), Options{Pairing: ByOrder}).Lines[0]
	if sure.Verdict != NoDifference || !strings.HasPrefix(sure.Remark, "real but smaller than the 1%") {
		t.Errorf("0.2%% in each pair: %s", summary(&sure))
	}
	unsure := mustCompare(t, a, column(qps(), HigherIsBetter, times(30, 101, 0.01, 5)...), Options{}).Lines[0]
	if !(unsure.High > 1.01 && unsure.Low > 1) || !strings.HasPrefix(unsure.Remark, "real but probably smaller than the 1%") {
		t.Errorf("0.8%%, up to %v: %s", unsure.High, summary(&unsure))
	}
}

func scaledSet(s *Set, by float64) *Set {
	values := make([]float64, len(s.Runs))
	for i, r := range s.Runs {
		values[i] = r.Values[0].X * by
	}
	return column(s.Runs[0].Values[0].Metric, s.Runs[0].Values[0].Better, values...)
}

func TestPairsOfOneNameAreTold(t *testing.T) {
	a := column(qps(), HigherIsBetter, times(8, 100, 0.01, 0)...)
	for i := range a.Runs {
		a.Runs[i].Pair = string(rune('a' + i/2))
	}
	c := mustCompare(t, a, a, Options{})
	if !strings.Contains(strings.Join(c.Notes, "; "), `pair "a" is there more than once`) || !c.Paired {
		t.Errorf("notes %q", c.Notes)
	}
}
