package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// proxyQueue finds requests that wait in the queue of a proxy.
var proxyQueue = &check.Check{
	ID:       "proxy-queue",
	Title:    "Requests wait in the proxy queue",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "node_lost:proxy node_left:proxy | config_changed:proxy",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ProxyQueue},
	Doc: `Requests wait in a proxy. It queues requests, with one queue each for reads, writes and definitions, and
runs as many as it has workers (internal/proxy/task_scheduler.go). ` + "`milvus_proxy_req_in_queue_latency`" + ` (2.4
and later) is that wait: almost nothing while the proxy has CPU time and the coordinators respond.

Warning: requests that wait there for 50% of their mean or more, at least 5 ms; info from 20%. Up to 2.3 the queue is
not measured: this check could not run, and the breakdown shows the time as unexplained.`,
	Remedy: `Add proxies, or give the existing ones more CPU. If writes wait, check the message queue
(` + "`wal-append-slow`" + `).`,
	Run:         runProxyQueue,
	Requests:    []string{"proxy"},
	FollowsFrom: slices.Concat(check.CausedBy(nil, "proxy-starved"), check.CausedBy(surged, "more-requests")),
}

func runProxyQueue(p *check.Pass) {
	var costs []cost
	measured := false
	for _, kind := range []budget.Request{budget.Search, budget.Query, budget.Insert, budget.Upsert, budget.Delete} {
		b := overall(p, kind)
		if b == nil {
			continue
		}
		c, ok := costOf(b, budget.ProxyQueue)
		measured = measured || ok
		if ok && c.matters(findingShare) {
			costs = append(costs, c)
		}
	}
	if !measured {
		p.NoteUnseen("proxy queue: measured by Milvus 2.4 and later")
	}
	for _, a := range gatherAs(model.Ref{}, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: c.severity(),
			Message: fmt.Sprintf("%s spends %s in the queue of its proxy", requestPhrase(c.budget), c.shareText()),
			Impact:  "The proxies are the bottleneck: more query nodes do not help.",
			Fix: check.Fix(check.Do("add a proxy, or give the existing ones more CPU").
				Interrupting(2*time.Minute, "nothing"),
				check.Shell(check.Kitescope("get nodes role=proxy")).Does("shows the CPU of the proxies")),
		}
		f = withCosts(p, f, a.costs...)
		f.Evidence = append(f.Evidence, proxiesCPU(p)...)
		p.Report(f)
	}
}

// proxiesCPU returns the CPU usage of each proxy as evidence.
func proxiesCPU(p *check.Pass) []check.Evidence {
	var list []check.Evidence
	for _, n := range p.Runtime.Nodes {
		if n.Role == "proxy" {
			list = append(list, cpuFacts(n)...)
		}
	}
	return list
}
