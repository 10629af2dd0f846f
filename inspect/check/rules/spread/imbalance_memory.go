package spread

import (
	"fmt"
	"strconv"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// imbalanceMemory finds query nodes of one resource group of which one is nearly full while another is not.
var imbalanceMemory = &check.Check{
	ID:       "imbalance-memory",
	Title:    "Memory of query nodes is used unevenly",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `The fullest node decides how much a collection can grow: at ` + "`queryCoord.overloadedMemoryThresholdPercentage`" + ` (90) Milvus loads nothing more on it, and at 85% writes are throttled for the
whole cluster. Compared is, for the query nodes of a resource group, the part of its memory that each uses, as it says itself (GetMetrics: memory_usage of memory).

A finding is a difference of 30 points and more between two of them, which is what ` + "`queryCoord.memoryUsageMaxDifferencePercentage`" + ` of this cluster says, or 30 by default; a warning if the fuller one is at 60% or above. Nodes that have just joined and are being filled (see node-idle) are left out.
Milvus 2.2 and later read that value no more and balance rows instead: dimensions, indexes and mmap are why memory can differ where rows do not.`,
	Remedy:      "`kitescope balance --plan --by memory`" + ` lists moves. Nodes of different sizes in one resource group fill up unevenly by nature before Milvus 2.5 (and late 2.4), which weighs the memory that each has (pull request 36466).`,
	Parts:       model.PartServing | model.PartSessions,
	Needs:       check.NeedSystem,
	Run:         runImbalanceMemory,
	Roles:       []string{"querycoord"},
	FollowsFrom: []check.Cause{{Check: "auto-balance-off"}, {Check: "node-idle", Of: check.Shares("nodes")}},
}

const (
	memoryApart = 30.0 // points
	memoryFull  = 0.6
)

func runImbalanceMemory(p *check.Pass) error {
	apart := memoryApart
	source := "default"
	if s, ok := p.Setting("queryCoord.memoryUsageMaxDifferencePercentage", "querycoord", "mixcoord"); ok {
		if v, err := strconv.ParseFloat(s.Value, 64); err == nil && v > 0 {
			apart, source = v, s.From
		}
	}
	for _, r := range regions(p) {
		var low, high *balance.Share
		for _, n := range r.nodes {
			if usedMemory(n) < 0 || settling(p, n) {
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
		reportMemory(p, low, high, check.Measured("difference that counts", source, "%s points", check.Number(apart, "percent", "%g")))
	}
	return nil
}

// usedMemory is the part of its memory that a node uses, -1 if that is unknown.
func usedMemory(n *balance.Share) float64 {
	use, capacity, ok := n.Memory()
	if !ok || capacity <= 0 {
		return -1
	}
	return float64(use) / float64(capacity)
}

func reportMemory(p *check.Pass, low, high *balance.Share, bound check.Evidence) {
	f := check.Finding{
		Severity: check.Info, Object: facts.RefNode("querynode", high.Node), Objects: []model.Ref{facts.RefNode("querynode", low.Node)},
		Message: fmt.Sprintf("%s uses %s of its memory, %s of the same resource group %s", high.Name(), words.Share(usedMemory(high)), low.Name(), words.Share(usedMemory(low))),
		Evidence: []check.Evidence{
			memoryFact(high),
			memoryFact(low),
			bound,
		},
		Impact: "The fuller node decides when loading fails and when writes are throttled.",
		Hint:   "kitescope balance --plan --by memory",
	}
	if usedMemory(high) >= memoryFull {
		f.Severity = check.Warning
	}
	p.Report(f)
}

func memoryFact(n *balance.Share) check.Evidence {
	use, capacity, _ := n.Memory()
	return check.Measured("memory in use on "+n.Name(), n.Name()+" GetMetrics", "%s of %s", check.Bytes(use), check.Bytes(capacity))
}
