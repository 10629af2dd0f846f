package rules

import (
	"fmt"
	"slices"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// idleNode reports query nodes that serve nothing, or far less than the others.
var idleNode = &check.Check{
	ID:       "node-idle",
	Title:    "Query node serves nothing, or far less than the others",
	Severity: check.Error,
	Symptoms: []string{check.SearchesSlow, check.AfterRestart},
	Starts: "config_changed:autoBalance node_joined:querynode | collection_released replica_changed " +
		"resource_group_changed",
	Doc: `A query node that joined an hour ago still serves nothing, and searches wait for the other nodes (Milvus
issues 23604 and 24065 are examples).

The check compares the registered query nodes of one resource group, without those that are stopping and those inside
streaming nodes (they take channels only). The served data comes from the node's own answer or its metrics. Reported:
a node with at most a quarter of the average of the others, in search work (weighted as in
` + "`kitescope balance`" + `) and in rows (which Milvus balances). Error if it serves nothing at all. Since Milvus
2.4.13, where rows are spread by memory, a node with less memory than the others is judged by its memory.

Not reported if there is nothing to give it: no replica has two segments on one node, or the resource group serves
fewer than 5,000 rows in total. Unless auto-balance is off, also not reported while it is being filled: in the first
two minutes after its start, or in the first hour while a segment has arrived within the last two minutes. On Milvus
2.3.5 with small segments, a new node had its first segments after 1 to 2 s and all of them after 90 s; large segments
take as long as they take to load, and segments of stopping nodes move first. Info for the first ten minutes.`,
	Remedy: `If auto-balance is off (see auto-balance-off), turn it on, or move segments by hand:
` + "`kitescope balance --plan`" + ` lists the moves and the pymilvus calls. If it is on, check that the node is in the
resource group of the replicas (` + "`kitescope get resource-groups`" + `), and whether another node is stopping: those
are emptied first. QueryCoord's log has the reason for skipping a replica ("skip balance"). Check also whether its
version or memory differs from the others.`,
	Parts:  model.PartServing | model.PartSessions | model.PartObjects | model.PartIndexes | model.PartSegments,
	Needs:  check.NeedProcesses,
	Phases: []latency.Name{latency.WaitForWorkers},
	Run:    runIdleNode,
	Roles:  []string{"querycoord"},
	FollowsFrom: []check.Cause{
		{Check: "node-suspended", Applies: check.Shares("nodes")},
		{Check: "auto-balance-off"},
		{Check: "balancing-suspended"},
	},
}

func runIdleNode(p *check.Pass) {
	if reason := noSurvey(p); reason != "" {
		p.Skip(reason)
		return
	}
	for _, x := range idleNodes(p) {
		if !x.fresh {
			reportIdle(p, x)
		}
	}
}

func reportIdle(p *check.Pass, x underusedNode) {
	r, total := x.group, x.group.cost()
	low, high := 1.0, 0.0
	for _, n := range r.nodes {
		if n.Node != x.Node {
			low, high = min(low, n.Cost/total), max(high, n.Cost/total)
		}
	}
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefNode("querynode", x.Node), Cost: r.excess(),
		Message: fmt.Sprintf("%s serves %s of %s, %s of the search work; each of the others %s",
			x.Name(), words.Number(x.Sealed), words.Plural(r.sealed(), "segment"), words.Share(x.Cost/total),
			between(words.Share(low), words.Share(high))),
		Evidence: []check.Evidence{
			check.Count("sealed segments", x.Sealed, metricSource(x.Share)),
			check.Count("growing segments", x.Growing, metricSource(x.Share)),
			rowsFact("rows", x.Rows(), x.RepeatedRows, metricSource(x.Share)),
			rowsFact("rows of the resource group", r.rows(), r.repeated(), "query nodes"),
			check.Fact("resource group", r.name, "etcd"),
		},
		Impact: "Its CPU and memory are mostly unused. Rebalanced, the busiest node, which every search waits for, " +
			"would do " + words.Share(r.excess()) + " less work.",
		Fix: check.Fix(check.Shell(check.Kitescope("balance --plan")).
			Does("lists the moves that even it out, with the pymilvus calls")),
	}
	if x.Sealed == 0 && x.Growing == 0 {
		what := "nothing"
		if x.Leaders > 0 {
			what = "no segments, but leads " + words.Plural(x.Leaders, "shard")
		} else {
			f.Severity = check.Error
		}
		f.Message = fmt.Sprintf("%s serves %s; the others of its resource group serve %s", x.Name(), what,
			words.Plural(r.sealed(), "segment"))
	}
	addIdleEvidence(p, &f, x)
	p.Report(f)
}

// between formats a range of two figures, or one figure if both are equal.
func between(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// addIdleEvidence adds the node's age, its CPU use and the reason for its idleness to the finding.
func addIdleEvidence(p *check.Pass, f *check.Finding, x underusedNode) {
	if x.age >= 0 {
		f.Evidence = append(f.Evidence, check.Factf("started", x.Name(), "%s ago", check.Span(x.age)))
		f.Message += "; it started " + words.Span(x.age) + " ago"
	}
	if cores, ok := x.CPU(); ok {
		f.Evidence = append(f.Evidence,
			check.Factf("CPU cores in use", x.Name()+" metrics", "%s", check.Number(cores, "cores", "%.2f")))
	}
	replicas := x.group.replicasOf(x.Node)
	f.Evidence = append(f.Evidence,
		check.Factf("replicas with it as a member", "etcd", "%s of %s", check.Digits(len(replicas)),
			check.Digits(len(x.group.groups))))
	auto := p.AutoBalance()
	switch {
	case auto.Known && !auto.On:
		f.Evidence = append(f.Evidence, check.Fact(balance.SwitchKey, auto.Value, auto.From))
	case x.age < 0:
		// The node may have started a moment ago.
		f.Severity = max(f.Severity, check.Warning) - 1
		f.Evidence = append(f.Evidence, check.Fact("started", "unknown", ""))
	case x.age < minSettledAge:
		f.Severity = check.Info
		f.Fix = slices.Concat(check.Fix(check.Do("wait until it has been up for ten minutes: Milvus may still be "+
			"filling it")), f.Fix)
	case len(replicas) == 0:
		f.Fix = check.Fix(check.Shell(check.Kitescope("get resource-groups")).
			Does("shows its resource group: no replica has it as a member; move it into the group of the replicas"))
	case auto.Known:
		f.Fix = append(f.Fix,
			check.Do("look for \"skip balance\" in QueryCoord's log: auto-balance is on and has not helped"))
	}
}
