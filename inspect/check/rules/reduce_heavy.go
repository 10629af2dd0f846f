package rules

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// reduceHeavy reports requests that spend their time merging and returning results.
var reduceHeavy = &check.Check{
	ID:       "reduce-heavy",
	Title:    "Requests spend their time merging results",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "segment_flushed config_changed | collection_loaded",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases: []budget.Name{
		budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode, budget.Requery,
	},
	Doc: `On a 2.3.5 a search for 16,384 hits with their vectors took 2.1 s, of which 1.5 s fetched the vectors; for
100 hits without vectors 15 ms. Segment results are merged in the worker, the shard leader and the proxy, and the
output fields are read at the same time: with a limit of ten that takes a tenth of a millisecond. It grows with the
limit (topk), with nq, and with the fields returned per hit, above all vectors: the proxy fetches these with a second
query after the search (Milvus up to at least 2.5, internal/proxy/task_search.go, Requery), which costs more than the
search.

Warning: requests that spend 50% of their mean or more on it, at least 5 ms; info from 20%. Milvus does not separate
queries of clients from those of searches. That a search was followed by one is an estimate, made if a good part of
the search is unexplained and as many queries of that length were counted.`,
	Remedy: `Return fewer fields (` + "`output_fields`" + `), above all no vectors: fetch them by key for the few hits
shown. Use a smaller limit, or page with a search iterator.`,
	Run:      runReduceHeavy,
	Requests: []string{"proxy", "querynode", "streamingnode"},
}

func runReduceHeavy(p *check.Pass) {
	var costs []cost
	var late *place.Status
	if places := p.Places(); places != nil {
		if i := slices.IndexFunc(places.Components, delays); i >= 0 {
			late = places.Components[i]
		}
	}
	for _, b := range separateBudgets(p, budget.Search, budget.Query) {
		if only := requeried(p, b); only != nil {
			b = only
		}
		c, ok := costOf(b, budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode,
			budget.Requery)
		if !ok || !c.matters(findingShare) {
			continue
		}
		c.phase = largest(b, budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode,
			budget.Requery)
		// the phase is an estimate, and a slow process also leaves much time unexplained
		if c.phase == budget.Requery && late != nil {
			p.NoteUnseen("second queries of searches, which wait for " + componentText(late.Component))
			continue
		}
		// Transferring large results takes time too, which no metric measures.
		c.gain.High = min(b.Ms, c.ms+b.Unexplained())
		costs = append(costs, c)
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s spends %s merging results", requestPhrase(c.budget), c.shareText()),
			Impact: "It grows with the limit and the fields returned per hit, and takes memory in proxies and query " +
				"nodes.",
			Fix: check.Fix(check.Do("use a smaller limit and fewer output_fields, without vectors")),
		}
		if c.phase == budget.Requery {
			f.Message = fmt.Sprintf("%s spends %s on a second query for its output fields, most likely vectors",
				requestPhrase(c.budget), c.shareText())
			f.Fix = check.Fix(check.Do("leave vectors out of output_fields and fetch them by key for the hits shown, " +
				"or use a smaller limit"))
		}
		f = withCosts(p, f, a.costs...)
		if topk, ok := meanOf(p, metrics.RequestTopK); ok {
			f.Evidence = append(f.Evidence,
				check.Factf("limit of searches", "query nodes milvus_querynode_search_topk", "%s", check.Figure{
					Value: topk, Unit: "count", Text: rate(topk),
				}))
		}
		p.Report(f)
	}
}

// delays reports whether a component is one that searches wait for before or after query nodes work, and is late.
func delays(at *place.Status) bool {
	if at.Strength == place.Weak || at.State < place.Slow {
		return false
	}
	role := string(at.Component.Kind)
	return role == "proxy" || strings.HasSuffix(role, "coord")
}

// requeried returns the budget of the only collection whose searches are followed by a second query, because
// proxies count the queries of each collection. It returns nil if b does not cover several collections, or if
// there is no such collection or more than one.
func requeried(p *check.Pass, b *budget.Budget) (only *budget.Budget) {
	if b.Collections == 0 {
		return nil
	}
	for _, x := range budgets(p, b.Request) {
		if again := x.Root.Find(budget.Requery); again == nil || again.Ms <= 0 || x.Collections > 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = x
	}
	return only
}

// largest returns the one of the named phases that takes most of a budget.
func largest(b *budget.Budget, names ...budget.Name) budget.Name {
	best, ms := names[0], -1.0
	for _, name := range names {
		if c, ok := costOf(b, name); ok && c.ms > ms {
			best, ms = name, c.ms
		}
	}
	return best
}
