package model

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// At returns a copy of the cluster as of a later revision without changes in between.
func (c *Cluster) At(revision int64, taken time.Time) *Cluster {
	next := *c
	next.Origin.Revision, next.Origin.Taken = revision, taken
	return &next
}

// Update builds the cluster that follows c. Slices and segments that p shares with c cost almost nothing,
// because totals are adjusted instead of recomputed. p.Segments must be sorted by id.
func (c *Cluster) Update(p Parts) *Cluster {
	next := &Cluster{Parts: p, cache: &derivedCache{}}
	next.sort()
	if next.SharesCatalog(c) {
		next.links = c.links
	} else {
		next.linkCatalog()
	}
	if p.Loaded != c.Loaded || !slices.Equal(p.Indexes, c.Indexes) {
		next.segmentsOf = groupSegments(next.Segments) // index states may change
		next.addUp()
		return next
	}
	next.segmentsOf = c.segmentsOf
	next.totals = c.totals
	next.totalsOfCollection = c.totalsOfCollection
	next.totalsOfPartition = c.totalsOfPartition
	next.totalsOfVChannel = c.totalsOfVChannel
	if changed := ChangedSegments(c.Segments, next.Segments); len(changed) > 0 {
		next.applySegments(c, changed)
	}
	return next
}

// SharesCatalog reports whether two clusters have the same loaded parts and the same catalog objects, from
// databases to sessions and replicas.
func (c *Cluster) SharesCatalog(prev *Cluster) bool {
	return c.SharesSchemas(prev) && sameList(c.VChannels, prev.VChannels) && sameList(c.PChannels, prev.PChannels) &&
		sameList(c.LoadStates, prev.LoadStates) && sameList(c.Sessions, prev.Sessions) &&
		sameList(c.Aliases, prev.Aliases) &&
		sameList(c.Replicas, prev.Replicas)
}

// SharesSchemas reports whether two clusters have the same loaded parts, databases, collections, partitions and
// index definitions. These determine the names of segments and the indexes that they need.
func (c *Cluster) SharesSchemas(prev *Cluster) bool {
	return c.Loaded == prev.Loaded && sameList(c.Databases, prev.Databases) &&
		sameList(c.Collections, prev.Collections) &&
		sameList(c.Partitions, prev.Partitions) && sameList(c.Indexes, prev.Indexes)
}

// segmentDelta holds the changes of segments relative to an earlier cluster. It references only that cluster's segment
// list, which keeps clusters from retaining each other in memory.
type segmentDelta struct {
	segments []*Segment
	changes  []SegmentChange
}

// ChangedSegments returns the segments that differ from those of an earlier cluster, by id. For the previous
// refresh the changes are cached. Otherwise all segments are compared.
func (c *Cluster) ChangedSegments(before *Cluster) []SegmentChange {
	if c.delta != nil && sameList(c.delta.segments, before.Segments) {
		return c.delta.changes
	}
	return ChangedSegments(before.Segments, c.Segments)
}

// sameList reports whether two slices have the same length and the same backing array.
func sameList[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// SegmentChange is a segment before and after a change. Before is nil if it was added, After if it was removed.
type SegmentChange struct{ Before, After *Segment }

// ID returns the id of the segment.
func (c SegmentChange) ID() SegmentID { return cmp.Or(c.After, c.Before).ID }

// ChangedSegments returns the segments that differ between two lists sorted by id, by id. It compares pointers
// first: a million equal pointers take a millisecond.
func ChangedSegments(before, after []*Segment) []SegmentChange {
	var changes []SegmentChange
	if sameList(before, after) {
		return nil
	}
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		b, a := before[i], after[j]
		switch {
		case b == a:
			i++
			j++
		case b.ID == a.ID:
			changes = append(changes, SegmentChange{b, a})
			i++
			j++
		case b.ID < a.ID:
			changes = append(changes, SegmentChange{Before: b})
			i++
		default:
			changes = append(changes, SegmentChange{After: a})
			j++
		}
	}
	for ; i < len(before); i++ {
		changes = append(changes, SegmentChange{Before: before[i]})
	}
	for ; j < len(after); j++ {
		changes = append(changes, SegmentChange{After: after[j]})
	}
	return changes
}

// applySegments adjusts groups and totals. It copies totals before changing them.
func (c *Cluster) applySegments(prev *Cluster, changes []SegmentChange) {
	c.totalsOfCollection = maps.Clone(prev.totalsOfCollection)
	c.totalsOfPartition = maps.Clone(prev.totalsOfPartition)
	c.totalsOfVChannel = maps.Clone(prev.totalsOfVChannel)
	owned := make(map[*Totals]bool)
	count := func(s *Segment, state IndexState, sign int64) {
		writableTotals(c.totalsOfCollection, s.Collection, owned).count(s, state, sign)
		writableTotals(c.totalsOfPartition, s.Partition, owned).count(s, state, sign)
		writableTotals(c.totalsOfVChannel, s.VChannel, owned).count(s, state, sign)
		c.totals.count(s, state, sign)
	}
	for _, change := range changes {
		if s := change.Before; s != nil {
			count(s, prev.IndexState(s), -1)
		}
		if s := change.After; s != nil {
			count(s, c.IndexState(s), 1)
		}
	}
	deleteEmpty(c.totalsOfCollection, owned)
	deleteEmpty(c.totalsOfPartition, owned)
	deleteEmpty(c.totalsOfVChannel, owned)
	c.segmentsOf = regroup(prev.segmentsOf, changesByCollection(changes))
	c.delta = &segmentDelta{segments: prev.Segments, changes: changes}
}

// writableTotals returns writable totals for a key.
func writableTotals[K comparable](m map[K]*Totals, k K, owned map[*Totals]bool) *Totals {
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

// deleteEmpty deletes totals that became empty, because Build has no entries without segments.
func deleteEmpty[K comparable](m map[K]*Totals, owned map[*Totals]bool) {
	maps.DeleteFunc(m, func(_ K, t *Totals) bool { return owned[t] && *t == Totals{} })
}

// changesByCollection groups changes by collection. A segment that moved is removed from one and added to the
// other.
func changesByCollection(changes []SegmentChange) map[CollectionID][]SegmentChange {
	of := make(map[CollectionID][]SegmentChange)
	for _, change := range changes {
		b, a := change.Before, change.After
		if b != nil && a != nil && b.Collection != a.Collection {
			of[b.Collection] = append(of[b.Collection], SegmentChange{Before: b})
			change.Before = nil
		}
		in := cmp.Or(a, b).Collection
		of[in] = append(of[in], change)
	}
	return of
}

// regroup returns the segment lists with changes applied. Changes are sorted by id.
func regroup(prev map[CollectionID][]*Segment, changed map[CollectionID][]SegmentChange) map[CollectionID][]*Segment {
	groups := maps.Clone(prev)
	for id, changes := range changed {
		if groups[id] = patch(prev[id], changes); len(groups[id]) == 0 {
			delete(groups, id)
		}
	}
	return groups
}

// patch applies changes to a list of segments. Both are sorted by id. It finds an existing segment by its
// pointer, starting at the previous change. This reads the list, which is copied anyway, but no segments.
func patch(list []*Segment, changes []SegmentChange) []*Segment {
	next := make([]*Segment, 0, len(list)+len(changes))
	for _, change := range changes {
		var at int
		if change.Before != nil {
			at = slices.Index(list, change.Before)
		} else {
			at, _ = slices.BinarySearchFunc(list, change.ID(), func(s *Segment, id SegmentID) int {
				return cmp.Compare(s.ID, id)
			})
		}
		next = append(next, list[:at]...)
		if list = list[at:]; change.Before != nil {
			list = list[1:]
		}
		if change.After != nil {
			next = append(next, change.After)
		}
	}
	return append(next, list...)
}
