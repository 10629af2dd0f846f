package rules

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// imbalanceRows reports replicas whose rows are spread unevenly over their nodes.
var imbalanceRows = &check.Check{
	ID:       "imbalance-rows",
	Title:    "Rows are spread unevenly over query nodes",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts: "config_changed:autoBalance node_joined:querynode node_lost:querynode | collection_loaded " +
		"segment_flushed segment_compacted",
	Doc: `Every search waits for the node with the most rows. The check compares, per replica, the rows that its nodes
serve, growing ones included: the largest count over the mean (max/mean). 1 is even.

Reported: a replica with a max/mean of 1.3 or more, if moving segments improves it by 15% or more, and the excess of
the busiest node is at least 10% of the average that a node of the resource group serves. Warning from 1.5 and an
excess of 30%, or if all replicas of the group together reach 1.5. Not reported: small collections and collections
with fewer segments than nodes.

Info while a new node is being filled (see node-idle). Not judged: replicas whose nodes are divided among channels
(ChannelLevelScoreBalancer), and rows spread in proportion to the nodes' memory, as Milvus 2.4.13 and later intend.

Growing rows stay on the leaders of their shards; moving segments can only compensate. The remaining difference is not
reported.`,
	Remedy: `Run ` + "`kitescope balance --plan`" + ` to list the smallest set of moves that evens it out, with the
pymilvus calls. With auto-balance on, Milvus tolerates a difference of 5% of its scores
(` + "`queryCoord.scoreUnbalanceTolerationFactor`" +
		`); the balance page shows what it would move and why it does not.`,
	Parts:  model.PartServing | model.PartSessions | model.PartSegments,
	Needs:  check.NeedProcesses,
	Phases: []latency.Name{latency.WaitForWorkers},
	Run:    runImbalanceRows,
	Roles:  []string{"querycoord"},
	FollowsFrom: []check.Cause{
		{Check: "auto-balance-off"},
		{Check: "balancing-suspended"},
		{Check: "node-idle", Applies: check.SameResourceGroup},
	},
}

func runImbalanceRows(p *check.Pass) {
	if reason := noSurvey(p); reason != "" {
		p.Skip(reason)
		return
	}
	for _, r := range resourceGroups(p) {
		all := r.spread(shareRows)
		filling := slices.ContainsFunc(r.nodes, func(n *balance.Share) bool { return isFilling(p, n) })
		for i, g := range unevenGroups(p, r) {
			severity := check.Info
			if !filling && (all >= warnRows && i == 0 || g.Spread.RowsMaxMean >= warnRows && g.weight >= warnExcess) {
				severity = check.Warning
			}
			reportRows(p, r, g, all, severity)
		}
	}
}

func reportRows(p *check.Pass, r *resourceGroup, g unevenGroup, all float64, severity check.Severity) {
	most := slices.MaxFunc(g.Shares, func(a, b *balance.Share) int { return cmp.Compare(a.Rows(), b.Rows()) })
	f := check.Finding{
		Severity: severity, Object: g.Ref(),
		Message: fmt.Sprintf("%s: %s has %s of %s rows, %.2f times the mean", g.Name(), most.Name(),
			upTo(most.Rows(), most.RepeatedRows), upTo(g.Rows(), g.RepeatedRows()), g.Spread.RowsMaxMean),
		Evidence: []check.Evidence{
			check.Factf("rows of the fullest node, max/mean", "query nodes", "%s",
				check.Number(g.Spread.RowsMaxMean, "ratio", "%.2f")),
			rowsFact("mean rows per node", g.Rows()/int64(g.Spread.Nodes), g.RepeatedRows(), "query nodes"),
			check.Factf("max/mean over all replicas of "+groupName(r.name), "query nodes", "%s",
				check.Number(all, "ratio", "%.2f")),
		},
		Impact: "Searches of the collection wait for " + most.Name() + ".",
		Fix: check.Fix(check.Shell(check.Kitescope("balance").Arg(g.Name()).Word("--plan", "--by", "rows")).
			Does("lists the moves that even it out, with the pymilvus calls")),
	}
	if g.Spread.MaxMean > 1 && r.cost() > 0 {
		f.Cost = min(1, (1-1/g.Spread.MaxMean)*g.Cost()/r.cost())
	}
	if g.reachable > 0 {
		f.Evidence = append(f.Evidence,
			check.Factf("max/mean reachable by moving segments", "computed", "%s or less",
				check.Number(max(g.reachable, 1), "ratio", "%.2f")))
	}
	for _, s := range g.Shares {
		if s.Known {
			f.Evidence = append(f.Evidence, rowsFact("rows on "+s.Name(), s.Rows(), s.RepeatedRows, metricSource(s)))
			f.Objects = append(f.Objects, facts.RefNode("querynode", s.Node))
		}
		if len(f.Objects) == facts.MostNodes {
			break
		}
	}
	p.Report(f)
}

// groupName returns the name of a resource group for messages.
func groupName(name string) string {
	if name == "" || name == "__default_resource_group" {
		return "the default resource group"
	}
	return "resource group " + name
}
