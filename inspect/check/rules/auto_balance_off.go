package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// autoBalanceOff reports that auto-balance is off although segments should be moved.
var autoBalanceOff = &check.Check{
	ID:       "auto-balance-off",
	Title:    "Auto-balance is off while query nodes are uneven",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "config_changed:autoBalance node_joined:querynode | node_lost:querynode replica_changed",
	Doc: `A query node that joined stays empty because ` + "`queryCoord.autoBalance`" + ` is off. The setting lets
QueryCoord move sealed segments and channels between the query nodes of a replica. While it is off, a new node gets
only new segments, and an uneven distribution after a restart stays uneven.

Reported only while something is uneven: a query node is idle (see node-idle), or rows are spread badly over the nodes
of a replica (see imbalance-rows). The value comes from QueryCoord's response to ShowConfigurations. Without that
response, only a key under ` + "`config/`" + ` in etcd shows it: since Milvus 2.2.0 such a key overrides environment and
file (pkg/config: the etcd source has the highest priority). Without a key the value is unknown, and nothing is
reported.

Even when it is off, QueryCoord empties nodes that are stopping.`,
	Remedy: `Turn it on: put ` + "`true`" + ` into the etcd key ` + "`{root}/config/queryCoord/autoBalance`" +
		`. It takes
effect without a restart, within 5 to 8 seconds as measured. Or set it in milvus.yaml. If it is off on purpose (a move
holds a segment in memory twice for a while, and caches go cold), make the moves that
` + "`kitescope balance --plan`" + ` lists by hand.`,
	// Not PartConfig: a backup has no dynamic keys, and the response of QueryCoord is enough.
	Parts: model.PartServing | model.PartSessions | model.PartObjects | model.PartIndexes | model.PartSegments,
	Needs: check.NeedProcesses,
	Run:   runAutoBalanceOff,
}

func runAutoBalanceOff(p *check.Pass) {
	if reason := noSurvey(p); reason != "" {
		p.Skip(reason)
		return
	}
	idle := idleNodes(p)
	var refs []model.Ref
	for _, x := range idle {
		refs = append(refs, facts.RefNode("querynode", x.Node))
	}
	uneven, cost := 0, 0.0
	for _, r := range resourceGroups(p) {
		groups := unevenGroups(p, r)
		for _, g := range groups {
			refs = append(refs, g.Ref())
		}
		if uneven += len(groups); len(groups) > 0 {
			cost = max(cost, r.excess())
		}
	}
	for _, x := range idle {
		cost = max(cost, x.group.excess())
	}
	if len(refs) == 0 {
		return
	}
	auto := p.AutoBalance()
	if !auto.Known || auto.On {
		return
	}
	key, _ := p.DynamicKey(balance.SwitchKey)
	f := check.Finding{
		Severity: check.Warning, Object: switchRef(p), Objects: refs, Cost: cost,
		Message: fmt.Sprintf("auto-balance is off (%s=%s) while %s", balance.SwitchKey, auto.Value,
			unevenText(len(idle), uneven)),
		Evidence: []check.Evidence{
			check.Fact(balance.SwitchKey, auto.Value, auto.From),
			check.Count("idle query nodes", len(idle), "query nodes"),
			check.Count("replicas with uneven rows", uneven, "query nodes"),
		},
		Impact: "Milvus will not rebalance on its own. Rebalanced, the busiest node, which every search waits for, " +
			"would do " + words.Share(cost) + " less work.",
		Fix: check.Fix(
			check.Shell(check.Etcdctl("put").Arg(key, "true")).Does("turns auto-balance on").
				Interrupting(5*time.Minute, "nothing"),
			check.Shell(check.Kitescope("balance --plan")).Does("lists the moves, to make them by hand instead"),
		),
	}
	for _, e := range p.Dynamic() {
		if e.Name == auto.Key {
			f.Evidence = append(f.Evidence, check.Fact("dynamic key", e.Name, "etcd"))
		}
	}
	p.Report(f)
}

func unevenText(idle, uneven int) string {
	switch idle {
	case 0:
		return "rows are uneven in " + words.Plural(uneven, "replica")
	case 1:
		return "a query node is idle"
	}
	return words.Number(idle) + " query nodes are idle"
}

// switchRef returns a reference to the dynamic key, or to QueryCoord if there is none.
func switchRef(p *check.Pass) model.Ref {
	if key := p.Balance.Auto.Key; key != "" {
		return model.Ref{Resource: "config", ID: key, Name: key}
	}
	for _, s := range p.Sessions {
		if s.Name() == p.Balance.Auto.From || s.Role == "querycoord" || s.Role == "mixcoord" {
			return facts.RefNode(s.Role, s.Node)
		}
	}
	return model.Ref{Resource: "config", ID: balance.SwitchKey, Name: balance.SwitchKey}
}
