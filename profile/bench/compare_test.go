package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func qps() Metric     { return Metric{Name: "QPS", Unit: "1/s"} }
func latency() Metric { return Metric{Name: "latency", Unit: "s"} }

// column returns a Set with a single metric and a run for each value. Pairs are numbered.
func column(m Metric, better Direction, values ...float64) *Set {
	s := &Set{Name: "runs"}
	for i, x := range values {
		s.Runs = append(s.Runs, Run{
			Name: strconv.Itoa(i + 1), Pair: strconv.Itoa(i + 1), Values: []Value{{Metric: m, Better: better, X: x}},
		})
	}
	return s
}

// addMetric adds the values of another metric to the runs.
func addMetric(s *Set, m Metric, better Direction, values ...float64) *Set {
	for i, x := range values {
		s.Runs[i].Values = append(s.Runs[i].Values, Value{Metric: m, Better: better, X: x})
	}
	return s
}

func mustCompare(t *testing.T, a, b *Set, o Options) *Comparison {
	t.Helper()
	c, err := Compare(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// times returns n deterministic values that scatter a little around middle.
func times(n int, middle, spread, phase float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = middle * (1 + spread*math.Sin(float64((i+1)*(i+1))*1.7+phase))
	}
	return list
}

func scaledBy(list []float64, by float64) []float64 {
	scaled := make([]float64, len(list))
	for i := range list {
		scaled[i] = list[i] * by
	}
	return scaled
}

func summary(l *Line) string {
	return fmt.Sprintf("%s: %.4g > %.4g, %.4g [%.4g %.4g] p %.2g, %.2g: %s (%s)", l.Metric, l.Before, l.After, l.Ratio,
		l.Low, l.High, l.P, l.Corrected, l.Verdict, l.Remark)
}

func TestVerdicts(t *testing.T) {
	steady := times(12, 100, 0.005, 0)
	for name, v := range map[string]struct {
		a, b []float64
		m    Metric
		d    Direction
		o    Options
		want string
	}{
		"better": {
			steady, scaledBy(times(12, 100, 0.005, 1), 1.05), qps(), HigherIsBetter,
			Options{},
			"QPS: 100.2 > 105.2, 1.05 [1.047 1.053] p 0.00049, 0.00049: better ()",
		},
		"worse": {
			steady, scaledBy(times(12, 100, 0.005, 1), 1.05), latency(), LowerIsBetter,
			Options{},
			"latency: 100.2 > 105.2, 1.05 [1.047 1.053] p 0.00049, 0.00049: worse ()",
		},
		"worse, not paired": {
			steady, scaledBy(times(12, 100, 0.005, 1), 1.05), latency(), LowerIsBetter,
			Options{Pairing: Unpaired},
			"latency: 100.2 > 105.2, 1.05 [1.047 1.053] p 7.4e-07, 7.4e-07: worse ()",
		},
		"nothing says which way is better": {
			steady, scaledBy(times(12, 100, 0.005, 1), 0.95),
			Metric{Name: "score"},
			Unknown,
			Options{},
			"score: 100.2 > 95.14, 0.95 [0.9475 0.953] p 0.00049, 0.00049: changed ()",
		},
		"the user says which way is better": {
			steady, scaledBy(times(12, 100, 0.005, 1), 0.95),
			Metric{Name: "score"},
			Unknown,
			Options{Better: map[string]Direction{"score": HigherIsBetter}},
			"score: 100.2 > 95.14, 0.95 [0.9475 0.953] p 0.00049, 0.00049: worse ()",
		},
		"real but small": {
			steady, scaledBy(steady, 1.004), qps(), HigherIsBetter,
			Options{},
			"QPS: 100.2 > 100.6, 1.004 [1.004 1.004] p 0.00049, 0.00049: no difference shown (real but smaller than " +
				"the 1% that counts)",
		},
		"real, and anything counts": {
			steady, scaledBy(steady, 1.004), qps(), HigherIsBetter,
			Options{Effect: -1},
			"QPS: 100.2 > 100.6, 1.004 [1.004 1.004] p 0.00049, 0.00049: better ()",
		},
		"noise": {
			times(12, 100, 0.03, 0), times(12, 100, 0.03, 1), qps(), HigherIsBetter,
			Options{},
			"QPS: 101.1 > 100.9, 1 [0.9845 1.019] p 0.91, 0.91: no difference shown ()",
		},
		"one run a side": {
			[]float64{104},
			[]float64{99},
			latency(), LowerIsBetter,
			Options{Pairing: Unpaired},
			"latency: 104 > 99, 0.9519 [NaN NaN] p 1, NaN: too few runs (one run a side proves nothing: needs at " +
				"least 4 runs a side)",
		},
		"one pair": {
			[]float64{104},
			[]float64{99},
			latency(), LowerIsBetter,
			Options{},
			"latency: 104 > 99, 0.9519 [NaN NaN] p 1, NaN: too few runs (one pair proves nothing: needs at least 6 " +
				"pairs)",
		},
		"five pairs": {
			steady[:5], scaledBy(times(5, 100, 0.005, 1), 1.5), qps(), HigherIsBetter,
			Options{},
			"QPS: 100.2 > 150.1, 1.498 [NaN NaN] p 0.062, NaN: too few runs (needs at least 6 pairs)",
		},
		"no errors": {
			make([]float64, 8), make([]float64, 8),
			Metric{Name: "errors"},
			LowerIsBetter,
			Options{},
			"errors: 0 > 0, 1 [1 1] p 1, 1: no difference shown (all values are equal)",
		},
		"errors where there were none": {
			make([]float64, 8),
			[]float64{5, 6, 5, 4, 7, 5, 5, 6},
			Metric{Name: "errors"},
			LowerIsBetter,
			Options{},
			"errors: 0 > 5, +Inf [NaN NaN] p 0.0078, 0.0078: worse (it was 0 before: no ratio)",
		},
		"errors where there were none, one run a side": {
			[]float64{0},
			[]float64{5},
			Metric{Name: "errors"},
			LowerIsBetter,
			Options{Pairing: Unpaired},
			"errors: 0 > 5, +Inf [NaN NaN] p 1, NaN: too few runs (one run a side proves nothing: needs at least 4 " +
				"runs a side)",
		},
		"no errors any more": {
			[]float64{5, 6, 5, 4, 7, 5, 5, 6},
			make([]float64, 8),
			Metric{Name: "errors"},
			LowerIsBetter,
			Options{Pairing: Unpaired},
			"errors: 5 > 0, 0 [-0.2 0] p 0.00016, 0.00016: better ()",
		},
		"below zero": {
			[]float64{-10, -11, -10, -12, -9, -10, -11, -10},
			[]float64{-5, -6, -5, -6, -4, -5, -6, -5},
			Metric{Name: "balance"},
			HigherIsBetter,
			Options{},
			"balance: -10 > -5, 1.5 [1.5 1.55] p 0.0078, 0.0078: better (the values are negative: the change is a " +
				"share of their size)",
		},
		"what describes a run": {
			steady, scaledBy(steady, 2),
			Metric{Name: "iterations"},
			Neither,
			Options{},
			"iterations: 100.2 > 200.4, 2 [2 2] p NaN, NaN: not judged ()",
		},
		"the test comes out, its interval does not": {
			[]float64{10, 10, 12, 10},
			[]float64{13, 13, 11, 11, 13, 11},
			latency(), LowerIsBetter,
			Options{Pairing: Unpaired},
			"latency: 10 > 12, 1.1 [0.9167 1.3] p 0.038, 0.038: no difference shown (the p-value is small, but the " +
				"interval includes no change)",
		},
		"always the same": {
			[]float64{3, 3, 3, 3},
			[]float64{2, 2, 2, 2},
			Metric{Name: "allocs/op"},
			LowerIsBetter,
			Options{Pairing: Unpaired},
			"allocs/op: 3 > 2, 0.6667 [0.6667 0.6667] p 0.029, 0.029: better ()",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustCompare(t, column(v.m, v.d, v.a...), column(v.m, v.d, v.b...), v.o)
			if diff := cmp.Diff(v.want, summary(&c.Lines[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEqualRatios checks that equal ratios tie, e.g. 3/1 and 6/2. Of seven equal changes one has the opposite
// sign, so the p-value is the probability that at most one of 7 coin flips differs from the others: 16/128.
func TestEqualRatios(t *testing.T) {
	a, b := []float64{1, 2, 0.3, 4, 0.05, 6, 21}, []float64{3, 6, 0.9, 12, 0.15, 18, 7}
	if l := mustCompare(t, column(qps(), HigherIsBetter, a...), column(qps(), HigherIsBetter, b...),
		Options{}).Lines[0]; l.P != 0.125 {
		t.Error(summary(&l))
	}
}

// TestManyMetrics checks that each further metric makes a difference harder to show, unless it cannot become
// significant.
func TestManyMetrics(t *testing.T) {
	before, after := times(7, 100, 0.005, 0), scaledBy(times(7, 100, 0.005, 1), 1.05)
	a, b := column(qps(), HigherIsBetter, before...), column(qps(), HigherIsBetter, after...)
	verdict := func() string { return summary(&mustCompare(t, a, b, Options{}).Lines[0]) }
	if got := verdict(); !strings.Contains(got, "p 0.016, 0.016: better") {
		t.Errorf("alone: %s", got)
	}
	addMetric(a, Metric{Name: "errors"}, LowerIsBetter, make([]float64, 7)...)
	addMetric(b, Metric{Name: "errors"}, LowerIsBetter, make([]float64, 7)...)
	addMetric(a, Metric{Name: "queries"}, Neither, 1, 2, 3, 4, 5, 6, 7)
	addMetric(b, Metric{Name: "queries"}, Neither, 2, 3, 4, 5, 6, 7, 8)
	addMetric(a, Metric{Name: "rare"}, LowerIsBetter, 1, 2)
	addMetric(b, Metric{Name: "rare"}, LowerIsBetter, 2, 3)
	if got := verdict(); !strings.Contains(got, "p 0.016, 0.016: better") {
		t.Errorf("with what cannot come out: %s", got)
	}
	for i := range 3 {
		m := Metric{Name: fmt.Sprint("noise ", i)}
		addMetric(a, m, LowerIsBetter, times(7, 3, 0.02, float64(i))...)
		addMetric(b, m, LowerIsBetter, times(7, 3, 0.02, float64(i)+1)...)
	}
	// With four metrics the least p-value of seven pairs, 0.0156, is corrected to 0.0625. Eight pairs are needed:
	// 4/128.
	if got := verdict(); !strings.Contains(got, "p 0.016, 0.062: too few runs (needs at least 8 pairs)") {
		t.Errorf("with three more: %s", got)
	}
}

func TestPairing(t *testing.T) {
	// The pairs were made under conditions that differ much more than the effect of the change.
	a := column(latency(), LowerIsBetter, 1, 2, 3, 4, 5, 6, 7, 8)
	b := column(latency(), LowerIsBetter, 1.03, 2.06, 3.09, 4.13, 5.15, 6.17, 7.22, 8.25)
	if l := mustCompare(t, a, b, Options{}).Lines[0]; l.Verdict != Worse || l.Test != "Wilcoxon signed-rank" {
		t.Errorf("paired: %s by %s", summary(&l), l.Test)
	}
	if l := mustCompare(t, a, b, Options{Pairing: Unpaired}).Lines[0]; l.Verdict != NoDifference ||
		l.Test != "Mann-Whitney" {
		t.Errorf("unpaired: %s by %s", summary(&l), l.Test)
	}
	// The order of runs does not matter. Runs that failed or have no partner are counted.
	b.Runs[0], b.Runs[7] = b.Runs[7], b.Runs[0]
	a.Runs[2].Failed = "exit status 1"
	b.Runs[5].Pair = "other"
	c := mustCompare(t, a, b, Options{})
	got := fmt.Sprint(c.Paired, c.Failed, c.Unmatched, c.Lines[0].A, c.Lines[0].B, c.Notes)
	if want := "true [1 0] [1 2] [1 2 4 5 7 8] [1.03 2.06 4.13 5.15 7.22 8.25] [3 runs without a partner on the " +
		"other side: left out]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// With ByOrder, names do not matter.
	c = mustCompare(t, a, b, Options{Pairing: ByOrder})
	if got := fmt.Sprint(c.Paired, c.Failed, c.Unmatched, c.Lines[0].A, c.Lines[0].B); got != "true [1 0] [0 1] [1 2 "+
		"4 5 6 7 8] [8.25 2.06 4.13 5.15 6.17 7.22 1.03]" {
		t.Error(got)
	}
	var mismatch *Mismatch
	if _, err := Compare(a, column(latency(), LowerIsBetter, 1, 2), Options{Pairing: ByOrder}); !errors.As(err,
		&mismatch) || mismatch.Hint() == "" {
		t.Errorf("8 and 2 runs by their order: %v", err)
	}
	for i := range b.Runs {
		b.Runs[i].Pair += "x"
	}
	if c := mustCompare(t, a, b, Options{}); c.Paired || len(c.Lines[0].A) != 7 {
		t.Errorf("no names in common: paired %v, %v, %v", c.Paired, c.Lines[0].A, c.Notes)
	}
	// Runs with the same name are not paired by their order.
	x, y := column(latency(), LowerIsBetter, 1, 2, 3, 4), column(latency(), LowerIsBetter, 5, 6, 7, 8)
	x.Runs[1].Pair, y.Runs[1].Pair = "1", "1"
	c = mustCompare(t, x, y, Options{})
	got = fmt.Sprint(c.Paired, c.Lines[0].A, c.Lines[0].B, c.Notes)
	want := "true [3 4] [7 8] [pair 1 is the name of 2 runs before and 2 after: not paired " +
		"4 runs without a partner on the other side: left out]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i := range b.Runs {
		b.Runs[i].Pair = ""
	}
	if c := mustCompare(t, a, b, Options{}); c.Paired || len(c.Notes) > 0 {
		t.Errorf("no names: paired %v, %v", c.Paired, c.Notes)
	}
}

func TestNothingToCompare(t *testing.T) {
	failed := &Set{Runs: []Run{{Name: "1", Pair: "1", Failed: "exit status 1"}}}
	for _, s := range []*Set{nil, {}, failed} {
		for _, p := range []Pairing{ByName, ByOrder, Unpaired} {
			c := mustCompare(t, s, s, Options{Pairing: p})
			if len(c.Lines) != 0 || len(c.Notes) < 2 || c.Notes[len(c.Notes)-1] != "after: no values" {
				t.Errorf("%v: %v", c.Lines, c.Notes)
			}
		}
	}
	if c := mustCompare(t, failed, failed, Options{}); c.Failed != [2]int{1, 1} {
		t.Errorf("failed: %v", c.Failed)
	}
	for _, level := range []float64{-1, 1, 7, math.NaN()} {
		if _, err := Compare(failed, failed, Options{Level: level}); err == nil {
			t.Errorf("level %v is none", level)
		}
	}
}

func TestControl(t *testing.T) {
	a, b := column(qps(), HigherIsBetter, times(10, 100, 0.01, 0)...),
		column(qps(), HigherIsBetter, times(10, 110, 0.01, 1)...)
	for _, v := range []struct {
		control float64 // the first program, run again
		want    Verdict
	}{{100, Better}, {102, Better}, {112, NoDifference}, {89, NoDifference}} {
		again := column(qps(), HigherIsBetter, times(10, v.control, 0.001, 2)...)
		c := mustCompare(t, a, b, Options{Control: [2]*Set{a, again}})
		if l := c.Lines[0]; l.Verdict != v.want || l.Verdict == NoDifference && l.Remark == "" {
			t.Errorf("control %v: %s, want %v", v.control, summary(&l), v.want)
		}
	}
	more := column(qps(), HigherIsBetter, times(12, 100, 0.01, 4)...)
	if c := mustCompare(t, a, b, Options{Pairing: ByOrder, Control: [2]*Set{a, more}}); c.Control.Paired ||
		c.Control.Lines[0].Verdict != NoDifference {
		t.Errorf("a control of more runs: %s", summary(&c.Control.Lines[0]))
	}
	if c := mustCompare(t, a, b, Options{Control: [2]*Set{a, a}}); c.Control != nil ||
		!strings.Contains(fmt.Sprint(c.Notes), "identical to the results") {
		t.Errorf("a file named twice: %q", c.Notes)
	}
	if c := mustCompare(t, a, b, Options{}); c.Control != nil {
		t.Error("a control from nowhere")
	}
}

// TestPublished checks that published figures, with one run per side, give the published change and are not
// significant.
func TestPublished(t *testing.T) {
	for _, v := range []struct {
		what          string
		before, after float64
		change        string
	}{
		// smalldatum.blogspot.com, "Vector indexes, MariaDB & pgvector, large server, small dataset: part 2": with 2
		// sessions.
		{"cpu per query", 0.000681, 0.000872, "+28.0"},
		{"context switches per query", 8.40, 5.16, "-38.6"},
		// ab with the WebP server: 104 and 99 seconds.
		{"time taken", 104, 99, "-4.8"},
	} {
		m := Metric{Name: v.what}
		l := mustCompare(t, column(m, LowerIsBetter, v.before), column(m, LowerIsBetter, v.after),
			Options{Pairing: Unpaired}).Lines[0]
		if got := fmt.Sprintf("%+.1f", 100*(l.Ratio-1)); got != v.change || l.Verdict != TooFew ||
			!strings.HasPrefix(l.Remark, "one run a side proves nothing") {
			t.Errorf("%s: %s, want %s; %s", v.what, got, v.change, summary(&l))
		}
	}
}

func TestNotes(t *testing.T) {
	a, b := column(qps(), HigherIsBetter, 1, 2, 3), column(qps(), HigherIsBetter, 1, 2, 4)
	addMetric(a, latency(), LowerIsBetter, 5, 6, math.NaN())
	addMetric(b, Metric{Name: "recall"}, HigherIsBetter, 0.9, math.Inf(1))
	addMetric(b, qps(), HigherIsBetter, 3)
	addMetric(a, Metric{Name: "mood"}, HigherIsBetter, 3)
	addMetric(b, Metric{Name: "mood"}, LowerIsBetter, 3)
	c := mustCompare(t, a, b, Options{Better: map[string]Direction{"typo": HigherIsBetter}})
	want := []string{
		"before: 1 value is not a number or far too large, and left out",
		"after: 1 value is not a number or far too large, and left out",
		"after: a run has several values of QPS, which are not independent: using their median",
		`a direction was given for "typo", but no metric has that name`,
	}
	if diff := cmp.Diff(want, c.Notes); diff != "" {
		t.Error(diff)
	}
	var lines []string
	for _, l := range c.Lines {
		lines = append(lines, fmt.Sprint(l.Name, " ", l.A, l.B, " ", l.Verdict, " ", l.Remark))
	}
	wantLines := []string{
		"QPS [1 2 3] [2 2 4] too few runs needs at least 7 pairs",
		"latency [5 6] [] one side only only before",
		"mood [3] [3] too few runs one pair proves nothing: needs at least 7 pairs",
		"recall [] [0.9] one side only only after",
	}
	if diff := cmp.Diff(wantLines, lines); diff != "" {
		t.Error(diff)
	}
}

// TestOddValues checks that lines are consistent for any values in a file.
func TestOddValues(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	odd := []float64{
		0, math.Copysign(0, -1), 1, -1, 1, 1.0000001, 5, 1e100, -1e100, 1e-300, math.SmallestNonzeroFloat64,
		math.MaxFloat64, math.Inf(1), math.NaN(), 3, 3,
	}
	draw := func(r *rand.Rand) []float64 {
		kinds := odd[:1+r.IntN(len(odd))]
		list := make([]float64, r.IntN(14))
		for i := range list {
			list[i] = kinds[r.IntN(len(kinds))]
		}
		return list
	}
	seen := map[Verdict]int{}
	for range 1000 {
		o := Options{
			Pairing: Pairing(r.IntN(3)), Effect: float64(r.IntN(3)-1) / 100, Level: []float64{0, 0.2, 0.01}[r.IntN(3)],
		}
		a, b := column(latency(), Direction(r.IntN(4)), draw(r)...), column(latency(), Direction(r.IntN(4)), draw(r)...)
		c, err := Compare(a, b, o)
		if err != nil {
			if o.Pairing != ByOrder || len(a.Runs) == len(b.Runs) {
				t.Fatal(err)
			}
			continue
		}
		for i := range c.Lines {
			l := &c.Lines[i]
			seen[l.Verdict]++
			said := summary(l)
			switch l.Verdict {
			case NoDifference:
			case TooFew, OneSide:
				if l.Remark == "" {
					t.Fatalf("no remark: %s", said)
				}
			case Better, Worse, Changed:
				if l.Ratio == 1 || !(l.Corrected <= c.Level) || l.Corrected < l.P*(1-1e-12) {
					t.Fatalf("called a change: %s", said)
				}
			case NotJudged:
			}
			if l.Low > l.Ratio*(1+1e-9) && l.Ratio > 0 || l.High < l.Ratio*(1-1e-9) && l.Ratio > 0 {
				t.Fatalf("%s: the estimate is not in its interval", said)
			}
			if l.Verdict != OneSide && len(l.A) > 0 && len(l.B) > 0 && (math.IsNaN(l.Ratio) || math.IsNaN(l.Before)) {
				t.Fatalf("%s: what is known is not said", said)
			}
			if strings.Contains(said, "%!") {
				t.Fatal(said)
			}
		}
	}
	for v := TooFew; v <= NotJudged; v++ {
		if seen[v] == 0 {
			t.Errorf("%s never came", v)
		}
	}
}
