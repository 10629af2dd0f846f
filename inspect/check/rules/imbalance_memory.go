package rules

import (
	"fmt"
	"strconv"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// imbalanceMemory reports resource groups in which one query node's memory is nearly full and another's is not.
var imbalanceMemory = &check.Check{
	ID:       "imbalance-memory",
	Title:    "Memory use of query nodes is uneven",
	Severity: check.Warning,
	Symptoms: []string{check.MemoryFull},
	Starts:   "config_changed:autoBalance node_joined:querynode node_lost:querynode | collection_loaded index_built",
	Doc: `The fullest query node limits how much a collection can grow, even if the others have room: at
` + "`queryCoord.overloadedMemoryThresholdPercentage`" + ` (90) Milvus loads nothing more on it, and at 85% it throttles
writes for the whole cluster. The check compares, for the query nodes of a resource group, the share of memory in use
as each reports it (GetMetrics: memory_usage of memory).

Reported: a difference of at least ` + "`queryCoord.memoryUsageMaxDifferencePercentage`" + ` of this cluster, 30 points
by default, between two nodes. Warning if the fuller one is at 60% or above. Not judged: nodes that have just joined
and are being filled (see node-idle). Milvus 2.2 and later ignore that setting and balance rows. Memory can differ
with even rows because of dimensions, indexes and mmap.`,
	Remedy: `Run ` + "`kitescope balance --plan --by memory`" + ` to list moves. Before Milvus 2.5 (and late 2.4)
nodes of different sizes in one resource group fill up unevenly by design; newer versions take each node's memory into
account (pull request 36466).`,
	Parts: model.PartServing | model.PartSessions,
	Needs: check.NeedSystem,
	Run:   runImbalanceMemory,
	Roles: []string{"querycoord"},
	FollowsFrom: []check.Cause{
		{Check: "auto-balance-off"},
		{Check: "balancing-suspended"},
		{Check: "node-idle", Applies: check.Shares("nodes")},
	},
}

const (
	memoryApart = 30.0 // points
	memoryFull  = 0.6
)

func runImbalanceMemory(p *check.Pass) {
	apart := memoryApart
	source := "default"
	if s, ok := p.Setting("queryCoord.memoryUsageMaxDifferencePercentage", "querycoord", "mixcoord"); ok {
		if v, err := strconv.ParseFloat(s.Value, 64); err == nil && v > 0 {
			apart, source = v, s.From
		}
	}
	for _, r := range resourceGroups(p) {
		var low, high *balance.Share
		for _, n := range r.nodes {
			if usedMemory(n) < 0 || isFilling(p, n) {
				continue
			}
			if low == nil || usedMemory(n) < usedMemory(low) {
				low = n
			}
			if high == nil || usedMemory(n) > usedMemory(high) {
				high = n
			}
		}
		if low == nil || 100*(usedMemory(high)-usedMemory(low)) < apart {
			continue
		}
		reportMemory(p, low, high, check.Factf("threshold", source, "%s points", check.Number(apart, "percent", "%g")))
	}
}

// usedMemory returns the share of its memory that a node uses, or -1 if it is unknown.
func usedMemory(n *balance.Share) float64 {
	use, capacity, ok := n.Memory()
	if !ok || capacity <= 0 {
		return -1
	}
	return float64(use) / float64(capacity)
}

func reportMemory(p *check.Pass, low, high *balance.Share, bound check.Evidence) {
	f := check.Finding{
		Severity: check.Info, Object: facts.RefNode("querynode", high.Node),
		Objects: []model.Ref{facts.RefNode("querynode", low.Node)},
		Message: fmt.Sprintf("%s uses %s of its memory, %s in the same resource group %s", high.Name(),
			words.Share(usedMemory(high)), low.Name(), words.Share(usedMemory(low))),
		Evidence: []check.Evidence{
			memoryFact(high),
			memoryFact(low),
			bound,
		},
		Impact: "The fuller node determines when loads fail and when writes are throttled.",
		Fix: check.Fix(check.Shell(check.Kitescope("balance --plan --by memory")).
			Does("lists the moves that even memory out")),
	}
	if usedMemory(high) >= memoryFull {
		f.Severity = check.Warning
	}
	p.Report(f)
}

func memoryFact(n *balance.Share) check.Evidence {
	use, capacity, _ := n.Memory()
	return check.Factf("memory in use on "+n.Name(), n.Name()+" GetMetrics", "%s of %s", check.Bytes(use),
		check.Bytes(capacity))
}
