package latency

import (
	"fmt"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// reduceHeavy finds requests that spend their time on what they return.
var reduceHeavy = &check.Check{
	ID:       "reduce-heavy",
	Title:    "Requests spend their time putting results together",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode, budget.Requery},
	Doc: `What segments found is put together in the worker, in the shard leader and in the proxy, and the fields to return are read meanwhile: with a limit of ten that takes a tenth of a millisecond. It grows with the limit (topk), with nq, and with what is returned for each
hit, vectors above all: these the proxy asks for with a query of its own after the search (Milvus up to 2.5 at least, internal/proxy/task_search.go, Requery), which costs more than the search did. On a 2.3.5 a search for 16,384 hits with their vectors took 2.1 s, 1.5 of it
this query; for 100 hits without them 15 ms.

A warning are requests that spend half of their mean or more with it, 5 ms at least; from a fifth on it is an information. Milvus does not tell queries of clients and of searches apart: that a search is followed by one is an estimate, made where a good part of the search is not explained and as
many queries of its length were counted.`,
	Remedy: `Return fewer fields (` + "`output_fields`" + `), vectors least of all: fetch them for the few hits that are shown, by their keys. Ask for a smaller limit, or page with a search iterator.`,
	Run:    runReduceHeavy,
}

func runReduceHeavy(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	var costs []cost
	for _, b := range budgets(p, budget.Search, budget.Query) {
		c, ok := costOf(b, budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode, budget.Requery)
		if !ok || !c.matters(much) {
			continue
		}
		c.phase = largest(b, budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode, budget.Requery)
		// Large results take time on their way, too, where nothing measures it.
		c.gain.High = min(b.Ms, c.ms+b.Unexplained())
		costs = append(costs, c)
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s spends %s putting its results together", an(c.of), c.ofWhole()),
			Impact:  "It grows with the limit and with what is returned of each hit, and takes memory in proxies and query nodes.",
			Hint:    "ask for a smaller limit, and for fewer output fields: no vectors",
		}
		if c.phase == budget.Requery {
			f.Message = fmt.Sprintf("%s spends %s asking again for the fields that it returns, vectors most likely", an(c.of), c.ofWhole())
			f.Hint = "return no vectors (output_fields): fetch them by key for the hits that are shown; or ask for a smaller limit"
		}
		f = found(p, f, a.costs...)
		if topk, ok := meanOf(p, metrics.RequestTopK); ok {
			f.Evidence = append(f.Evidence, check.Measured("limit of a search", "query nodes milvus_querynode_search_topk", "%s", check.Figure{Value: topk, Unit: "count", Text: rate(topk)}))
		}
		p.Report(f)
	}
	return nil
}

// largest is the phase among some that takes most of a budget.
func largest(b *budget.Budget, names ...budget.Name) budget.Name {
	best, ms := names[0], -1.0
	for _, name := range names {
		if c, ok := costOf(b, name); ok && c.ms > ms {
			best, ms = name, c.ms
		}
	}
	return best
}
