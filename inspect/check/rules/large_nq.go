package rules

import (
	"fmt"
	"math"
	"slices"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// largeNQ reports searches that are slow because each has many vectors.
var largeNQ = &check.Check{
	ID:       "large-nq",
	Title:    "Searches are slow because each has many vectors",
	Severity: check.Info,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "config_changed:quota | collection_loaded",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.KernelSealed, budget.KernelGrowing},
	Doc: `A client sends a thousand vectors in one search and waits for all of them. Kernel time grows with the number
of vectors (nq). Reported: a collection whose searches have a hundred vectors or more on average
(` + "`milvus_proxy_received_nq`" + `; before 2.3, or if searches fail, ` + "`milvus_proxy_search_vectors_count`" +
		`, of
all collections together) and wait for kernels for 50% of their mean or more. Info, because large requests are the
cheaper way to search for many vectors if latency does not matter; the finding includes the time per vector. Not
counted: time that one query node takes longer than the others (` + "`worker-slow`" + `), because the node is the cause.

The gain is that of a request with ten vectors, sent when its answer is needed. Vectors of one request are searched in
parallel on the cores of a node, so ten take at least a hundredth of the time of a thousand, and at most that times
the number of cores. A client that sends all small requests at once gains less: the last one answers when the large
one did.`,
	Remedy: `If latency matters, send smaller requests in parallel: each answers sooner, and together they spread
over cores and replicas.`,
	Run:      runLargeNQ,
	Requests: []string{"proxy", "querynode", "streamingnode"},
}

// manyVectors is the minimum number of vectors in a large request. fewVectors is the number of vectors in a
// smaller request to compare with.
const manyVectors, fewVectors = 100, 10

func runLargeNQ(p *check.Pass) {
	all := overall(p, budget.Search)
	switch {
	case all == nil:
		return
	case !all.VectorsPerSecond.Known || !all.PerSecond.Known || all.PerSecond.Value <= 0:
		p.NoteUnseen("vectors per search: no proxy counts them")
		return
	}
	list := budgets(p, budget.Search)
	if slices.ContainsFunc(list, func(b *budget.Budget) bool { return !b.VectorsPerSecond.Known }) {
		list = []*budget.Budget{all}
	}
	var costs []cost
	alike := evenKernelShare(p, all)
	for _, b := range list {
		nq := vectorsOf(b)
		if nq < manyVectors {
			continue
		}
		c, ok := costOf(b, budget.KernelSealed, budget.KernelGrowing, budget.ThreadWait)
		if c.scale(alike); !ok || !c.matters(warningShare) {
			continue
		}
		results, _ := costOf(b, budget.ReduceSegments, budget.ReduceShards, budget.ReduceProxy, budget.Decode)
		fewer := fewVectors / nq
		c.gain = budget.Interval{Low: c.low * (1 - min(1, fewer*threads(p))), High: (c.ms + results.ms) * (1 - fewer)}
		costs = append(costs, c)
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		nq := vectorsOf(c.budget)
		f := check.Finding{
			Object: a.object, Severity: check.Info,
			Message: fmt.Sprintf("%s has %s vectors and takes %s: %s per vector", requestPhrase(c.budget), rate(nq),
				budget.Milliseconds(c.budget.Ms), budget.Milliseconds(c.budget.Ms/nq)),
			Impact: fmt.Sprintf("Every response waits for all of them: kernels take %s.", c.shareText()),
			Fix:    check.Fix(check.Do("if latency matters, send smaller requests in parallel, e.g. of 10 vectors")),
		}
		f = withCosts(p, f, a.costs...)
		f.Evidence = append(f.Evidence,
			check.Factf("vectors per search", "proxies /metrics", "%s", check.Figure{
				Value: nq, Unit: "count", Text: rate(nq),
			}))
		p.Report(f)
	}
}

// evenKernelShare returns the share of the kernel time for which searches would still wait if no node were slower
// than the others.
func evenKernelShare(p *check.Pass, b *budget.Budget) float64 {
	all, ok := costOf(b, budget.KernelSealed, budget.KernelGrowing, budget.ThreadWait)
	if !ok || all.ms <= 0 {
		return 1
	}
	slow := 0.0
	for _, x := range slowerNodes(p, b, workers(p, b)) {
		for _, part := range x.parts {
			if part.Phase != budget.Unexplained {
				slow += part.Ms
			}
		}
	}
	return max(0, 1-slow/all.ms)
}

// threads returns the number of vectors of a request that a node can search in parallel: the maximum number of
// processors of a query node. It returns infinity if no node reports it.
func threads(p *check.Pass) float64 {
	most := int64(0)
	for _, n := range p.Runtime.QueryNodes() {
		if n.System != nil {
			most = max(most, n.System.CPUs)
		}
	}
	if most == 0 {
		return math.Inf(1)
	}
	return float64(most)
}
