package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// rateLimited reports requests that proxies reject above the rate limit.
var rateLimited = &check.Check{
	ID:       "rate-limited",
	Title:    "Proxies reject requests above the rate limit",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesFail, check.WritesFail},
	Starts:   "config_changed:quota | database_altered collection_altered",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Doc: `Clients see a higher latency than Milvus measures. With ` + "`quotaAndLimits`" + ` a proxy rejects requests
above a rate, or while RootCoord denies them; it counts them in
` + "`milvus_proxy_rate_limit_req_count{status=\"fail\"}`" + ` (2.4 and later). Rejected requests are in no latency
metric; client libraries wait and retry.

Warning: a kind of request with 1% rejected, at least ten in the window. Up to 2.3 rejections are not counted: this
check could not run, and ` + "`quota-denied`" + ` reports what RootCoord denies.`,
	Remedy: `Send fewer, larger requests, or raise the limit: ` + "`quotaAndLimits.dql.*`" + `,
` + "`quotaAndLimits.dml.*`" + ` of the cluster, ` + "`collection.*Rate.max.mb`" + ` and the like of a collection. If
RootCoord denies writes (memory, disk, time ticks), see ` + "`quota-denied`" + `.`,
	Run:         runRateLimited,
	FollowsFrom: check.CausedBy(nil, "quota-denied"),
}

const (
	refusedPart = 0.01
	fewRefused  = 10
)

func runRateLimited(p *check.Pass) {
	if p.Runtime == nil {
		p.Skip(facts.NotAsked)
		return
	}
	noteUnseenMetrics(p, "proxy")
	refused, asked := map[string]float64{}, map[string]float64{}
	var nodes []model.Ref
	counted := false
	for _, x := range processes(p, "proxy", "standalone") {
		if _, ok := x.window.Counter(metrics.ProxyRateLimited); !ok {
			continue
		}
		counted = true
		nodes = append(nodes, x.node.Ref())
		for _, kind := range kindsOf(x.node.Process) {
			n, _ := x.window.Counter(metrics.ProxyRateLimited, label("msg_type", kind), label("status", "fail"))
			all, _ := x.window.Counter(metrics.ProxyRateLimited, label("msg_type", kind), label("status", "total"))
			refused[kind], asked[kind] = refused[kind]+n, asked[kind]+all
		}
	}
	if !counted {
		if older := facts.ReleaseOf(p.Cluster); older.Before(facts.Release{Major: 2, Minor: 4}) {
			p.Skip("rejected requests are counted by Milvus 2.4 and later")
			return
		}
		return // the counter appears with the first request that a limiter checks
	}
	for kind, n := range refused {
		all := max(asked[kind], n)
		if n < fewRefused || n < refusedPart*all {
			delete(refused, kind)
		}
	}
	if len(refused) > 0 {
		reportRefused(p, refused, asked, nodes)
	}
}

// kindsOf returns the kinds of requests that a proxy's limiter has checked, sorted.
func kindsOf(x *model.Process) []string {
	var kinds []string
	for _, called := range metrics.Lookup(metrics.ProxyRateLimited).Spellings {
		for _, s := range x.Metrics.Samples(called.Name) {
			if k := s.Label("msg_type"); k != "" && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

func reportRefused(p *check.Pass, refused, asked map[string]float64, nodes []model.Ref) {
	f := check.Finding{Severity: check.Warning, Objects: nodes}
	var parts []string
	for _, kind := range sortedKeys(refused) {
		n, all := refused[kind], max(asked[kind], refused[kind])
		parts = append(parts, fmt.Sprintf("%s of %s %s", words.Number(int64(n)), words.Number(int64(all)), kind))
		f.Cost = max(f.Cost, min(1, n/all))
		f.Evidence = append(f.Evidence,
			check.Share("rejected "+kind, n/all, "proxies milvus_proxy_rate_limit_req_count"))
	}
	f.Message = fmt.Sprintf("proxies rejected %s requests above the rate limit", words.Summarize(parts))
	f.Impact = "Clients get an error, wait and retry: they see a higher latency than Milvus measures."
	f.Fix = check.Fix(check.Do("send fewer, larger requests, or raise the limits under quotaAndLimits").
		Interrupting(time.Minute, "nothing"))
	if why := p.Latency().Window.Why; why != "" {
		f.Evidence = append(f.Evidence, check.Fact("window", why, ""))
	}
	p.Report(f)
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
