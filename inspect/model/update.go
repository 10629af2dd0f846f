package model

import (
	"maps"
	"slices"
	"time"
)

// At returns the same cluster as of a later revision at which nothing changed.
func (c *Cluster) At(revision int64, taken time.Time) *Cluster {
	next := *c
	next.Origin.Revision, next.Origin.Taken = revision, taken
	return &next
}

// Update builds the cluster that follows c. Slices of p that c has too, and segments
// that both point to, cost next to nothing: totals are corrected, not added up anew.
// p.Segments must be sorted by id.
func (c *Cluster) Update(p Parts) *Cluster {
	next := &Cluster{Parts: p, onces: &onces{}}
	next.sort()
	next.linkCatalog()
	if p.Loaded != c.Loaded || !slices.Equal(p.Indexes, c.Indexes) {
		next.segmentsOf = groupSegments(next.Segments) // the index state of any segment may differ
		next.addUp()
		return next
	}
	next.segmentsOf = c.segmentsOf
	next.totals = c.totals
	next.totalsOfCollection = c.totalsOfCollection
	next.totalsOfPartition = c.totalsOfPartition
	next.totalsOfVChannel = c.totalsOfVChannel
	if changed := changedSegments(c.Segments, next.Segments); len(changed) > 0 {
		next.applySegments(c, changed)
	}
	return next
}

// segmentChange is a segment before and after; nil where it did not exist.
type segmentChange struct{ before, after *Segment }

// changedSegments walks two lists, both sorted by id. Segments are looked into only
// where the lists differ: a million equal pointers take a millisecond.
func changedSegments(before, after []*Segment) []segmentChange {
	var changes []segmentChange
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		b, a := before[i], after[j]
		switch {
		case b == a:
			i++
			j++
		case b.ID == a.ID:
			changes = append(changes, segmentChange{b, a})
			i++
			j++
		case b.ID < a.ID:
			changes = append(changes, segmentChange{before: b})
			i++
		default:
			changes = append(changes, segmentChange{after: a})
			j++
		}
	}
	for ; i < len(before); i++ {
		changes = append(changes, segmentChange{before: before[i]})
	}
	for ; j < len(after); j++ {
		changes = append(changes, segmentChange{after: after[j]})
	}
	return changes
}

// applySegments corrects groups and totals. Totals that change are copied first.
func (c *Cluster) applySegments(prev *Cluster, changes []segmentChange) {
	c.totalsOfCollection = maps.Clone(prev.totalsOfCollection)
	c.totalsOfPartition = maps.Clone(prev.totalsOfPartition)
	c.totalsOfVChannel = maps.Clone(prev.totalsOfVChannel)
	owned := make(map[*Totals]bool)
	removed := make(map[CollectionID]map[SegmentID]bool)
	added := make(map[CollectionID][]*Segment)
	count := func(s *Segment, state IndexState, sign int64) {
		own(c.totalsOfCollection, s.Collection, owned).count(s, state, sign)
		own(c.totalsOfPartition, s.Partition, owned).count(s, state, sign)
		own(c.totalsOfVChannel, s.VChannel, owned).count(s, state, sign)
		c.totals.count(s, state, sign)
	}
	for _, change := range changes {
		if s := change.before; s != nil {
			count(s, prev.IndexState(s), -1)
			if removed[s.Collection] == nil {
				removed[s.Collection] = make(map[SegmentID]bool)
			}
			removed[s.Collection][s.ID] = true
		}
		if s := change.after; s != nil {
			count(s, c.IndexState(s), 1)
			added[s.Collection] = append(added[s.Collection], s)
		}
	}
	forgetEmpty(c.totalsOfCollection, owned)
	forgetEmpty(c.totalsOfPartition, owned)
	forgetEmpty(c.totalsOfVChannel, owned)
	c.segmentsOf = regroup(prev.segmentsOf, removed, added)
}

// own returns the totals of a key for writing.
func own[K comparable](m map[K]*Totals, k K, owned map[*Totals]bool) *Totals {
	t := m[k]
	if t != nil && owned[t] {
		return t
	}
	fresh := new(Totals)
	if t != nil {
		*fresh = *t
	}
	m[k] = fresh
	owned[fresh] = true
	return fresh
}

// forgetEmpty drops totals of what has no segment any more, as in a cluster built anew.
func forgetEmpty[K comparable](m map[K]*Totals, owned map[*Totals]bool) {
	maps.DeleteFunc(m, func(_ K, t *Totals) bool { return owned[t] && *t == Totals{} })
}

// regroup rebuilds the segment lists of the collections that changed.
func regroup(prev map[CollectionID][]*Segment, removed map[CollectionID]map[SegmentID]bool, added map[CollectionID][]*Segment) map[CollectionID][]*Segment {
	groups := maps.Clone(prev)
	touched := maps.Clone(added)
	for id := range removed {
		touched[id] = added[id]
	}
	for id, more := range touched {
		list := make([]*Segment, 0, len(prev[id])+len(more))
		for _, s := range prev[id] {
			if !removed[id][s.ID] {
				list = append(list, s)
			}
		}
		list = append(list, more...)
		order(list, bySegmentID)
		if len(list) == 0 {
			delete(groups, id)
			continue
		}
		groups[id] = list
	}
	return groups
}
