package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// proxyStarved finds proxies that spend much time outside their tasks, where they have almost no work.
var proxyStarved = &check.Check{
	ID:       "proxy-starved",
	Title:    "Proxies lack CPU time",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "node_lost:proxy node_left:proxy | config_changed:proxy",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ProxyRest},
	Doc: `With a cgroup limit of 0.1 cores a proxy of 2.3.5 added 20 ms to each search, without it 1 ms on a busy
machine. Before a proxy queues a request and after its task is done there is little to do. That time is the difference
between ` + "`milvus_proxy_sq_latency`" + ` and ` + "`sq_wait_result_latency`" + `, the task.

Reported: searches or queries that spend at least 10 ms and 5% of their mean there. The proxy does not get CPU time
when it needs it (a container limit, a full machine, a long garbage collection), and the rest of its work is delayed
as well: sending requests to query nodes, reading their answers, merging results. The unexplained time between the
proxy and the nodes is therefore added.

Not reported while a coordinator is slow: proxies wait for its timestamps and shard leaders before they queue a
request.`,
	Remedy: `Check the CPU limit of the proxy containers and whether it is reached (` + "`nr_throttled`" + ` in
` + "`cpu.stat`" + ` of the cgroup), and what else runs on their machines. Add proxies to share the work.`,
	Run:      runProxyStarved,
	Requests: []string{"proxy"},
	FollowsFrom: withHostStarved(slices.Concat(check.CausedBy(ofProxy, "gc-pause"),
		check.CausedBy(surged, "more-requests"))...),
}

const (
	// starvedMs is the time of a proxy outside its tasks, in milliseconds, that is a finding. It is ten times the time
	// on a loaded machine.
	starvedMs   = 10
	starvedPart = 0.05
	// usualRest is the time of a healthy proxy outside its tasks, in milliseconds.
	usualRest = 1
)

// ofProxy reports whether the cause is about the process of a proxy.
func ofProxy(c *model.Cluster, _, cause *check.Finding) bool {
	return c != nil && c.Runtime != nil && slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool {
		return n.Role == "proxy" &&
			(cause.Mentions(n.Ref()) || check.SharesProcess(c, &check.Finding{Object: n.Ref()}, cause))
	})
}

func runProxyStarved(p *check.Pass) {
	var costs []cost
	for _, kind := range []budget.Request{budget.Search, budget.Query} {
		b := overall(p, kind)
		if b == nil {
			continue
		}
		c, ok := costOf(b, budget.ProxyRest)
		if !ok {
			p.NoteUnseen("time of proxies outside their tasks: no metric")
			continue
		}
		if c.low >= starvedMs && c.matters(starvedPart) && !waitsForCoordinators(p) {
			costs = append(costs, ownTime(c))
		}
	}
	for _, a := range gatherAs(model.Ref{}, costs) {
		c := &a.costs[0]
		f := check.Finding{
			Object: a.object, Severity: check.Warning,
			Message: fmt.Sprintf("%s spends %s in the proxy, %s of it before queueing and after the task, where "+
				"there is hardly any work", requestPhrase(c.budget), c.shareText(), budget.Milliseconds(c.parts[0].Ms)),
			Impact: "The proxy does not get enough CPU time; everything else it does takes longer too.",
			Fix: check.Fix(check.Do("raise the CPU limit of the proxies if they are throttled (nr_throttled in "+
				"cpu.stat of the cgroup)").
				Restarting(p.Cluster, 2*time.Minute, "proxy"),
				check.Do("check what else runs on their machines, or add proxies")),
		}
		f = withCosts(p, f, a.costs...)
		f.Evidence = append(f.Evidence, proxiesCPU(p)...)
		p.Report(f)
	}
}

// waitsForCoordinators reports whether proxies see a slow coordinator. Before proxies queue a request, they wait for
// its timestamps and shard leaders, which needs no CPU.
func waitsForCoordinators(p *check.Pass) bool {
	return slices.ContainsFunc(p.Places().Components, func(s *place.Status) bool {
		return strings.HasSuffix(string(s.Component.Kind), "coord") &&
			slices.ContainsFunc(s.Evidence, func(e place.Evidence) bool {
				return e.State == place.Slow && e.Strength >= place.Medium && strings.HasPrefix(e.Source, "proxy-")
			})
	})
}

// ownTime adds the proxy's other phases, and the unexplained time between proxy and nodes, to the cost of its rest. It
// assumes that the same part of each phase is lack of CPU time. No metric covers the time to read a request, before the
// proxy starts measuring. ownTime assumes that it is at most as long as the rest.
func ownTime(c cost) cost {
	wasted := max(0, 1-usualRest/c.ms)
	rest := c.ms
	c.scale(wasted)
	for _, x := range c.budget.Root.Children {
		if slices.Contains([]budget.Name{budget.ProxyQueue, budget.ReduceProxy, budget.Decode, budget.Unexplained},
			x.Name) {
			c.add(x, x.Ms*wasted)
			c.low += lowerBound(x) * wasted
		}
	}
	c.gain = budget.Interval{Low: c.low, High: min(c.budget.Ms, c.ms+rest)}
	return c
}
