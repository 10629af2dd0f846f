package replay

import (
	"cmp"
	"slices"

	"kitescope/engine/index"
)

// Costs returns the cost of all requests since the target was created or ResetCosts was called. Only closed
// sessions count.
func (t *Target) Costs() *Costs {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &Costs{Queries: t.total.queries, Reduce: t.total.reduce}
	for i, p := range t.parts {
		s := t.segmentCost(i, p)
		c.Wall += s.Time
		c.Segments = append(c.Segments, s)
	}
	sortCosts(c.Segments)
	return c
}

func (t *Target) segmentCost(i int, p *Part) SegmentCost {
	of := t.total.parts[i]
	s := SegmentCost{
		Segment: p.Info.ID, Partition: p.Info.PartitionName, Channel: p.Info.Channel, State: t.state(p),
		Node: t.serves(p.Info),
		Rows: int64(p.Data.Rows), Deleted: int64(p.Data.Deleted.Count()), Queries: of.queries, Time: of.time,
		Distances: of.distances, BruteForce: of.brute,
	}
	if t.indexed[i] {
		s.Index = p.indexName()
		if p.Data.Index.Effort() == index.ByEF {
			s.EF = of.ef
		}
	} else if p.Info.State == Unindexed {
		s.Index = p.Info.Index.Type // FLAT is searched row by row
	}
	if n := t.loaded.Layout.Node(s.Node); n != nil {
		s.NodeName = n.Name
	}
	return s
}

// ResetCosts discards the costs so far, including those of open sessions. It is called at the end of a warm-up.
func (t *Target) ResetCosts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch.Add(1)
	t.total.reset(len(t.parts))
	t.slow.list = t.slow.list[:0]
}

// Slowest returns the slowest requests, the slowest first.
func (t *Target) Slowest() []SlowQuery {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]SlowQuery, len(t.slow.list))
	for i, q := range t.slow.list {
		q.Segments = slices.Clone(q.Segments)
		list[i] = q
	}
	return list
}

// addCosts returns the sum of the costs of a target at different times.
func addCosts(a, b *Costs) *Costs {
	if a == nil {
		return b
	}
	sum := &Costs{
		Queries: a.Queries + b.Queries, Wall: a.Wall + b.Wall, Reduce: a.Reduce + b.Reduce,
		Segments: slices.Clone(a.Segments),
	}
	at := make(map[int64]int, len(sum.Segments))
	for i := range sum.Segments {
		at[sum.Segments[i].Segment] = i
	}
	for i := range b.Segments {
		s, other := &sum.Segments[at[b.Segments[i].Segment]], &b.Segments[i]
		s.Queries += other.Queries
		s.Time += other.Time
		s.Distances += other.Distances
		s.BruteForce += other.BruteForce
		s.EF = max(s.EF, other.EF)
	}
	sortCosts(sum.Segments)
	return sum
}

// addSlowest returns the slowest queries of both lists, at most limit.
func addSlowest(a, b []SlowQuery, limit int) []SlowQuery {
	s := slowest{limit: limit}
	for _, q := range slices.Concat(a, b) {
		if limit > 0 {
			s.insert(q)
		}
	}
	return s.list
}

// sortCosts sorts segments by descending time.
func sortCosts(list []SegmentCost) {
	slices.SortStableFunc(list, func(a, b SegmentCost) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Segment, b.Segment))
	})
}
