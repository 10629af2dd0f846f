package spread

import (
	"fmt"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/words"
)

// idleNode finds query nodes that serve nothing, or far less than the others.
var idleNode = &check.Check{
	ID:       "node-idle",
	Title:    "Query node serves nothing, or far less than the others",
	Severity: check.Error,
	Since:    "0.3",
	Doc: `A query node that joined and was given nothing to serve costs money and helps nobody: all searches still wait for the others. Milvus issues 23604 and 24065 are such cases.

Compared are the query nodes of one resource group that are registered, not stopping, and not inside streaming nodes (those take channels only). What a node
serves comes from the node itself, else from its metrics. A node with at most a quarter of what the others have on average, in search work (weighed as
` + "`kitescope balance`" + ` does) and in rows (which Milvus balances), is a finding, an error if it serves nothing at all. From Milvus 2.4.13 on, which gives rows by memory, a node
with less memory than the others is measured by that.

It is none if there is nothing to give it: no replica of it has two segments on one node, or the resource group serves fewer than 5,000 rows in all. Unless auto-balance is off, neither is it one
within two minutes of its start, nor in the first hour while a segment has come within the last two minutes: it is being filled. Measured on Milvus 2.3.5 with small
segments, the first were on a new node after 1 to 2 s and all had settled after 90 s; large ones take as long as they take to load, and while other nodes are stopping those go first. For ten minutes
it is an information only.`,
	Remedy: `If auto-balance is off (see auto-balance-off), turn it on, or move segments by hand: ` + "`kitescope balance --plan`" + ` lists the moves and the calls. If it is on and the
node stays idle: is the node in the resource group of the replicas (` + "`kitescope get resource-groups`" + `)? Is another node stopping? Those are emptied first. QueryCoord's log says
why it skips a replica ("skip balance"). Does its version or memory differ, so that QueryCoord holds it unfit?`,
	Parts:       model.PartServing | model.PartSessions | model.PartObjects | model.PartIndexes | model.PartSegments,
	Needs:       check.NeedProcesses,
	Phases:      []latency.Name{latency.WaitForWorkers},
	Run:         runIdleNode,
	Roles:       []string{"querycoord"},
	FollowsFrom: []check.Cause{{Check: "auto-balance-off"}},
}

func runIdleNode(p *check.Pass) error {
	if reason := noSurvey(p); reason != "" {
		return p.Skip(reason)
	}
	for _, x := range idleNodes(p) {
		if !x.fresh {
			reportIdle(p, x)
		}
	}
	return nil
}

func reportIdle(p *check.Pass, x quietNode) {
	r, total := x.region, x.region.cost()
	low, high := 1.0, 0.0
	for _, n := range r.nodes {
		if n.Node != x.Node {
			low, high = min(low, n.Cost/total), max(high, n.Cost/total)
		}
	}
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefNode("querynode", x.Node), Cost: r.tooMuch(),
		Message: fmt.Sprintf("%s serves %d of %s, %s of the search work; each of the others %s",
			x.Name(), x.Sealed, words.Plural(r.sealed(), "segment"), words.Share(x.Cost/total), between(words.Share(low), words.Share(high))),
		Evidence: []check.Evidence{
			check.Count("sealed segments", x.Sealed, metricSource(x.Share)),
			check.Count("growing segments", x.Growing, metricSource(x.Share)),
			rowsFact("rows", x.Rows(), x.Repeated, metricSource(x.Share)),
			rowsFact("rows of the resource group", r.rows(), r.repeated(), "query nodes"),
			check.Fact("resource group", r.name, "etcd"),
		},
		Impact: "Its processors and memory are hardly used. Evenly spread, the busiest node, for which searches wait, would have " + words.Share(r.tooMuch()) + " less to do.",
		Hint:   "kitescope balance --plan lists the moves that would even it out",
	}
	if x.Sealed == 0 && x.Growing == 0 {
		what := "nothing"
		if x.Leaders > 0 {
			what = "no segment, though it leads " + words.Plural(x.Leaders, "shard")
		} else {
			f.Severity = check.Error
		}
		f.Message = fmt.Sprintf("%s serves %s; the others of its resource group serve %s", x.Name(), what, words.Plural(r.sealed(), "segment"))
	}
	idleCircumstances(p, &f, x)
	p.Report(f)
}

// between is a range of two figures, or the one that both are.
func between(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// idleCircumstances adds since when the node is there, how much it works, and what explains its idleness.
func idleCircumstances(p *check.Pass, f *check.Finding, x quietNode) {
	if x.age >= 0 {
		f.Evidence = append(f.Evidence, check.Measured("started", x.Name(), "%s ago", check.Span(x.age)))
		f.Message += "; it started " + words.Span(x.age) + " ago"
	}
	if cores, ok := x.CPU(); ok {
		f.Evidence = append(f.Evidence, check.Measured("processor cores in use", x.Name()+" metrics", "%s", check.Number(cores, "cores", "%.2f")))
	}
	replicas := x.region.replicasOf(x.Node)
	f.Evidence = append(f.Evidence, check.Measured("replicas that name it", "etcd", "%s of %s", check.Digits(len(replicas)), check.Digits(len(x.region.groups))))
	auto := p.AutoBalance()
	switch {
	case auto.Known && !auto.On:
		f.Evidence = append(f.Evidence, check.Fact(balance.SwitchKey, auto.Value, auto.From))
	case x.age < 0:
		// It may have started a moment ago.
		f.Severity = max(f.Severity, check.Warning) - 1
		f.Evidence = append(f.Evidence, check.Fact("started", "unknown", ""))
	case x.age < surelySettled:
		f.Severity = check.Info
		f.Hint = "look again in ten minutes; " + f.Hint
	case len(replicas) == 0:
		f.Hint = "no replica names the node: see in kitescope get resource-groups whether it is in the group that replicas are in"
	case auto.Known:
		f.Hint = "auto-balance is on and has not helped: QueryCoord's log says why it skips the replicas; " + f.Hint
	}
}
