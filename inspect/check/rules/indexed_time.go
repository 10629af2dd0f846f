package rules

import (
	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
)

// Cost of a graph that is not in a cache, where each compared row is read from memory separately, as some cache lines.
// cachedGraphBytes is the part of a graph that a processor may cache, in bytes. minRowMs and maxRowMs are bounds of the
// time to compare one row, in milliseconds. 420 ns were measured on a busy machine with rows of 384 bytes
// (docs/evidence/latency.md).
const (
	cachedGraphBytes   = 32 << 20
	minRowMs, maxRowMs = 200e-6, 450e-6
)

// indexedTime estimates the time to search the growing rows of a collection after they are sealed and indexed, in
// milliseconds. The lower bound is the time of sealed segments scaled to the number of comparisons, and the upper bound
// is twice that. A graph that is too large for the processor's caches takes at least the time to read its rows. ok is
// false if neither is known.
func indexedTime(p *check.Pass, b *budget.Budget) (ms budget.Interval, ok bool) {
	const outOfCache = 2
	all := overall(p, b.Request)
	takes := callOf(all, budget.KernelSealed)
	work, segments, growing, leaders := 0.0, 0.0, int64(0), int64(0)
	p.SearchedGroups(budget.Search, func(g *balance.Group, often float64) {
		for _, s := range g.Shares {
			work, segments = work+often*(s.Cost-s.GrowingCost), segments+often*float64(s.Sealed-s.Copies)
			if g.ID == b.Collection && s.Growing > 0 {
				growing, leaders = growing+s.GrowingRows, leaders+1
			}
		}
	})
	if leaders == 0 {
		return ms, false
	}
	rows := growing / leaders
	cost := p.Balance.SegmentCost(b.Collection, rows)
	if takes > 0 && work > 0 && segments > 0 { // a call that no request waits for has no measured time
		least := takes * cost / (work / segments)
		ms = budget.Interval{Low: least, High: outOfCache * least}
	}
	if x := p.Collection(b.Collection); x != nil && p.Balance.HasGraphIndex(b.Collection) {
		dimensions := float64(facts.Dimensions(x))
		if read := cost / dimensions * vectorsOf(all); 4*dimensions*float64(rows) > cachedGraphBytes {
			ms = budget.Interval{Low: max(ms.Low, read*minRowMs), High: max(ms.High, read*maxRowMs)}
		}
	}
	return ms, ms.Low > 0
}

// vectorsOf returns the mean number of vectors per request, at least 1. It returns 1 if that is unknown.
func vectorsOf(b *budget.Budget) float64 {
	if b == nil || !b.VectorsPerSecond.Known || !b.PerSecond.Known || b.PerSecond.Value <= 0 {
		return 1
	}
	return max(1, b.VectorsPerSecond.Value/b.PerSecond.Value)
}
