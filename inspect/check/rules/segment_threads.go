package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// segmentThreads finds searches with segments that wait for a search thread.
var segmentThreads = &check.Check{
	ID:       "segment-thread-wait",
	Title:    "Segments wait for a search thread",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "segment_flushed config_changed:queryNode | collection_loaded",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ThreadWait},
	Doc: `On a 2.3.5 with 60 segments of 400 rows a segment took 23 ms, of which the search call took 2.6 ms. A query
node searches the segments of a request in parallel, each in a call into C++ that needs one of as many threads as
there are cores (` + "`queryNode.segcore.cgoPoolSizeRatio`" + `). ` + "`milvus_querynode_sq_segment_latency`" +
		` includes
the wait for a thread, ` + "`sq_core_latency`" + ` is the call alone. With twenty segments on two cores the last ones
wait for the others.

Warning: searches that wait for threads for 50% of their mean or more, at least 5 ms; info from 20%.

The gain is at most the wait: merged segments do not wait for threads, and their kernels take longer by the extra
work.`,
	Remedy: `Make fewer, larger segments: see ` + "`small-segments`" + ` and compact the collection. Add cores,
query nodes or replicas to spread the same segments over more threads. If searches of other collections keep the
threads busy, reduce their work.`,
	Run:      runSegmentThreads,
	Requests: []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: append(check.CausedBy(check.Shares("collections"), "small-segments"),
		check.CausedBy(check.Shares("nodes"), "worker-slow")...),
}

func runSegmentThreads(p *check.Pass) {
	var costs []cost
	for _, b := range separateBudgets(p, budget.Search, budget.Query) {
		if c, ok := costOf(b, budget.ThreadWait); ok && c.matters(findingShare) {
			c.gain.Low = 0 // kernels of larger segments take longer
			costs = append(costs, c)
		}
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s waits %s for threads to search its segments", requestPhrase(c.budget),
				c.shareText()),
			Impact: "Segments are searched one after another instead of in parallel.",
			Fix:    threadsFix(p, c.budget.Collection),
		}
		f = withCosts(p, f, a.costs...)
		f.Evidence = append(f.Evidence, threadFacts(p, c.budget)...)
		p.Report(f)
	}
}

// threadsFix returns the steps that compact the searched collection, or all collections if id is not a known one.
func threadsFix(p *check.Pass, id model.CollectionID) []check.Step {
	more := check.Do("or add cores, query nodes or replicas").Interrupting(5*time.Minute, "nothing")
	x := p.Collection(id)
	if x == nil {
		return check.Fix(check.Do("compact the collections: fewer, larger segments").
			Interrupting(5*time.Minute, "nothing"), more)
	}
	return check.Fix(check.Pymilvus(p.Cluster, x.Database, "Collection(%s).compact()", x.Name).
		Does("merges its segments into fewer, larger ones").
		Interrupting(5*time.Minute, "nothing"), more)
}

// threadFacts returns, per node, the sealed segments per request and the cores that they share.
// It returns at most facts.MaxObjects entries.
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
			list = append(list,
				check.Factf(name, source, "%s per request, on %s", segments,
					check.Number(float64(has), "cores", "%.0f cores")))
		} else {
			list = append(list, check.Factf(name, source, "%s per request", segments))
		}
	}
	return list
}
