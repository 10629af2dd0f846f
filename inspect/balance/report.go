package balance

import "cmp"

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
	r.After = s.after(r.Plans)
	return r
}

// Moves counts the moves of all plans.
func (r *Report) Moves() (n int) {
	for _, p := range r.Plans {
		n += len(p.Moves)
	}
	return n
}
