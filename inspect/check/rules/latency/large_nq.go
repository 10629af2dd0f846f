package latency

import (
	"fmt"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// largeNQ finds searches that are long because each is many.
var largeNQ = &check.Check{
	ID:       "large-nq",
	Title:    "Searches take long as each asks for many vectors",
	Severity: check.Info,
	Since:    "0.10",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.KernelSealed, budget.KernelGrowing},
	Doc: `A request with a thousand vectors (nq) is a thousand searches: kernels take so much longer, and the request waits for all of them. A finding is a collection whose searches have a hundred vectors or more on average
(` + "`milvus_proxy_search_vectors_count`" + `) and wait for kernels for half of their mean or more. It is an information, as large requests are the cheaper way to search for many vectors, where nobody waits for each: it says how long one vector takes.`,
	Remedy: `Where somebody waits for the answer, send smaller requests side by side: each answers sooner, and together they are spread over processors and replicas.`,
	Run:    runLargeNQ,
}

// manyVectors is how many make a request large.
const manyVectors = 100

func runLargeNQ(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	all := overall(p, budget.Search)
	switch {
	case all == nil:
		return nil
	case !all.VectorsPerSecond.Known || !all.PerSecond.Known || all.PerSecond.Value <= 0:
		p.Unseen("how many vectors searches have: no proxy counts them")
		return nil
	}
	nq := all.VectorsPerSecond.Value / all.PerSecond.Value
	if nq < manyVectors {
		return nil
	}
	var costs []cost
	for _, b := range budgets(p, budget.Search) {
		c, ok := costOf(b, budget.KernelSealed, budget.KernelGrowing, budget.ThreadWait)
		if ok && c.matters(most) {
			c.gain.Low = 0 // the same work, spread over requests
			costs = append(costs, c)
		}
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: check.Info,
			Message: fmt.Sprintf("%s has %s vectors and takes %s: %s for each", an(c.of), rate(nq), budget.Milliseconds(c.of.Ms), budget.Milliseconds(c.of.Ms/nq)),
			Impact:  fmt.Sprintf("Whoever needs one answer waits for all: kernels are %s.", c.ofWhole()),
			Hint:    check.Advise("where somebody waits for the answers, send smaller requests side by side, of 10 vectors for example"),
		}
		f = found(p, f, a.costs...)
		f.Evidence = append(f.Evidence, check.Measured("vectors of a search", "proxies milvus_proxy_search_vectors_count", "%s", check.Figure{Value: nq, Unit: "count", Text: rate(nq)}))
		p.Report(f)
	}
	return nil
}
