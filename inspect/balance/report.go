package balance

import "kitescope/inspect/model"

// Report is a survey of some replicas, with what would even them out, and what Milvus makes of them.
type Report struct {
	Survey  *Survey
	Options Options
	// Groups are the replicas that were asked for, with the plans and verdicts of each.
	Groups   []*Group
	Plans    []*Plan // nil unless wanted
	Verdicts []*Verdict
	// After is how even all nodes would be, over all replicas, once the plans are carried out.
	After Spread
}

// Report plans and judges replicas; nil stands for all.
func (s *Survey) Report(groups []*Group, o Options, plan bool) *Report {
	if o.Goal == 0 {
		o.Goal = DefaultGoal
	}
	if groups == nil {
		groups = s.Groups
	}
	r := &Report{Survey: s, Options: o, Groups: groups, After: s.Spread}
	for _, g := range groups {
		r.Verdicts = append(r.Verdicts, s.Milvus(g))
	}
	if !plan {
		return r
	}
	r.Plans = s.Plans(groups, o)
	nodes := make([]*Share, len(s.Nodes))
	byNode := make(map[model.NodeID]*Share, len(s.Nodes))
	for i, n := range s.Nodes {
		next := *n
		nodes[i], byNode[n.Node] = &next, &next
	}
	for _, p := range r.Plans {
		for i, x := range p.Shares {
			byNode[x.Node].differ(p.Group.Shares[i], x)
		}
	}
	r.After = spreadOf(nodes)
	return r
}

// differ applies to a node's sum what a plan changes of one share.
func (s *Share) differ(before, after *Share) {
	s.Sealed += after.Sealed - before.Sealed
	s.SealedRows += after.SealedRows - before.SealedRows
	s.Bytes += after.Bytes - before.Bytes
	s.IndexBytes += after.IndexBytes - before.IndexBytes
	s.Cost += after.Cost - before.Cost
}

// Moves counts the moves of all plans.
func (r *Report) Moves() (n int) {
	for _, p := range r.Plans {
		n += len(p.Moves)
	}
	return n
}
