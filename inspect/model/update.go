package model

import (
	"cmp"
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
	if next.SharesCatalog(c) {
		next.links = c.links
	} else {
		next.linkCatalog()
	}
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
	if changed := ChangedSegments(c.Segments, next.Segments); len(changed) > 0 {
		next.applySegments(c, changed)
	}
	return next
}

// SharesCatalog reports whether two clusters read the same parts, and whether all objects of the catalog that segments and
// others refer to, from databases to sessions, are the same ones in both.
func (c *Cluster) SharesCatalog(prev *Cluster) bool {
	return c.SharesSchemas(prev) && sameList(c.VChannels, prev.VChannels) && sameList(c.PChannels, prev.PChannels) &&
		sameList(c.LoadStates, prev.LoadStates) && sameList(c.Sessions, prev.Sessions) && sameList(c.Aliases, prev.Aliases) &&
		sameList(c.Replicas, prev.Replicas)
}

// SharesSchemas reports whether two clusters read the same parts, and whether what names segments and says which indexes they need is
// the same in both: databases, collections, partitions and definitions of indexes.
func (c *Cluster) SharesSchemas(prev *Cluster) bool {
	return c.Loaded == prev.Loaded && sameList(c.Databases, prev.Databases) && sameList(c.Collections, prev.Collections) &&
		sameList(c.Partitions, prev.Partitions) && sameList(c.Indexes, prev.Indexes)
}

// since says how the segments of a cluster differ from those of another one that it was made of. It holds on to the list of that one
// and not to more, so that clusters do not keep each other.
type since struct {
	segments []*Segment
	changes  []SegmentChange
}

// ChangedSegments are the segments that differ between this cluster and one of before, by id. From one refresh to the next they
// are known; else all segments are compared.
func (c *Cluster) ChangedSegments(before *Cluster) []SegmentChange {
	if c.since != nil && sameList(c.since.segments, before.Segments) {
		return c.since.changes
	}
	return ChangedSegments(before.Segments, c.Segments)
}

// sameList reports whether two lists are one.
func sameList[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// SegmentChange is a segment before and after; nil where it did not exist.
type SegmentChange struct{ Before, After *Segment }

// ID is the segment's.
func (c SegmentChange) ID() SegmentID { return cmp.Or(c.After, c.Before).ID }

// ChangedSegments are the segments that differ between two lists, both sorted by id, by id. Segments are looked into only
// where the lists differ: a million equal pointers take a millisecond.
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

// applySegments corrects groups and totals. Totals that change are copied first.
func (c *Cluster) applySegments(prev *Cluster, changes []SegmentChange) {
	c.totalsOfCollection = maps.Clone(prev.totalsOfCollection)
	c.totalsOfPartition = maps.Clone(prev.totalsOfPartition)
	c.totalsOfVChannel = maps.Clone(prev.totalsOfVChannel)
	owned := make(map[*Totals]bool)
	count := func(s *Segment, state IndexState, sign int64) {
		own(c.totalsOfCollection, s.Collection, owned).count(s, state, sign)
		own(c.totalsOfPartition, s.Partition, owned).count(s, state, sign)
		own(c.totalsOfVChannel, s.VChannel, owned).count(s, state, sign)
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
	forgetEmpty(c.totalsOfCollection, owned)
	forgetEmpty(c.totalsOfPartition, owned)
	forgetEmpty(c.totalsOfVChannel, owned)
	c.segmentsOf = regroup(prev.segmentsOf, changesByCollection(changes))
	c.since = &since{segments: prev.Segments, changes: changes}
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

// changesByCollection divides changes among collections. A segment that moved left one and came to another.
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

// regroup rebuilds the segment lists of the collections that changed. Changes are sorted by id.
func regroup(prev map[CollectionID][]*Segment, of map[CollectionID][]SegmentChange) map[CollectionID][]*Segment {
	groups := maps.Clone(prev)
	for id, changes := range of {
		if groups[id] = patch(prev[id], changes); len(groups[id]) == 0 {
			delete(groups, id)
		}
	}
	return groups
}

// patch is a list of segments after some changes, both by id. A segment that was there is sought by its pointer, from one change to the
// next: that reads the list itself, which is copied anyhow, and no segment of it.
func patch(list []*Segment, changes []SegmentChange) []*Segment {
	next := make([]*Segment, 0, len(list)+len(changes))
	for _, change := range changes {
		var at int
		if change.Before != nil {
			at = slices.Index(list, change.Before)
		} else {
			at, _ = slices.BinarySearchFunc(list, change.ID(), func(s *Segment, id SegmentID) int { return cmp.Compare(s.ID, id) })
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
