package latency

import (
	"fmt"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// metadataCache finds requests that wait for what the proxy does not know.
var metadataCache = &check.Check{
	ID:       "metadata-cache-miss",
	Title:    "Requests wait for metadata that the proxy does not have",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.MetadataCache},
	Roles:    []string{"rootcoord", "querycoord"},
	Doc: `A proxy keeps schemas, partitions and shard leaders, and asks the coordinators for what it does not have (` + "`milvus_proxy_cache_update_latency`" + `). A collection that is searched is known after its first request; it is forgotten when it is altered, released, loaded or when a leader moves.

A warning are requests that spend half of their mean or more with such questions, 5 ms at least; from a fifth on it is an information. The metric does not say for whom a proxy asks: what questions take is shared by all requests alike, so that it is an estimate.`,
	Remedy: `See what makes proxies forget: collections, partitions or aliases that are created, altered and dropped all the time; loads and releases; shard leaders that move (` + "`kitescope events`" + `). If questions are few and slow, it is RootCoord or QueryCoord: see their CPU, and etcd.`,
	Run:    runMetadataCache,
}

func runMetadataCache(p *check.Pass) error {
	if why := blind(p, "proxy"); why != "" {
		return p.Skip(why)
	}
	var costs []cost
	for _, kind := range []budget.Request{budget.Search, budget.Query, budget.Insert, budget.Upsert, budget.Delete} {
		b := overall(p, kind)
		if b == nil {
			continue
		}
		if c, ok := costOf(b, budget.MetadataCache); ok && c.matters(much) {
			costs = append(costs, c)
		}
	}
	if len(costs) == 0 {
		return nil
	}
	for _, a := range gatherAs(model.Ref{}, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s spends %s waiting for metadata that proxies ask the coordinators for", an(c.of), c.ofWhole()),
			Impact:  "It is the coordinators that such requests wait for, whatever query nodes do.",
			Hint:    "see what makes proxies forget: collections that are created, altered, loaded or released all the time; and how fast RootCoord answers (kitescope get calls)",
		}
		p.Report(found(p, f, a.costs...))
	}
	return nil
}
