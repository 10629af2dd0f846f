package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/significance"
)

// judging is a Comparison on its way to verdicts.
type judging struct {
	*Comparison
	// level is what is left for one of counted tests.
	level   float64
	counted int
	// plans are by level: many lines ask the same.
	plans map[float64]*significance.Plan
}

// plan is that of the level that is left for one test.
func (j *judging) plan() *significance.Plan {
	if j.plans[j.level] == nil {
		j.plans[j.level] = significance.NewPlan(j.Paired, j.level)
	}
	return j.plans[j.level]
}

// verdict calls a line, and says how sure that is or what it would need. unreachable says that no change, however large,
// would have been one.
func (j *judging) verdict(t *tested, unreachable bool) {
	if t.Visible, t.Needs = math.NaN(), 0; t.size > 0 {
		t.Visible = t.share(j.plan().Visible(len(t.A), len(t.B), t.scatter))
		t.Needs = j.plan().Needs(t.effect(j.Effect), t.scatter)
	}
	switch {
	case unreachable:
		t.Verdict, t.Remark = TooFew, j.tooFew(t)
	case t.Corrected > j.Level, t.Low < 1 && t.High > 1 && j.Level <= 1-significance.Confidence:
		// Where many values are equal the test may come out though the interval holds 1: the more cautious one counts.
		t.Verdict, t.Remark = NoDifference, j.notShown(t)
	case t.shift.By == 0:
		t.Verdict, t.Remark = NoDifference, "the sides scatter differently about the same middle"
	case math.Abs(t.Ratio-1) < j.Effect:
		t.Verdict, t.Remark = NoDifference, t.small(j.Effect)
	case t.mayBeRounding(j.Effect):
		t.Verdict, t.Remark = NoDifference, fmt.Sprintf("real, but values are rounded to %s: it may be smaller than what counts", t.stepText())
	default:
		t.Verdict = t.direction()
		t.Remark = t.without()
	}
}

// direction calls a change that is there.
func (t *tested) direction() Verdict {
	switch up := t.shift.By > 0; {
	case t.Better == Unknown || t.Better == Neither:
		return Changed
	case up == (t.Better == HigherIsBetter):
		return Better
	}
	return Worse
}

// contradiction says that the medians of the sides, which stand beside the change, go the other way than the change, or lie where
// it surely is not: what is estimated and tested are differences between runs that belong together (or of all with all), not that of
// two medians.
func (t *tested) contradiction() string {
	if !t.logs || t.size < 2 || math.IsNaN(t.Low) {
		return ""
	}
	const seen = 0.0005 // less is shown as 0.0 %
	medians := t.After / t.Before
	opposite := (medians-1)*(t.Ratio-1) < 0 && min(math.Abs(medians-1), math.Abs(t.Ratio-1)) >= seen
	outside := medians < t.Low-seen || medians > t.High+seen
	if !opposite && !outside {
		return ""
	}
	how := "all runs with all by"
	if t.paired {
		how = "runs of a pair by"
	}
	return fmt.Sprintf("the two medians differ by %s, %s %s, which counts", signed(medians-1), how, signed(t.Ratio-1))
}

// signed is a Percent with its sign.
func signed(share float64) string {
	if share > 0 {
		return "+" + Percent(share)
	}
	return Percent(share)
}

// small says that a change is one, and too small to count: surely, or by the estimate.
func (t *tested) small(effect float64) string {
	if max(math.Abs(t.Low-1), math.Abs(t.High-1)) < effect {
		return fmt.Sprintf("real but smaller than the %s that counts", Percent(effect))
	}
	return fmt.Sprintf("real but probably smaller than the %s that counts", Percent(effect))
}

// mayBeRounding reports whether a change that does not count may look like this: either side may be half a step off.
func (t *tested) mayBeRounding(effect float64) bool {
	size := math.Abs(t.shift.By)
	if t.logs {
		size = math.Abs(t.Ratio-1) * t.Before
	}
	return t.Step > 0 && size-t.Step < effect*math.Abs(t.Before)+1e-9*t.Step
}

func (t *tested) stepText() string {
	return strings.TrimSpace(strconv.FormatFloat(t.Step, 'g', 3, 64) + " " + t.Unit)
}

// without says why a change has no number.
func (t *tested) without() string {
	switch {
	case t.Before == 0:
		return "it was 0 before: there is no ratio"
	case t.Before < 0:
		return "the values are negative: the change is a share of their size"
	}
	return ""
}

// effect is a share as a shift of what is tested.
func (t *tested) effect(share float64) float64 {
	if t.logs {
		return math.Log1p(share)
	}
	return share * math.Abs(t.Before)
}

// share is a shift as a share.
func (t *tested) share(shift float64) float64 {
	switch {
	case t.logs:
		return math.Expm1(shift)
	case t.Before == 0:
		return math.NaN()
	}
	return shift / math.Abs(t.Before)
}

// From manyRuns on nobody wants to know the number.
const (
	manyRuns     = 1_000_000
	manyRunsText = "more than a million"
)

func (j *judging) runs(t *tested, n int) string {
	switch {
	case n >= manyRuns:
		return manyRunsText + map[bool]string{true: " pairs", false: " runs a side"}[t.paired]
	case t.paired:
		return words.Count(n, "pair", "pairs")
	}
	return words.Count(n, "run a side", "runs a side")
}

// tooFew says what would be enough.
func (j *judging) tooFew(t *tested) string {
	least := j.plan().Least()
	enough := "needs at least " + j.runs(t, least)
	switch {
	case t.Needs >= manyRuns:
		enough += ", and " + manyRunsText + " to see " + Percent(j.Effect)
	case t.Needs > least: // with the least any change would be one, however large
		enough += fmt.Sprintf(", and %d to see %s", t.Needs, Percent(j.Effect))
	case t.Needs > 0:
		enough = fmt.Sprintf("needs at least %s to see %s", j.runs(t, t.Needs), Percent(j.Effect))
	}
	switch {
	case t.size == 0:
		return "no pair has it on both sides"
	case len(t.A) == 1 && len(t.B) == 1 && t.paired:
		return "one pair proves nothing: " + enough
	case len(t.A) == 1 && len(t.B) == 1:
		return "one run a side proves nothing: " + enough
	}
	return enough
}

// notShown says what these runs could have shown, and how many would show what counts.
func (j *judging) notShown(t *tested) string {
	switch {
	case t.constant && t.paired:
		return "equal in every pair"
	case t.constant:
		return "all values are equal"
	}
	said := ""
	switch {
	case t.Corrected <= j.Level:
		said = "the p-value is small, but the interval includes no change because many values are equal; "
	case t.P <= j.Level:
		said = fmt.Sprintf("it would be one alone, not among %d metrics; ", j.counted)
	}
	switch {
	case math.IsNaN(t.Visible):
		return said + "what these runs could have shown is unknown"
	case t.Needs == 0 || t.Visible <= j.Effect:
		return said + fmt.Sprintf("could have shown %s or more", Percent(t.Visible))
	}
	return said + fmt.Sprintf("could have shown %s or more; %s would show %s", Percent(t.Visible), j.runs(t, t.Needs), Percent(j.Effect))
}

// Percent writes a share in two digits, as people say it: "3.1%", "0.12%", "140%".
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

// noteScales warns of what looks like another unit rather than a change.
func (c *Comparison) noteScales() {
	for i := range c.Lines {
		l := &c.Lines[i]
		for _, times := range [...]float64{1e3, 1e6, 1e9} {
			near := func(x float64) bool { return x > times/2 && x < times*2 }
			switch {
			case near(l.Ratio):
				c.note("%s is about %.0f times what it was: is one of the sides in another unit?", l.Metric, times)
			case near(1 / l.Ratio):
				c.note("%s is about 1/%.0f of what it was: is one of the sides in another unit?", l.Metric, times)
			}
		}
	}
}
