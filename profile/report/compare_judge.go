package report

import (
	"math"
	"time"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// Hypothesis is the null hypothesis of a Comparison's p-values.
type Hypothesis uint8

// Hypotheses.
const (
	// EqualShares: the entry has the same share of all events on both sides.
	EqualShares Hypothesis = iota
	// EqualRates: the entry has as many events in the same time on both sides.
	EqualRates
)

var hypothesisNames = [...]string{"equal shares", "equal rates"}

func (h Hypothesis) String() string { return hypothesisNames[h] }

// defaultLevel is the significance level over all entries.
const defaultLevel = 0.01

// test decides which changes are significant.
type test struct {
	hypothesis Hypothesis
	known      bool
	level      float64
	// before and after are the total numbers of events, or the durations in seconds.
	before, after float64
}

func newTest(c *Comparison, o CompareOptions, base, p *profile.Profile) *test {
	t := &test{
		hypothesis: EqualShares, level: defaultLevel,
		known:  c.Base.Samples >= 0 && c.New.Samples >= 0,
		before: float64(c.Base.Samples), after: float64(c.New.Samples),
	}
	if !o.Normalize && base.Duration > 0 && p.Duration > 0 {
		t.hypothesis = EqualRates
		t.before, t.after = seconds(base.Duration), seconds(p.Duration)
	}
	return t
}

func seconds(d time.Duration) float64 { return d.Seconds() }

// judge sets the p-values and verdicts of all changes.
func (t *test) judge(c *Comparison) {
	c.Hypothesis, c.Level = t.hypothesis, t.level
	flat, cum := make([]float64, len(c.Changes)), make([]float64, len(c.Changes))
	for i := range c.Changes {
		change := &c.Changes[i]
		if !t.known {
			change.FlatSamples, change.CumSamples = -1, -1
			change.FlatEventsBefore, change.FlatEventsAfter, change.CumEventsBefore, change.CumEventsAfter = -1, -1, -1,
				-1
		}
		flat[i] = t.pValue(change.FlatEventsBefore, change.FlatEventsAfter)
		cum[i] = t.pValue(change.CumEventsBefore, change.CumEventsAfter)
		change.FlatP, change.CumP = flat[i], cum[i]
	}
	t.correct(flat, func(i int) int64 { return c.Changes[i].FlatEventsBefore + c.Changes[i].FlatEventsAfter })
	t.correct(cum, func(i int) int64 { return c.Changes[i].CumEventsBefore + c.Changes[i].CumEventsAfter })
	for i := range c.Changes {
		change := &c.Changes[i]
		change.FlatCorrectedP, change.CumCorrectedP = flat[i], cum[i]
		change.FlatVerdict = t.verdict(flat[i], change.FlatEventsBefore, change.FlatEventsAfter)
		change.CumVerdict = t.verdict(cum[i], change.CumEventsBefore, change.CumEventsAfter)
	}
}

// pValue returns the probability that the two counts differ at least as much by chance, or NaN if a count is
// unknown.
func (t *test) pValue(before, after int64) float64 {
	switch {
	case !t.known:
		return math.NaN()
	case t.hypothesis == EqualRates:
		return significance.EqualRatesP(before, t.before, after, t.after)
	}
	return significance.EqualSharesP(before, int64(t.before), after, int64(t.after))
}

// correct replaces p-values by corrected ones (HolmWeighted). It only considers entries whose events would be
// significant if all were on one side. Other entries cannot be significant, so they do not count (Tarone) and
// keep their p-values, which are above the level. An entry's weight is the square root of its events, because a
// change of an entry with many events matters more and should be found sooner.
//
// The test is conditional on an entry's events on both sides together: it concerns only their division between
// the sides. Selection and weights are therefore independent of the outcome.
func (t *test) correct(ps []float64, events func(i int) int64) {
	candidates := make([]float64, len(ps))
	for i, p := range ps {
		if candidates[i] = p; t.leastP(events(i)) > t.level {
			candidates[i] = math.NaN()
		}
	}
	for i, p := range significance.HolmWeighted(candidates,
		func(i int) float64 { return math.Sqrt(float64(events(i))) }) {
		if !math.IsNaN(p) {
			ps[i] = p
		}
	}
}

// leastP returns the smallest possible p-value of the given number of events, i.e. the p-value if all events are
// on one side.
func (t *test) leastP(events int64) float64 {
	const surely = 1e-6
	odds := t.before / (t.before + t.after)
	chance := math.Pow(min(odds, 1-odds), float64(events))
	if t.hypothesis == EqualRates || chance < surely*t.level {
		return chance
	}
	return min(t.pValue(min(events, int64(t.before)), max(0, events-int64(t.before))),
		t.pValue(max(0, events-int64(t.after)), min(events, int64(t.after))))
}

// verdict returns the verdict on a change. Its direction is the direction of events per time, or per total
// events. The values may have changed in the other direction, e.g. if one side lasted longer.
func (t *test) verdict(p float64, before, after int64) Verdict {
	if !t.known {
		return Undecided
	}
	return VerdictOf(p, t.level, float64(after)/t.after-float64(before)/t.before)
}
