package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// growingSearched reports searches that spend their time on rows without an index.
var growingSearched = &check.Check{
	ID:       "growing-search-time",
	Title:    "Searches wait for growing segments",
	Severity: check.Info,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "segment_created | index_dropped node_lost:datanode",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.KernelGrowing},
	Doc: `On a 2.3.5 with 30,000 rows in an HNSW index and 14,000 growing ones, the growing rows took 29 ms of a
search, the others 6. Rows that are not flushed have no index, unless
` + "`queryNode.segcore.interimIndex.enableIndex`" + ` gives them a small one: a search scans all of them. A leader
searches the growing segments of its shards itself, and the request waits.
` + "`milvus_querynode_sq_segment_latency{segment_state=\"Growing\"}`" + ` measures this.

Reported: a collection whose searches wait for growing segments for 30% of their mean or more, and whose mean search a
flush can shorten by 20%, at least 5 ms: for few rows the index takes as long as brute force. Info, because it lasts
only while rows are inserted and ends with the next flush. If it does not end on its own, it follows from
` + "`growing-too-old`" + `, ` + "`growing-too-large`" + `, ` + "`growing-flushed`" + ` or ` + "`brute-force-share`" +
		`.

The gain is the time saved once the rows are flushed and indexed: searching them then takes as long as the sealed
segments on the same nodes take for the same work (weighted as in ` + "`kitescope balance`" + `), or twice that. A graph
with more than 32 MB of vectors fits in no CPU cache: each compared row costs a memory access, 200 to 450 ns. The gain
is never below zero: sealed segments do the work afterwards.`,
	Remedy: `After inserts: ` + "`Collection(NAME).flush()`" + `. With steady inserts: smaller growing segments
(` + "`dataCoord.segment.sealProportion`" + `, ` + "`maxSize`" + `), more shards to spread them over more leaders, or an
interim index.`,
	Run:      runGrowingSearched,
	Requests: []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "growing-flushed", "growing-too-old", "growing-too-large",
		"brute-force-share"),
}

// growingPart is the minimum share of the request's time for a finding.
const growingPart = 0.3

func runGrowingSearched(p *check.Pass) {
	var costs []cost
	for _, b := range budgets(p, budget.Search) {
		c, ok := costOf(b, budget.KernelGrowing)
		if !ok || !c.matters(growingPart) {
			continue
		}
		// After a flush the request waits for the same rows in an index, or for its sealed segments.
		c.gain.Low = max(0, c.low-callOf(overall(p, b.Request), budget.KernelSealed))
		if then, ok := indexedTime(p, b); ok {
			c.gain = budget.Interval{Low: max(0, c.low-then.High), High: max(0, c.ms-then.Low)}
		}
		if gains := c.gain.High; gains < minCostMs || gains < findingShare*b.Ms {
			continue // with an index they take about as long
		}
		costs = append(costs, c)
	}
	for _, a := range gather(p, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: check.Info,
			Message: fmt.Sprintf("%s waits %s for growing segments, searched by brute force", requestPhrase(c.budget),
				c.shareText()),
			Impact: "The wait lasts until the rows are flushed and indexed, and grows with their number.",
			Fix:    growingFix(p, c.budget.Collection),
		}
		f = withCosts(p, f, a.costs...)
		if b := overall(p, budget.Search); b != nil {
			f.Evidence = append(f.Evidence, callFact(b, budget.KernelGrowing, "growing segment"),
				callFact(b, budget.KernelSealed, "sealed segment"))
		}
		if rows := p.WorkOf(c.budget.Collection).GrowingRows; rows > 0 {
			f.Evidence = append(f.Evidence, check.Count("growing rows", rows, "query nodes"))
		}
		p.Report(f)
	}
}

// growingFix returns the steps that flush the collection, or all collections if id is unknown.
func growingFix(p *check.Pass, id model.CollectionID) []check.Step {
	wait := check.Do("wait while inserts continue: the next flush ends it")
	x := p.Collection(id)
	if x == nil {
		return check.Fix(wait, check.Do("flush the collections after the inserts").
			Interrupting(5*time.Minute, "nothing"))
	}
	return check.Fix(wait, check.Flush(p.Cluster, x, 5*time.Minute, "after the inserts, seals its growing segments"))
}

// callOf returns the mean duration of one call of a phase over all nodes in milliseconds, or 0 if it is
// unknown.
func callOf(b *budget.Budget, name budget.Name) float64 {
	if b == nil {
		return 0
	}
	x := b.Root.Find(name)
	if x == nil {
		return 0
	}
	sum, n := 0.0, 0.0
	for _, of := range x.Nodes {
		sum, n = sum+of.Ms*of.Calls, n+of.Calls
	}
	if n <= 0 {
		return 0
	}
	return sum / n
}

// callFact returns the mean duration of one call of a phase as evidence.
func callFact(b *budget.Budget, name budget.Name, what string) check.Evidence {
	ms := callOf(b, name)
	if ms <= 0 {
		return check.Fact("time per "+what, words.UnknownMark, "query nodes /metrics")
	}
	return check.Factf("time per "+what, "query nodes /metrics", "%s", millis(ms))
}
