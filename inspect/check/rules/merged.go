package rules

import (
	"math"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// larger is how the segments of a collection are on a node, and how they would be after compaction.
type larger struct {
	now, then float64 // how many
	longer    float64 // how many times as long a kernel takes then
}

// leastMaxSize is dataCoord.segment.maxSize in MB if nobody tells it: 512 up to 2.2, 1,024 from 2.3 on.
const leastMaxSize = 512

// largerOf works that out for the node that has most segments of a collection; ok is false if nobody says what is served.
func largerOf(p *check.Pass, id model.CollectionID) (x larger, ok bool) {
	maxBytes := float64(p.SettingCount("dataCoord.segment.maxSize", leastMaxSize, "datacoord", "mixcoord")) * (1 << 20)
	partitions := max(1, len(p.PartitionsOf(id)))
	for _, g := range p.Balance.Groups {
		if g.ID != id {
			continue
		}
		var most *balance.Share
		rows, bytes, shards := int64(0), int64(0), 1
		if g.Collection != nil {
			shards = max(1, g.Collection.Shards)
		}
		for _, s := range g.Shares {
			rows, bytes = rows+s.SealedRows-s.CopiedRows, bytes+s.Bytes
			if s.Known && (most == nil || s.Sealed-s.Copies > most.Sealed-most.Copies) {
				most = s
			}
		}
		if most == nil || most.Sealed-most.Copies <= 0 || rows <= 0 {
			continue
		}
		segments := max(math.Ceil(float64(bytes)/max(1, maxBytes)), float64(min(g.Sealed, shards*partitions)))
		now := float64(most.Sealed - most.Copies)
		each := (most.Cost - most.GrowingCost) / now
		x = larger{now: now, then: math.Ceil(segments / float64(max(1, g.Spread.Nodes))), longer: 1}
		if each > 0 {
			x.longer = p.Balance.SegmentCost(id, int64(float64(rows)/segments)) / each
		}
		ok = true
	}
	return x, ok
}

// ofLargerSegments is what compaction gives of what segments wait for threads.
func ofLargerSegments(p *check.Pass, c *cost) budget.Interval {
	gain := budget.Interval{High: c.ms} // the same kernels, on as many processors
	of, ok := largerOf(p, c.of.Collection)
	if !ok || of.then > of.now/2 || of.then > threads(p) {
		return gain
	}
	kernel, _ := costOf(c.of, budget.KernelSealed)
	gain.Low = max(0, c.low-kernel.ms*max(0, of.longer-1))
	return gain
}

// What a graph costs that is in no cache: each row that is compared is read from memory by itself, some lines of it. cached is what a
// processor may keep of a graph, in bytes, near and far what comparing one takes then, in milliseconds: 420 ns were measured on a
// busy machine, of rows of 384 bytes (docs/evidence/latency.md).
const (
	cached    = 32 << 20
	near, far = 200e-6, 450e-6
)

// indexedOf is how long searching the growing rows of a collection takes once they are sealed and have the indexes that are defined: as
// long as its sealed segments take on the same nodes, for what is compared, or twice that. A graph that is too large for
// the caches of a processor takes what reading its rows takes. ok is false if neither is known.
func indexedOf(p *check.Pass, b *budget.Budget) (ms budget.Interval, ok bool) {
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
	if takes > 0 && work > 0 && segments > 0 { // nobody tells what a call takes that is never waited for
		least := takes * cost / (work / segments)
		ms = budget.Interval{Low: least, High: outOfCache * least}
	}
	if x := p.Collection(b.Collection); x != nil && p.Balance.Walks(b.Collection) {
		dimensions := float64(facts.Dimensions(x))
		if read := cost / dimensions * vectorsOf(all); 4*dimensions*float64(rows) > cached {
			ms = budget.Interval{Low: max(ms.Low, read*near), High: max(ms.High, read*far)}
		}
	}
	return ms, ms.Low > 0
}

// vectorsOf is how many vectors a request searches for on average; 1 if that is unknown.
func vectorsOf(b *budget.Budget) float64 {
	if b == nil || !b.VectorsPerSecond.Known || !b.PerSecond.Known || b.PerSecond.Value <= 0 {
		return 1
	}
	return max(1, b.VectorsPerSecond.Value/b.PerSecond.Value)
}
