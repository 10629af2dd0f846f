package spread

import (
	"fmt"
	"path"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// autoBalanceOff finds that nobody moves segments where somebody should.
var autoBalanceOff = &check.Check{
	ID:       "auto-balance-off",
	Title:    "Auto-balance is off while query nodes are uneven",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: "`queryCoord.autoBalance`" + ` decides whether QueryCoord moves sealed segments and channels between the query nodes of a replica by itself. Off, a node that joins
stays empty until new segments happen to be given to it, and what a restart left uneven stays so.

That it is off is a finding only while something is uneven: a query node is idle (see node-idle), or the rows of replicas are spread badly (see imbalance-rows). The
value is QueryCoord's own answer to ShowConfigurations. Where that was not asked, only a key under ` + "`config/`" + ` in etcd tells: since Milvus 2.2.0 it comes before environment and file
(pkg/config: the etcd source has the highest priority); without one the value is unknown, and so is the answer of this check.

While it is off, QueryCoord still empties nodes that are stopping.`,
	Remedy: `Turn it on: the etcd key ` + "`{root}/config/queryCoord/autoBalance`" + ` with the value ` + "`true`" + ` is taken over without a restart, measured within 5 to 8 seconds; or set it in milvus.yaml. If it is off on
purpose (moves cost memory twice for a while, and warm caches), move by hand what ` + "`kitescope balance --plan`" + ` lists.`,
	// Not PartConfig: a backup has no dynamic keys, and QueryCoord's own word counts.
	Parts: model.PartServing | model.PartSessions | model.PartObjects | model.PartIndexes | model.PartSegments,
	Needs: check.NeedProcesses,
	Run:   runAutoBalanceOff,
}

func runAutoBalanceOff(p *check.Pass) error {
	if reason := noSurvey(p); reason != "" {
		return p.Skip(reason)
	}
	idle := idleNodes(p)
	var refs []model.Ref
	for _, x := range idle {
		refs = append(refs, facts.RefNode("querynode", x.Node))
	}
	uneven, cost := 0, 0.0
	for _, r := range regions(p) {
		groups := unevenGroups(p, r)
		for _, g := range groups {
			refs = append(refs, g.Ref())
		}
		if uneven += len(groups); len(groups) > 0 {
			cost = max(cost, r.tooMuch())
		}
	}
	for _, x := range idle {
		cost = max(cost, x.region.tooMuch())
	}
	if len(refs) == 0 {
		return nil
	}
	auto := p.AutoBalance()
	if !auto.Known || auto.On {
		return nil
	}
	f := check.Finding{
		Severity: check.Warning, Object: switchRef(p), Objects: refs, Cost: cost,
		Message: fmt.Sprintf("auto-balance is off (%s=%s) while %s", balance.SwitchKey, auto.Value, unevenText(len(idle), uneven)),
		Evidence: []check.Evidence{
			check.Fact(balance.SwitchKey, auto.Value, auto.From),
			check.Count("idle query nodes", len(idle), "query nodes"),
			check.Count("replicas with uneven rows", uneven, "query nodes"),
		},
		Impact: "Nothing evens out by itself. Evenly spread, the busiest node, for which searches wait, would have " + words.Share(cost) + " less to do.",
		Hint:   check.Advise("%s turns it on within seconds; or move by hand what kitescope balance --plan lists", check.Etcdctl("put").Arg(switchKey(p), "true")),
	}
	for _, e := range p.Dynamic() {
		if e.Name == auto.Key {
			f.Evidence = append(f.Evidence, check.Fact("dynamic key", e.Name, "etcd"))
		}
	}
	p.Report(f)
	return nil
}

func unevenText(idle, uneven int) string {
	switch idle {
	case 0:
		return "the rows of " + words.Plural(uneven, "replica") + " are spread unevenly"
	case 1:
		return "a query node is idle"
	}
	return words.Number(idle) + " query nodes are idle"
}

// switchKey is the key in etcd that turns it on.
func switchKey(p *check.Pass) string {
	if p.Balance.Auto.Key != "" {
		return path.Join(p.Origin.Root, "config", p.Balance.Auto.Key)
	}
	return path.Join(p.Origin.Root, "config", "queryCoord", "autoBalance")
}

// switchRef is the dynamic key, else QueryCoord.
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
