package model

// GrowingOnce counts the growing segments and rows of a shard leader that nobody serves as sealed. During a hand-over rows are in memory
// twice: the leader lets go of a growing segment only seconds after its sealed copy, or what a compaction made of it, was loaded
// (querynodev2/delegator: a new target), and a search counts them once.
func (c *Cluster) GrowingOnce(v ShardView) (segments int, rows int64) {
	segments, rows = len(v.Growing), v.GrowingRows
	if segments == 0 {
		return 0, rows
	}
	each := v.GrowingRows / int64(segments) // nodes say the sum
	var results map[SegmentID][]SegmentID
	for _, g := range v.Growing {
		s := c.Segment(g.ID)
		if s != nil && s.State == SegmentGrowing {
			continue
		}
		if results == nil {
			results = c.compactions(v.Collection)
		}
		if !c.servedSealed(g.ID, results, 0) {
			continue
		}
		segments--
		if s != nil && s.Rows > 0 {
			rows -= s.Rows
		} else {
			rows -= each
		}
	}
	if segments == 0 {
		return 0, 0
	}
	return segments, max(0, rows)
}

// compactions are what segments of a collection were compacted into, by source.
func (c *Cluster) compactions(id CollectionID) map[SegmentID][]SegmentID {
	results := make(map[SegmentID][]SegmentID)
	for _, s := range c.SegmentsOf(id) {
		for _, from := range s.CompactedFrom {
			results[from] = append(results[from], s.ID)
		}
	}
	return results
}

// generations bounds how far compactions of compactions are followed.
const generations = 16

// servedSealed reports whether a query node has a segment sealed, or what became of it.
func (c *Cluster) servedSealed(id SegmentID, results map[SegmentID][]SegmentID, depth int) bool {
	for _, x := range c.Runtime.Served(id) {
		if x.Sealed != nil {
			return true
		}
	}
	if depth == generations {
		return false
	}
	for _, result := range results[id] {
		if c.servedSealed(result, results, depth+1) {
			return true
		}
	}
	return false
}
