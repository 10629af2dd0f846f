package whatif

import "math"

// GainAtLoad is how many times the queries per second of the present cluster a prediction has at the load that was asked for. So many sessions
// wait for their answers: where there are few, a cluster that can do five times as much may do little more. At a rate, which both are asked
// alike, it is what the cluster can do at most, as Prediction.Gain; 0 if it is not known.
func (r *Report) GainAtLoad(p *Prediction) float64 {
	if r.Load.Rate > 0 {
		return p.Gain
	}
	if p.Outcome == nil || r.Base.Outcome == nil || !(r.Base.Outcome.QPS > 0) {
		return 0
	}
	if g := p.Outcome.QPS / r.Base.Outcome.QPS; !math.IsInf(g, 0) {
		return g
	}
	return 0
}

// Best is the change that gives most at the load that was asked for, and of those that are as good there, which can do most: nil if
// none gives more. Another size of the collection is no change for the better. At a rate it is the one with the lowest 99th percentile among those
// that can do it.
func (r *Report) Best() *Prediction {
	best := &r.Base
	for i := range r.Others {
		if p := &r.Others[i]; (p.Change.Scale == 0 || p.Change.Scale == 1) && p.Gain > 0 && !math.IsInf(p.Gain, 0) && r.better(p, best) {
			best = p
		}
	}
	if best == &r.Base {
		return nil
	}
	return best
}

func (r *Report) better(p, than *Prediction) bool {
	if r.Load.Rate > 0 && p.Outcome != nil && than.Outcome != nil {
		if p.Outcome.Saturated != than.Outcome.Saturated {
			return !p.Outcome.Saturated
		}
		if !p.Outcome.Saturated {
			return p.Outcome.P99 < than.Outcome.P99
		}
		return p.Gain > than.Gain
	}
	a, b := r.GainAtLoad(p), r.GainAtLoad(than)
	if than == &r.Base {
		return a > leastGain
	}
	if a > b/leastGain && a < b*leastGain {
		return p.Gain > than.Gain
	}
	return a > b
}
