package latency

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// segmentThreads finds searches whose segments wait for a thread.
var segmentThreads = &check.Check{
	ID:       "segment-thread-wait",
	Title:    "Segments wait for a thread before they are searched",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ThreadWait},
	Doc: `A query node searches the segments of a request at once, each in a call into C++ for which it needs one of as many threads as there are processors (` + "`queryNode.segcore.cgoPoolSizeRatio`" + `). ` + "`milvus_querynode_sq_segment_latency`" + ` has that wait, ` + "`sq_core_latency`" + ` is the
call alone. With twenty segments on two processors the last ones wait for the others: on a 2.3.5 with 60 segments of 400 rows a segment took 23 ms, 2.6 of it the call.

A warning are searches that wait for threads for half of their mean or more, 5 ms at least; from a fifth on it is an information.

The gain is that of compaction, which makes as few segments as their size allows (` + "`dataCoord.segment.maxSize`" + `): none waits where there are no more on a node than it has processors, and a kernel takes longer by what a search compares in a larger segment, behind an index hardly more. Where segments
are as large as they may be, all that is known is that it is no more than the wait.`,
	Remedy:      `Fewer, larger segments: see ` + "`small-segments`" + ` and compact the collection. More processors, more query nodes or replicas spread the same segments over more threads. If searches of other collections keep the threads busy, it is their work that is waited for.`,
	Run:         runSegmentThreads,
	FollowsFrom: append(check.CausedBy(check.Shares("collections"), "small-segments"), check.CausedBy(check.Shares("nodes"), "worker-slow")...),
}

func runSegmentThreads(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	var costs []cost
	for _, b := range budgets(p, budget.Search, budget.Query) {
		if c, ok := costOf(b, budget.ThreadWait); ok && c.matters(much) {
			c.gain = ofLargerSegments(p, &c)
			costs = append(costs, c)
		}
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s waits %s until a thread is free for its segments", an(c.of), c.ofWhole()),
			Impact:  "Segments are searched one after the other instead of at once.",
			Hint:    "fewer and larger segments (compact the collection), or more processors, query nodes or replicas",
		}
		f = found(p, f, a.costs...)
		f.Evidence = append(f.Evidence, threadFacts(p, c.of)...)
		p.Report(f)
	}
	return nil
}

// threadFacts are how many segments a search has on each node, and what they have to share.
func threadFacts(p *check.Pass, of *budget.Budget) []check.Evidence {
	b := overall(p, of.Request)
	var list []check.Evidence
	for _, w := range workers(p, b) {
		if len(list) >= facts.MaxObjects {
			break
		}
		if w.sealed == nil || w.call.Calls <= 0 {
			continue
		}
		segments := check.Plural(int64(w.sealed.Calls/w.call.Calls+0.5), "sealed segment")
		name, source := w.node.Name()+" searches", w.node.Name()+" /metrics"
		if _, has, ok := cores(w.node); ok {
			list = append(list, check.Measured(name, source, "%s for a request, on %s", segments, check.Number(float64(has), "cores", "%.0f cores")))
		} else {
			list = append(list, check.Measured(name, source, "%s for a request", segments))
		}
	}
	return list
}
