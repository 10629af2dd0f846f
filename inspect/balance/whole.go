package balance

import (
	"fmt"

	"kitescope/inspect/model"
)

// after is how even all nodes would be, over all replicas, once plans are carried out.
func (s *Survey) after(plans []*Plan) Spread {
	nodes := make([]*Share, len(s.Nodes))
	byNode := make(map[model.NodeID]*Share, len(s.Nodes))
	for i, n := range s.Nodes {
		next := *n
		nodes[i], byNode[n.Node] = &next, &next
	}
	for _, p := range plans {
		for i, x := range p.Shares {
			byNode[x.Node].differ(p.Group.Shares[i], x)
		}
	}
	return spreadOf(nodes)
}

// differ applies to a node's sum what a plan changes of one share.
func (s *Share) differ(before, after *Share) {
	s.Sealed += after.Sealed - before.Sealed
	s.SealedRows += after.SealedRows - before.SealedRows
	s.Bytes += after.Bytes - before.Bytes
	s.IndexBytes += after.IndexBytes - before.IndexBytes
	s.Cost += after.Cost - before.Cost
}

// keepWhole takes plans back, one after the other, for as long as all together make the nodes less even than they are, beyond
// the goal: what evens each replica out alone may put them all on the same nodes. The one goes whose moves do most of that.
func (s *Survey) keepWhole(plans []*Plan, totals map[model.NodeID]float64) {
	if len(plans) == 0 {
		return
	}
	o := plans[0].Options
	now := o.By.Of(&s.Spread)
	if now == 0 {
		return
	}
	limit := max(now, o.Goal) * (1 + tolerance)
	for {
		all := s.after(plans)
		level := o.By.Of(&all)
		if level <= limit {
			return
		}
		worst := worstPlan(plans, totals)
		if worst < 0 {
			return
		}
		plans[worst].carry(totals, -1)
		plans[worst] = plans[worst].withdrawn(now, level)
	}
}

// worstPlan is the plan without whose moves the fullest node is emptiest, -1 if none has moves. totals are the loads of nodes with all of them.
func worstPlan(plans []*Plan, totals map[model.NodeID]float64) int {
	worst, least := -1, 0.0
	for i, p := range plans {
		if len(p.Moves) == 0 {
			continue
		}
		p.carry(totals, -1)
		level := 0.0
		for _, load := range totals {
			level = max(level, load)
		}
		p.carry(totals, 1)
		if worst < 0 || level < least {
			worst, least = i, level
		}
	}
	return worst
}

// carry adds what a plan moves to the loads of nodes, or with a sign of -1 takes it back.
func (p *Plan) carry(totals map[model.NodeID]float64, sign float64) {
	for i := range p.Moves {
		m := &p.Moves[i]
		load := sign * p.Options.By.item(&item{rows: m.Rows, size: m.Size, cost: m.Cost})
		totals[m.From] -= load
		totals[m.To] += load
	}
}

// withdrawn is a plan without its moves.
func (p *Plan) withdrawn(before, after float64) *Plan {
	w := &Plan{Group: p.Group, Options: p.Options, Before: p.Before, After: p.Before, Shares: p.Group.Shares, Unplanned: true, MemoryUnknown: p.MemoryUnknown}
	w.Why = fmt.Sprintf("balancing it (%d moves) makes the nodes less even over all replicas: max/mean %.2f to %.2f", len(p.Moves), before, after)
	return w
}
