package replay

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"kitescope/engine/index"
)

// Costs are what all requests cost since the target was made or ResetCosts, as far as their sessions are closed.
func (t *Target) Costs() *Costs {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.collectNodes()
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
		Segment: p.Info.ID, Partition: p.Info.PartitionName, Channel: p.Info.Channel, State: t.state(p), Node: t.serves(p.Info),
		Rows: int64(p.Data.Rows), Deleted: int64(p.Data.Deleted.Count()), Queries: of.queries, Time: of.time, Distances: of.distances, BruteForce: of.brute,
	}
	if t.indexed[i] {
		s.Index = p.indexName()
		if p.Data.Index.Effort() == index.ByEF {
			s.EF = of.ef
		}
	}
	if n := t.loaded.Layout.Node(s.Node); n != nil {
		s.NodeName = n.Name
	}
	return s
}

// ResetCosts forgets what requests cost so far: sessions start anew with their next request. It is for the end of a warm-up.
func (t *Target) ResetCosts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch.Add(1)
	t.total.reset(len(t.parts))
	t.slow.list = t.slow.list[:0]
}

// Slowest are the requests that took longest, the longest first.
func (t *Target) Slowest() []SlowQuery {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.collectNodes()
	list := make([]SlowQuery, len(t.slow.list))
	for i, q := range t.slow.list {
		q.Segments = slices.Clone(q.Segments)
		list[i] = q
	}
	return list
}

// addCosts are both together: of one target, at different times.
func addCosts(a, b *Costs) *Costs {
	if a == nil {
		return b
	}
	sum := &Costs{Queries: a.Queries + b.Queries, Wall: a.Wall + b.Wall, Reduce: a.Reduce + b.Reduce, Segments: slices.Clone(a.Segments)}
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

// addSlowest are the slowest of both, at most so many.
func addSlowest(a, b []SlowQuery, most int) []SlowQuery {
	s := slowest{most: most}
	for _, q := range slices.Concat(a, b) {
		if most > 0 {
			s.insert(q)
		}
	}
	return s.list
}

// sortCosts puts the dearest first.
func sortCosts(list []SegmentCost) {
	slices.SortStableFunc(list, func(a, b SegmentCost) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Segment, b.Segment))
	})
}

// By adds up segments by what name says of them, the dearest first.
func (c *Costs) By(name func(*SegmentCost) string) []Share {
	var list []Share
	at := map[string]int{}
	var all time.Duration
	for i := range c.Segments {
		s := &c.Segments[i]
		of := name(s)
		n, known := at[of]
		if !known {
			n = len(list)
			at[of], list = n, append(list, Share{Name: of})
		}
		list[n].Segments++
		list[n].Rows += s.Rows
		list[n].Time += s.Time
		list[n].Distances += s.Distances
		all += s.Time
	}
	for i := range list {
		if all > 0 {
			list[i].Part = float64(list[i].Time) / float64(all)
		}
	}
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	return list
}

// ByState adds up growing, sealed and indexed segments.
func (c *Costs) ByState() []Share {
	return c.By(func(s *SegmentCost) string { return s.State.String() })
}

// ByIndex adds up segments by the type of the index that their searches take.
func (c *Costs) ByIndex() []Share {
	return c.By(func(s *SegmentCost) string { return cmp.Or(s.Index, "row by row") })
}

// ByNode adds up the segments of each node.
func (c *Costs) ByNode() []Share {
	return c.By(func(s *SegmentCost) string {
		if s.Node == 0 {
			return "no node"
		}
		return cmp.Or(s.NodeName, strconv.FormatInt(s.Node, 10))
	})
}
