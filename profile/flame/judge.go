package flame

import (
	"math"

	"kitescope/profile/report"
	"kitescope/profile/significance"
)

// Level is the significance level over all frames of a difference: the probability that any noise is reported
// as a change.
const Level = 0.01

// Verdict returns the verdict on the change of a frame.
func (t *Tree) Verdict(frame int32) report.Verdict {
	if t.Verdicts == nil {
		return report.Undecided
	}
	return t.Verdicts[frame]
}

// judge computes PValues and Verdicts from the events and the durations of both sides, by the rules of
// report.NewComparison. It tests for equal rates if both durations are known and nothing was normalized,
// otherwise for equal shares.
func (t *Tree) judge(sums []weight, seconds [2]float64) {
	t.PValues, t.Verdicts = make([]float64, len(t.Frames)), make([]report.Verdict, len(t.Frames))
	known := t.SamplesTotal >= 0 && t.BaseSamples >= 0
	before, after := float64(t.BaseSamples), float64(t.SamplesTotal)
	if !t.Normalized && seconds[0] > 0 && seconds[1] > 0 {
		t.Hypothesis = report.EqualRates
		before, after = seconds[0], seconds[1]
	}
	t.Before, t.After = before, after
	// A frame with all the events of its caller is the same test as its caller. It is not counted again, so
	// that deep stacks do not make the correction stricter.
	asks := make([]int32, len(t.Frames))
	candidates := make([]float64, 0, len(t.Frames))
	raw, weights := make([]float64, 0, len(t.Frames)), make([]float64, 0, len(t.Frames))
	for i := range t.Frames {
		parent := t.Frames[i].Parent
		if parent >= 0 && (parent > 0 || t.Hypothesis == report.EqualRates) && sums[i].events == sums[parent].events &&
			sums[i].baseEvents == sums[parent].baseEvents {
			asks[i] = asks[parent]
			continue
		}
		p := math.NaN()
		if known && (i > 0 || t.Hypothesis == report.EqualRates) { // the root's share is 1
			p = t.pValue(&sums[i])
		}
		asks[i] = int32(len(raw))
		raw, candidates = append(raw, p), append(candidates, t.testableP(p, &sums[i]))
		weights = append(weights, math.Sqrt(sums[i].events+sums[i].baseEvents))
	}
	corrected := significance.HolmWeighted(candidates, func(i int) float64 { return weights[i] })
	for i := range t.Frames {
		p := corrected[asks[i]]
		if math.IsNaN(p) {
			p = raw[asks[i]]
		}
		t.PValues[i] = p
		t.Verdicts[i] = report.VerdictOf(p, Level, sums[i].events/after-sums[i].baseEvents/before)
	}
}

// pValue returns the probability that a frame's events differ at least as much by chance.
func (t *Tree) pValue(w *weight) float64 {
	is, was := int64(math.Round(w.events)), int64(math.Round(w.baseEvents))
	if t.Hypothesis == report.EqualRates {
		return significance.EqualRatesP(was, t.Before, is, t.After)
	}
	return significance.EqualSharesP(min(was, t.BaseSamples), t.BaseSamples, min(is, t.SamplesTotal), t.SamplesTotal)
}

// testableP returns p, or NaN if a frame has too few events to be significant even if all were on one side.
// Such a frame does not count in the correction (Tarone).
func (t *Tree) testableP(p float64, w *weight) float64 {
	odds := t.Before / (t.Before + t.After)
	if math.Pow(min(odds, 1-odds), w.events+w.baseEvents) > Level {
		return math.NaN()
	}
	return p
}
