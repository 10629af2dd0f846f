package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"kitescope/internal/words"
	"kitescope/profile/significance"
)

// judge tests all lines, corrects the p-values together, and sets the verdicts. The correction excludes tests
// that cannot become significant, because there are too few runs or the values are equal (Tarone, "A modified
// Bonferroni method for discrete data", Biometrics 46, 1990).
func (c *Comparison) judge() {
	ps := make([]float64, len(c.Lines))
	counted, wanted := 0, 0 // counted tests can become significant; wanted ones could with more runs
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Before, l.After = significance.Median(l.A), significance.Median(l.B)
		ps[i] = math.NaN()
		switch {
		case l.Verdict == OneSide || len(l.A) == 0 || len(l.B) == 0:
		case l.Better == Neither, l.Verdict == NotJudged:
			c.test(l)
			l.Verdict, l.P, l.Test = NotJudged, math.NaN(), ""
		default:
			c.test(l)
			if !l.constant() || len(l.A) == 1 {
				wanted++
			}
			if !l.constant() && c.leastP(len(l.A), len(l.B)) <= c.Level {
				ps[i] = l.P
				counted++
			}
		}
	}
	for i, p := range significance.Holm(ps) {
		if l := &c.Lines[i]; l.Verdict != OneSide && l.Verdict != NotJudged {
			l.Corrected = p
			l.Verdict, l.Remark = c.verdict(l, max(1, counted), wanted)
		}
	}
}

// leastP returns the smallest possible p-value for the given numbers of runs.
func (c *Comparison) leastP(before, after int) float64 {
	if c.Paired {
		return significance.SignedRankLeastP(before)
	}
	return significance.RankSumLeastP(before, after)
}

// constant reports whether all values of the line are equal, or both values of each pair.
func (l *Line) constant() bool {
	return l.P == 1 && l.Ratio == 1 && (slices.Equal(l.A, l.B) || slices.Max(l.A) == slices.Min(l.A))
}

// test computes the estimate and the p-value of a line.
func (c *Comparison) test(l *Line) {
	logs := slices.Min(l.A) > 0 && slices.Min(l.B) > 0
	a, b := scaled(l.A, logs), scaled(l.B, logs)
	var shift significance.Shift
	if c.Paired {
		d := make([]float64, len(a))
		for i := range a {
			d[i] = b[i] - a[i]
			if logs { // makes equal ratios tie: the logarithms of 3/1 and 6/2 differ in the last digit
				const digits = 1e12
				d[i] = math.Round(d[i]*digits) / digits
			}
		}
		l.Test, shift = "Wilcoxon signed-rank", significance.SignedRank(d)
	} else {
		l.Test, shift = "Mann-Whitney", significance.RankSum(a, b)
	}
	ratio := func(by float64) float64 {
		switch {
		case logs:
			return math.Exp(by)
		case by == 0:
			return 1
		case l.Before == 0:
			return math.Inf(int(math.Copysign(1, by)))
		}
		return 1 + by/math.Abs(l.Before)
	}
	l.P = shift.P
	l.Ratio, l.Low, l.High = ratio(shift.Estimate), ratio(shift.Low), ratio(shift.High)
	if math.IsInf(l.Low, 0) || math.IsInf(l.High, 0) || math.IsNaN(shift.Low) {
		l.Low, l.High = math.NaN(), math.NaN() // a ratio to 0 does not exist
	}
}

func scaled(values []float64, logs bool) []float64 {
	list := slices.Clone(values)
	if logs {
		for i := range list {
			list[i] = math.Log(list[i])
		}
	}
	return list
}

// verdict returns the verdict of a line and its explanation. counted is the number of tests in the correction.
func (c *Comparison) verdict(l *Line, counted, wanted int) (v Verdict, remark string) {
	few := c.leastP(len(l.A), len(l.B))*float64(counted) > c.Level
	switch {
	case len(l.A) == 0 || len(l.B) == 0:
		return TooFew, "no pair has it on both sides"
	case l.constant() && len(l.A) > 1:
		l.Corrected = l.P
		return NoDifference, "all values are equal"
	case few && !(l.Corrected <= c.Level):
		return TooFew, c.tooFew(l, wanted)
	case !(l.Corrected <= c.Level) && l.P <= c.Level:
		return NoDifference, fmt.Sprintf("significant on its own, but not among %d metrics", counted)
	case !(l.Corrected <= c.Level):
		return NoDifference, ""
	case l.Ratio == 1, l.Low < 1 && l.High > 1:
		return NoDifference, "the p-value is small, but the interval includes no change"
	case math.Abs(l.Ratio-1) < c.Effect:
		return NoDifference, fmt.Sprintf("real but smaller than the %s that counts", Percent(c.Effect))
	case l.Better == Unknown:
		return Changed, l.noRatioRemark()
	case l.Ratio > 1 == (l.Better == HigherIsBetter):
		return Better, l.noRatioRemark()
	}
	return Worse, l.noRatioRemark()
}

// noRatioRemark explains a change that has no ratio.
func (l *Line) noRatioRemark() string {
	switch {
	case l.Before == 0:
		return "it was 0 before: no ratio"
	case l.Before < 0:
		return "the values are negative: the change is a share of their size"
	}
	return ""
}

// tooFew explains how many runs are needed to show a change among the given number of tests.
func (c *Comparison) tooFew(l *Line, tests int) string {
	const most = 1100 // with this many runs the smallest p-value is below any float
	n := 1
	for n < most && c.leastP(n, n)*float64(tests) > c.Level {
		n++
	}
	enough, one := "needs at least "+words.Count(n, "run a side", "runs a side"), "one run a side proves nothing: "
	if c.Paired {
		enough, one = "needs at least "+words.Count(n, "pair", "pairs"), "one pair proves nothing: "
	}
	if len(l.A) == 1 && len(l.B) == 1 {
		return one + enough
	}
	return enough
}

// Percent formats a share with two significant digits: "3.1%", "0.12%", "140%".
func Percent(share float64) string {
	x := 100 * share
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "unknown"
	case math.Abs(x) >= 99.5:
		return strconv.FormatFloat(x, 'f', 0, 64) + "%"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return "unknown"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64) + "%"
}

// compareControl compares the sets of the control with each other. A change counts only if its whole interval
// is beyond the change of the control.
func (c *Comparison) compareControl(o Options) (err error) {
	if sameResults(newSide(o.Control[0]), newSide(o.Control[1])) {
		c.note("control ignored: it is identical to the results, so it shows nothing about the machine")
		return nil
	}
	control := o
	control.Control = [2]*Set{}
	if o.Pairing == ByOrder && len(o.Control[0].Runs) != len(o.Control[1].Runs) {
		control.Pairing = Unpaired // the user stated the order of the two sides, not of the control
	}
	if c.Control, err = Compare(o.Control[0], o.Control[1], control); err != nil {
		return err
	}
	noise := map[Metric]float64{}
	for i := range c.Control.Lines {
		if l := &c.Control.Lines[i]; l.Verdict.IsChange() {
			noise[l.Metric] = math.Abs(l.Ratio - 1)
		}
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		by, differs := noise[l.Metric]
		if least := min(math.Abs(l.Low-1), math.Abs(l.High-1)); differs && l.Verdict.IsChange() && !(least > by) {
			l.Verdict, l.Remark = NoDifference,
				fmt.Sprintf("the control differs from itself by %s: this change may be noise too", Percent(by))
		}
	}
	return nil
}
