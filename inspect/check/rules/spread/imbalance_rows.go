package spread

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

// imbalanceRows finds replicas whose rows lie unevenly on their nodes.
var imbalanceRows = &check.Check{
	ID:       "imbalance-rows",
	Title:    "Rows are spread unevenly over query nodes",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `A search waits for the slowest of its nodes, so that the node with most rows decides. Compared are, per replica, the rows that its nodes serve, growing ones included: the
largest share over the mean. 1 is even.

A finding is a replica with 1.3 or more, though moving segments would make it better by 15% at least, and where the busiest node has too much by a tenth or more of what a
node of the resource group serves on average: of small collections, and of those with fewer segments than nodes, nothing is said. A warning it is from 1.5 and three tenths on, or if all replicas
of the group together come to 1.5.

While a node is being filled that has joined (see node-idle), it is information only. Nothing is said of replicas whose nodes are divided among channels (ChannelLevelScoreBalancer), nor
of rows that lie as the memory of the nodes does, which is what Milvus 2.4.13 and later aim at.

Growing rows sit on the leaders of their shards, and moving segments can only make up for them; what is left then is no finding.`,
	Remedy: "`kitescope balance --plan`" + ` lists the fewest moves that even it out, with the calls that make them. Where auto-balance is on, Milvus tolerates a difference of 5% of its
scores (` + "`queryCoord.scoreUnbalanceTolerationFactor`" + `); the balance page says what it would move, and why it does not.`,
	Parts:       model.PartServing | model.PartSessions | model.PartSegments,
	Needs:       check.NeedProcesses,
	Phases:      []latency.Name{latency.WaitForWorkers},
	Run:         runImbalanceRows,
	Roles:       []string{"querycoord"},
	FollowsFrom: []check.Cause{{Check: "auto-balance-off"}, {Check: "node-idle", Of: check.InOneRegion}},
}

func runImbalanceRows(p *check.Pass) error {
	if reason := noSurvey(p); reason != "" {
		return p.Skip(reason)
	}
	for _, r := range regions(p) {
		all := r.spread(rowsOf)
		filling := slices.ContainsFunc(r.nodes, func(n *balance.Share) bool { return settling(p, n) })
		for i, g := range unevenGroups(p, r) {
			severity := check.Info
			if !filling && (all >= warnRows && i == 0 || g.Spread.RowsMaxMean >= warnRows && g.weight >= worthAWarn) {
				severity = check.Warning
			}
			reportRows(p, r, g, all, severity)
		}
	}
	return nil
}

func reportRows(p *check.Pass, r *region, g unevenGroup, all float64, severity check.Severity) {
	most := slices.MaxFunc(g.Shares, func(a, b *balance.Share) int { return cmp.Compare(a.Rows(), b.Rows()) })
	f := check.Finding{
		Severity: severity, Object: g.Ref(),
		Message: fmt.Sprintf("%s: %s has %s of its %s rows, %.2f times the mean", g.Name(), most.Name(), upTo(most.Rows(), most.Repeated), upTo(g.Rows(), g.Repeated()), g.Spread.RowsMaxMean),
		Evidence: []check.Evidence{
			check.Measured("largest share of rows over the mean", "query nodes", "%s", check.Number(g.Spread.RowsMaxMean, "ratio", "%.2f")),
			rowsFact("mean rows of a node", g.Rows()/int64(g.Spread.Nodes), g.Repeated(), "query nodes"),
			check.Measured("the same over all replicas of "+groupName(r.name), "query nodes", "%s", check.Number(all, "ratio", "%.2f")),
		},
		Impact: "Searches of the collection wait for " + most.Name() + ".",
		Hint:   check.Advise("%s", check.Kitescope("balance").Arg(g.Name()).Word("--plan", "--by", "rows")),
	}
	if g.Spread.MaxMean > 1 && r.cost() > 0 {
		f.Cost = min(1, (1-1/g.Spread.MaxMean)*g.Cost()/r.cost())
	}
	if g.reachable > 0 {
		f.Evidence = append(f.Evidence, check.Measured("reachable by moving segments", "worked out", "%s or less", check.Number(max(g.reachable, 1), "ratio", "%.2f")))
	}
	for _, s := range g.Shares {
		if s.Known {
			f.Evidence = append(f.Evidence, rowsFact("rows on "+s.Name(), s.Rows(), s.Repeated, metricSource(s)))
			f.Objects = append(f.Objects, facts.RefNode("querynode", s.Node))
		}
		if len(f.Objects) == facts.MostNodes {
			break
		}
	}
	p.Report(f)
}

// groupName is a resource group for people.
func groupName(name string) string {
	if name == "" || name == "__default_resource_group" {
		return "the default resource group"
	}
	return "resource group " + name
}
