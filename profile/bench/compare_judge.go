package bench

import (
	"math"
	"slices"
	"sort"
	"strings"

	"kitescope/profile/significance"
)

// tested is a line on its way to a verdict.
type tested struct {
	*Line
	paired bool
	// size is the number of pairs, or of runs of the smaller side.
	size int
	// leastP is the least p value that so many runs can have.
	leastP float64
	// scatter is that of what is tested: of logarithms if logs, else of values.
	scatter significance.Spread
	logs    bool
	// constant says that nothing differs: no pair, or no value from another.
	constant bool
	shift    significance.Shift
}

// judge tests all lines, and corrects and calls them together.
func (c *Comparison) judge() {
	var tests []*tested
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Before, l.After = significance.Median(l.A), significance.Median(l.B)
		if l.Verdict == OneSide {
			continue
		}
		t := c.test(l)
		if l.Better == Neither {
			l.Verdict, l.P, l.Test = NotJudged, math.NaN(), ""
			continue
		}
		tests = append(tests, t)
	}
	c.call(tests)
	c.noteScales()
}

// call corrects all tests together. One that cannot come out costs the others nothing (Tarone, "A modified Bonferroni method for
// discrete data", Biometrics 46, 1990): that of too few runs, and that of values which are all equal. One that is another's figure
// by another name is corrected as that one (see aliases).
func (c *Comparison) call(tests []*tested) {
	ps := make([]float64, len(tests))
	counted, wanted := 0, 0
	of := aliases(tests)
	for i, t := range tests {
		ps[i] = t.P
		if t.leastP > c.Level || t.constant || of[i] != i {
			ps[i] = math.NaN()
		}
		if of[i] != i {
			t.SameAs = tests[of[i]].Metric.String()
			continue
		}
		if !math.IsNaN(ps[i]) {
			counted++
		}
		if !t.constant || t.size <= 1 {
			wanted++
		}
	}
	reach := newReach(ps, counted)
	j := judging{Comparison: c, counted: counted, plans: map[float64]*significance.Plan{}}
	c.noteAliases(tests, of)
	corrections := significance.Holm(ps)
	for i, t := range tests {
		t.Corrected = max(corrections[of[i]], t.P) // what rounding makes of the one figure may differ a little
		if math.IsNaN(corrections[of[i]]) {
			t.Corrected = corrections[of[i]]
		}
		j.level = c.Level / float64(max(1, counted))
		unreachable := t.leastP > c.Level
		if unreachable { // with more runs it would count, as would the others that have too few
			j.level = c.Level / float64(max(1, wanted))
		} else if t.constant {
			t.Corrected = t.P
		}
		j.verdict(t, unreachable || reach.at(t.leastP, t.constant) > c.Level)
		if odd := t.contradiction(); odd != "" {
			t.Remark = strings.TrimPrefix(t.Remark+"; "+odd, "; ")
		}
	}
}

// test works out what one line shows for itself.
func (c *Comparison) test(l *Line) *tested {
	t := &tested{Line: l, paired: c.Paired, size: min(len(l.A), len(l.B)), leastP: 1}
	if t.size == 0 {
		return t
	}
	positive := func(x float64) bool { return x > 0 }
	t.logs = !slices.ContainsFunc(l.A, not(positive)) && !slices.ContainsFunc(l.B, not(positive))
	a, b := t.scaled(l.A), t.scaled(l.B)
	if c.Paired {
		d := make([]float64, len(a))
		for i := range a {
			d[i] = t.rounded(b[i] - a[i])
		}
		l.Test, t.leastP = "Wilcoxon signed-rank", significance.SignedRankLeastP(len(d))
		t.shift, t.scatter = significance.SignedRank(d), significance.SpreadOf(d)
		t.constant = t.scatter.All == 0 && t.shift.By == 0
	} else {
		l.Test, t.leastP = "Mann-Whitney", significance.RankSumLeastP(len(a), len(b))
		t.shift, t.scatter = significance.RankSum(a, b), significance.SpreadOf(a, b)
		t.constant = t.scatter.All == 0 && t.shift.By == 0
	}
	l.P = t.shift.P
	l.Ratio, l.Low, l.High = t.ratio(t.shift.By), t.ratio(t.shift.Low), t.ratio(t.shift.High)
	if math.IsInf(l.Low, 0) || math.IsInf(l.High, 0) {
		l.Low, l.High = math.NaN(), math.NaN() // of 0 before there are no shares
	}
	return t
}

func not(f func(float64) bool) func(float64) bool { return func(x float64) bool { return !f(x) } }

// scaled are the values as they are tested.
func (t *tested) scaled(values []float64) []float64 {
	list := slices.Clone(values)
	if t.logs {
		for i := range list {
			list[i] = math.Log(list[i])
		}
	}
	return list
}

// rounded makes ratios equal that are, so that they share their ranks: the logarithms of 3/1 and of 6/2 differ in the last digit.
func (t *tested) rounded(d float64) float64 {
	if !t.logs {
		return d
	}
	const digits = 1e12
	return math.Round(d*digits) / digits
}

// ratio is what a shift is as a ratio.
func (t *tested) ratio(by float64) float64 {
	switch {
	case math.IsNaN(by):
		return by
	case t.logs:
		return math.Exp(by)
	case by == 0:
		return 1
	case t.Before == 0:
		return math.Inf(int(math.Copysign(1, by)))
	}
	return 1 + by/math.Abs(t.Before)
}

// reach says how significant a line could have come out among the others.
type reach struct {
	sorted []float64
	worst  []float64 // of the first so many, the greatest corrected
}

func newReach(ps []float64, counted int) *reach {
	r := &reach{}
	for _, p := range ps {
		if !math.IsNaN(p) {
			r.sorted = append(r.sorted, p)
		}
	}
	slices.Sort(r.sorted)
	r.worst = make([]float64, counted+1)
	for i, p := range r.sorted {
		r.worst[i+1] = max(r.worst[i], p*float64(counted-i))
	}
	return r
}

// at is the corrected p value of a line that has the least one that it can have, p, while the others stay as they are.
// It counts as one more if it was not among them.
func (r *reach) at(p float64, more bool) float64 {
	before := sort.SearchFloat64s(r.sorted, p)
	left := len(r.sorted) - before
	if more {
		left++
	}
	return max(r.worst[before], p*float64(max(1, left)))
}
