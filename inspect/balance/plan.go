package balance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
)

// Measure is the quantity that a plan evens out.
type Measure uint8

// The measures.
const (
	ByCost Measure = iota
	ByRows
	ByMemory
)

func (m Measure) String() string { return [...]string{"cost", "rows", "memory"}[min(m, ByMemory)] }

// MeasureOf returns the Measure with a name, as returned by String.
func MeasureOf(word string) (Measure, bool) {
	for _, m := range []Measure{ByCost, ByRows, ByMemory} {
		if m.String() == word {
			return m, true
		}
	}
	return 0, false
}

// MaxMean returns the largest share over the mean, by the measure.
func (m Measure) MaxMean(s *Spread) float64 {
	return [...]float64{s.MaxMean, s.RowsMaxMean, s.MemoryMaxMean}[min(m, ByMemory)]
}

// CV returns the measure's coefficient of variation. ok is false for memory, which has none.
func (m Measure) CV(s *Spread) (cv float64, ok bool) {
	return [...]float64{s.CV, s.RowsCV, 0}[min(m, ByMemory)], m < ByMemory
}

// share returns a node's load by the measure.
func (m Measure) share(s *Share) float64 {
	switch m {
	case ByRows:
		return float64(s.Rows())
	case ByMemory:
		return float64(s.Size())
	case ByCost:
	}
	return s.Cost
}

func (m Measure) item(x *item) float64 {
	switch m {
	case ByRows:
		return float64(x.rows)
	case ByMemory:
		return float64(x.size)
	case ByCost:
	}
	return x.cost
}

// DefaultGoal is the largest share over the mean that counts as even.
const DefaultGoal = 1.1

// Options are the goal and the measure of a plan.
type Options struct {
	// Goal is the largest share over the mean; 0 means DefaultGoal.
	Goal float64
	By   Measure
}

// Move moves a sealed segment from one node of a replica to another.
type Move struct {
	Segment  model.SegmentID `doc:",id"`
	Rows     int64
	Size     int64        `doc:"size_bytes"` // logs and index files
	Cost     float64      `doc:"-"`
	From, To model.NodeID `doc:",id"`
}

// Plan is a list of moves that even out a replica.
type Plan struct {
	Group   *Group
	Options Options
	// Moves fit into the memory of the nodes in any order.
	Moves []Move
	// Shares are the predicted shares of the group, and After is their spread.
	Shares        []*Share
	Before, After Spread
	// Reached reports whether After is within the goal. Why is the reason if it is not, or another remark.
	// Unplanned means that no plan was made: too little is known, nothing can be moved, or the moves would make
	// the whole cluster less even.
	Reached   bool
	Why       string
	Unplanned bool
	// MemoryUnknown are the nodes with unknown memory. The plan assumes no memory limit for them.
	MemoryUnknown []model.NodeID
}

// Plan proposes moves for one replica.
func (s *Survey) Plan(g *Group, o Options) *Plan { return s.plan(g, o, s.totals(o.By)) }

// totals returns the load of each node over all replicas, by a measure.
func (s *Survey) totals(by Measure) map[model.NodeID]float64 {
	totals := make(map[model.NodeID]float64, len(s.Nodes))
	for _, n := range s.Nodes {
		totals[n.Node] = by.share(n)
	}
	return totals
}

// Plans proposes moves for several replicas. Each plan accounts for the moves of the earlier ones. A plan is
// withdrawn if it makes the nodes less even over all replicas, beyond the goal, because plans that even out each
// replica may load the same nodes.
func (s *Survey) Plans(groups []*Group, o Options) []*Plan {
	totals := s.totals(o.By)
	// Start with the worst, because its moves weigh most in the totals.
	order := slices.Clone(groups)
	slices.SortStableFunc(order, func(a, b *Group) int { return -cmp.Compare(excess(a, o.By), excess(b, o.By)) })
	now := o.By.MaxMean(&s.Spread)
	var made []*Plan
	plans := make(map[*Group]*Plan, len(groups))
	for _, g := range order {
		p := s.plan(g, o, totals)
		plans[g] = p
		if len(p.Moves) == 0 {
			continue
		}
		all := s.spreadAfter(append(made, p))
		if level := o.By.MaxMean(&all); now > 0 && level > max(now, p.Options.Goal)*(1+tolerance) {
			plans[g] = p.withoutMoves(now, level)
			continue
		}
		made = append(made, p)
		for i, x := range p.Shares {
			totals[x.Node] += o.By.share(x) - o.By.share(g.Shares[i])
		}
	}
	list := make([]*Plan, len(groups))
	for i, g := range groups {
		list[i] = plans[g]
	}
	return list
}

// withoutMoves returns a plan without its moves.
func (p *Plan) withoutMoves(before, after float64) *Plan {
	w := &Plan{
		Group: p.Group, Options: p.Options, Before: p.Before, After: p.Before, Shares: p.Group.Shares, Unplanned: true,
		MemoryUnknown: p.MemoryUnknown,
	}
	w.Why = fmt.Sprintf("balancing it (%d moves) makes the nodes less even over all replicas: max/mean %.2f to %.2f",
		len(p.Moves), before, after)
	return w
}

// spreadAfter returns the predicted spread of all nodes, over all replicas, after the plans.
func (s *Survey) spreadAfter(plans []*Plan) Spread {
	nodes, byNode := copyShares(s.Nodes)
	for _, p := range plans {
		for i, x := range p.Shares {
			byNode[x.Node].addDifference(p.Group.Shares[i], x)
		}
	}
	return spreadOf(nodes)
}

// addDifference adds the change of a share to a node's totals.
func (s *Share) addDifference(before, after *Share) {
	s.Sealed += after.Sealed - before.Sealed
	s.SealedRows += after.SealedRows - before.SealedRows
	s.Bytes += after.Bytes - before.Bytes
	s.IndexBytes += after.IndexBytes - before.IndexBytes
	s.Cost += after.Cost - before.Cost
}

// excess returns the load of the busiest node above the mean.
func excess(g *Group, by Measure) float64 {
	total := 0.0
	for _, x := range g.Shares {
		total += by.share(x)
	}
	if g.Spread.Nodes == 0 {
		return 0
	}
	return (by.MaxMean(&g.Spread) - 1) * total / float64(g.Spread.Nodes)
}

func (s *Survey) plan(g *Group, o Options, totals map[model.NodeID]float64) *Plan {
	o.Goal = cmp.Or(o.Goal, DefaultGoal)
	p := &Plan{Group: g, Options: o, Before: g.Spread, After: g.Spread, Shares: g.Shares}
	if why := p.unplannedReason(s); why != "" {
		p.Why, p.Unplanned = why, true
		return p
	}
	if p.Reached = o.By.MaxMean(&g.Spread) <= o.Goal; p.Reached {
		return p
	}
	items := s.items()[g]
	x := newProblem(g, items, o, totals, s.memoryRoom(p))
	for _, step := range x.solve() {
		it := &items[x.pieces[step.piece].item]
		p.Moves = append(p.Moves, Move{it.id, it.rows, it.size, it.cost, it.node, x.bins[step.to].node})
	}
	p.Shares = sharesAfterMoves(g, p.Moves, items)
	p.After = spreadOf(p.Shares)
	if p.Reached = o.By.MaxMean(&p.After) <= o.Goal*(1+tolerance); !p.Reached {
		p.Why = x.why()
	}
	return p
}

// unplannedReason returns the reason why a plan for a group is pointless or impossible, or "" if it is useful.
func (p *Plan) unplannedReason(s *Survey) string {
	takers, asked := 0, 0
	for _, x := range p.Group.Shares {
		if x.assignable {
			takers++
			if x.Known && !x.FromMetrics {
				asked++
			}
		}
	}
	unread := s.unreadParts()
	switch {
	case unread != "":
		return unread
	case p.Group.Replica == nil:
		return "no replica in the metadata"
	case takers == 0:
		return "none of its registered nodes takes segments"
	case asked == 0:
		return "the nodes did not report their segments"
	case p.Options.By == ByMemory && !s.Sized():
		return "the sizes of segments were not read"
	case s.Exclusive(p.Group):
		return "not planned: its nodes are split by channel, and segments stay within their channel's nodes"
	case takers < 2:
		return "only one node takes its segments"
	case asked < 2:
		return "only one of its nodes reported its segments"
	case p.Options.By == ByCost && p.Group.Cost() == 0 && p.Group.Rows() > 0:
		return "search cost unknown: its fields are unknown; use --by rows"
	case p.Options.By.MaxMean(&p.Group.Spread) == 0:
		return "it serves nothing movable"
	}
	return ""
}

// copyShares returns copies of shares, in order and by node.
func copyShares(shares []*Share) ([]*Share, map[model.NodeID]*Share) {
	list, byNode := make([]*Share, len(shares)), make(map[model.NodeID]*Share, len(shares))
	for i, s := range shares {
		next := *s
		list[i], byNode[s.Node] = &next, &next
	}
	return list, byNode
}

// sharesAfterMoves returns copies of a group's shares after moves. items must be sorted by id.
func sharesAfterMoves(g *Group, moves []Move, items []item) []*Share {
	list, shares := copyShares(g.Shares)
	for _, m := range moves {
		i, ok := slices.BinarySearchFunc(items, m.Segment, func(x item, id model.SegmentID) int {
			return cmp.Compare(x.id, id)
		})
		if !ok {
			continue
		}
		x := &items[i]
		for _, s := range []struct {
			*Share
			sign int64
		}{{shares[m.From], -1}, {shares[m.To], 1}} {
			s.Sealed += int(s.sign)
			s.SealedRows += s.sign * x.rows
			s.Bytes += s.sign * x.bytes
			s.IndexBytes += s.sign * (x.size - x.bytes)
			s.Cost += float64(s.sign) * x.cost
			s.BruteCost += float64(s.sign) * x.brute
		}
	}
	return list
}

// overloadThreshold is the fraction of its memory above which Milvus considers a node overloaded
// (queryCoord.overloadedMemoryThresholdPercentage, 90).
const overloadThreshold = 0.9

// memoryRoom returns the bytes of segments that each node can take. It records the nodes whose memory is
// unknown.
func (s *Survey) memoryRoom(p *Plan) map[model.NodeID]float64 {
	room := make(map[model.NodeID]float64)
	for _, x := range p.Group.Shares {
		if !x.assignable || !x.Known {
			continue
		}
		use, capacity, ok := x.Memory()
		if !ok || capacity == 0 {
			p.MemoryUnknown = append(p.MemoryUnknown, x.Node)
			continue
		}
		room[x.Node] = max(0, overloadThreshold*float64(capacity)-float64(use))
	}
	return room
}

// CallSegments is the number of segments in a call of load_balance. Since 2.4.7, QueryCoord moves at most one
// segment more than queryCoord.collectionBalanceSegmentBatchSize (5) per call (querycoordv2/balance,
// AssignSegment).
const CallSegments = 5

// Call is one call of Milvus's API that makes moves of a plan.
type Call struct {
	Database, Collection string
	From, To             model.NodeID
	Segments             []model.SegmentID
}

// Calls returns the calls that make the moves. Each call has one source and one destination, which leaves
// Milvus no choice. The segments must still be on the nodes of the survey.
func (p *Plan) Calls() []Call {
	g := p.Group
	if g.Collection == nil {
		return nil
	}
	var calls []Call
	for _, m := range p.Moves {
		i := slices.IndexFunc(calls, func(c Call) bool {
			return c.From == m.From && c.To == m.To && len(c.Segments) < CallSegments
		})
		if i < 0 {
			calls = append(calls, Call{g.Database, g.Collection.Name, m.From, m.To, nil})
			i = len(calls) - 1
		}
		calls[i].Segments = append(calls[i].Segments, m.Segment)
	}
	return calls
}

// String formats the call for pymilvus.
func (c Call) String() string {
	ids := make([]string, len(c.Segments))
	for i, id := range c.Segments {
		ids[i] = id.String()
	}
	return fmt.Sprintf("utility.load_balance(%s, %d, [%d], [%s])", shellquote.Python(c.Collection), c.From, c.To,
		strings.Join(ids, ", "))
}
