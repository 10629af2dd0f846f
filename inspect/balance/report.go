package balance

import "cmp"

// Report is a survey of some replicas, with plans and with verdicts on Milvus's own balancer.
type Report struct {
	Survey  *Survey
	Options Options
	// Groups are the requested replicas. Plans and Verdicts are in the same order.
	Groups   []*Group
	Plans    []*Plan // nil unless requested
	Verdicts []*Verdict
	// After is the predicted spread of all nodes, over all replicas, after the plans.
	After Spread
}

// Report plans and judges replicas. nil groups means all replicas.
func (s *Survey) Report(groups []*Group, o Options, plan bool) *Report {
	o.Goal = cmp.Or(o.Goal, DefaultGoal)
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
	r.After = s.spreadAfter(r.Plans)
	return r
}

// Moves counts the moves of all plans.
func (r *Report) Moves() (n int) {
	for _, p := range r.Plans {
		n += len(p.Moves)
	}
	return n
}
