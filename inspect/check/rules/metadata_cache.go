package rules

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// metadataCache finds requests that wait for metadata missing from the proxy's cache.
var metadataCache = &check.Check{
	ID:       "metadata-cache-miss",
	Title:    "Requests wait for metadata missing from the proxy cache",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "collection_altered collection_loading alias_altered | node_joined:proxy partition_created",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.MetadataCache},
	Roles:    []string{"rootcoord", "querycoord"},
	Doc: `Searches take longer while proxies fetch metadata. A proxy caches schemas, partitions and shard leaders, and
requests missing entries from coordinators (` + "`milvus_proxy_cache_update_latency`" + `). A searched collection is
cached after its first request; the entry is dropped when the collection is altered, released or loaded, or a leader
moves.

Warning: requests that spend 50% of their mean or more on such calls, at least 5 ms; info from 20%. The metric does
not name the request: the time is an estimate, divided evenly over all. If a call takes 30 ms or more, the finding
names the slow coordinator: QueryCoord for shard leaders (their entries expire every 3 seconds, so calls for them are
usual), else RootCoord.`,
	Remedy: `Find out what empties the cache: collections, partitions or aliases that are created, altered and
dropped all the time; loads and releases; shard leaders that move (` + "`kitescope history`" + `). If the calls are few
and slow, look at the CPU of RootCoord and QueryCoord, and at etcd.`,
	Run:      runMetadataCache,
	Requests: []string{"proxy"},
}

func runMetadataCache(p *check.Pass) {
	var costs []cost
	for _, kind := range []budget.Request{budget.Search, budget.Query, budget.Insert, budget.Upsert, budget.Delete} {
		b := overall(p, kind)
		if b == nil {
			continue
		}
		if c, ok := costOf(b, budget.MetadataCache); ok && c.matters(findingShare) {
			costs = append(costs, c)
		}
	}
	if len(costs) == 0 {
		return
	}
	role, each := slowestCoordinator(p)
	for _, a := range gatherAs(model.Ref{}, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s spends %s waiting for metadata that proxies request from the coordinators",
				requestPhrase(c.budget), c.shareText()),
			Impact: "These requests wait for the coordinators, however fast the query nodes are.",
			Fix: check.Fix(
				check.Do("stop creating, altering, loading or releasing collections so often: that empties the proxy "+
					"caches"),
				check.Shell(check.Kitescope("get calls")).Does("shows how fast RootCoord responds"),
			),
		}
		if each >= slowResponse {
			f.Message += fmt.Sprintf("; %s takes %s for each", facts.RoleLabel(role), budget.Milliseconds(each))
			f.Fix = slices.Insert(f.Fix, 0,
				check.Do("look at the CPU limit of %s, its log, and etcd: it responds slowly", facts.RoleLabel(role)))
			if role == "querycoord" { // shard leaders expire every 3 s, so such calls are usual
				f.Fix = slices.Delete(f.Fix, 1, 2)
			}
		}
		p.Report(withCosts(p, f, a.costs...))
	}
}

// slowResponse is the response time to a proxy, in milliseconds, from which a coordinator is slow. A healthy one takes
// 2 to 10.
const slowResponse = 30

// slowestCoordinator returns the coordinator that proxies wait for most on cache misses, and the mean time of a call in
// milliseconds.
func slowestCoordinator(p *check.Pass) (role string, ms float64) {
	var all, leaders metrics.Histogram
	for _, x := range processes(p, "proxy", "standalone") {
		if h, ok := x.window.Histogram(metrics.ProxyCacheUpdate); ok {
			all.Sum, all.Count = all.Sum+h.Sum, all.Count+h.Count
		}
		if h, ok := x.window.Histogram(metrics.ProxyCacheUpdate, label("cache_name", "GetShards")); ok {
			leaders.Sum, leaders.Count = leaders.Sum+h.Sum, leaders.Count+h.Count
		}
	}
	role, ms = "rootcoord", 0
	if leaders.Sum > all.Sum/2 {
		role, all = "querycoord", leaders
	} else {
		all.Sum, all.Count = all.Sum-leaders.Sum, all.Count-leaders.Count
	}
	if all.Count > 0 {
		ms = all.Sum / all.Count
	}
	if len(facts.Holders(p.Cluster, "mixcoord")) > 0 {
		role = "mixcoord"
	}
	return role, ms
}
