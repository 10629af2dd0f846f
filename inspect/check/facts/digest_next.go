package facts

import (
	"cmp"
	"slices"
	"sync"

	"kitescope/inspect/model"
)

// next is the digest of the same collection in another cluster: this one if nothing has changed, and where segments alone
// have, what they bring and take away is worked out, and not the rest.
func (d *Digest) next(c *model.Cluster, id model.CollectionID) *Digest {
	if d == nil || d.collection != c.Collection(id) || !slices.Equal(d.indexes, c.IndexesOf(id)) || !slices.Equal(d.partitions, c.PartitionsOf(id)) {
		return newDigest(c, id)
	}
	changes := c.ChangedSegmentsOf(id, d.segments)
	if len(changes) == 0 {
		return d
	}
	left, came := d.empty(), d.empty()
	for _, change := range changes {
		if change.Before != nil {
			left.add(c, change.Before)
		}
		if change.After != nil {
			came.add(c, change.After)
		}
	}
	next := &Digest{
		collection: d.collection, segments: c.SegmentsOf(id), indexes: d.indexes, partitions: d.partitions,
		Flushed: d.Flushed - left.Flushed + came.Flushed,
	}
	var ok bool
	if next.extremes, ok = d.extremes.change(&left.extremes, &came.extremes); !ok {
		next.extremes = noExtremes()
		for _, s := range next.segments {
			next.extremes.add(c, s)
		}
	}
	for g := range groups {
		next.groups[g] = replace(d.groups[g], left.groups[g], came.groups[g])
	}
	next.beyond.follow(&d.beyond, changes)
	next.merges.follow(next, &d.merges, left.groups[SmallSegs], came.groups[SmallSegs])
	next.missing.follow(next, &d.missing, left.groups[unbuiltSegs], came.groups[unbuiltSegs])
	next.dropped.follow(next, &d.dropped, left.groups[DroppedSegs], came.groups[DroppedSegs])
	return next
}

// change is what the extremes are without some segments that left and with some that came. ok is false if one of the greatest or
// smallest may have left, so that only all segments say which one is next. Nodes that build stand in the order of segments.
func (e *extremes) change(left, came *extremes) (next extremes, ok bool) {
	if len(left.Building) > 0 || len(came.Building) > 0 ||
		left.MaxRows == e.MaxRows && came.MaxRows < e.MaxRows ||
		left.Largest == e.Largest && came.Largest < e.Largest ||
		left.furthest == e.furthest && came.furthest < e.furthest ||
		left.NewestEngine == e.NewestEngine && came.NewestEngine < e.NewestEngine ||
		left.OldestEngine == e.OldestEngine && came.OldestEngine != e.OldestEngine ||
		left.LastBuilt.Equal(e.LastBuilt) && came.LastBuilt.Before(e.LastBuilt) {
		return extremes{}, false
	}
	next = *e
	next.MaxRows, next.Largest, next.furthest = max(e.MaxRows, came.MaxRows), max(e.Largest, came.Largest), max(e.furthest, came.furthest)
	next.NewestEngine = max(e.NewestEngine, came.NewestEngine)
	if came.OldestEngine >= 0 && (e.OldestEngine < 0 || came.OldestEngine < e.OldestEngine) {
		next.OldestEngine = came.OldestEngine
	}
	if came.LastBuilt.After(e.LastBuilt) {
		next.LastBuilt = came.LastBuilt
	}
	return next, true
}

// replace takes segments out of a list and puts others in, all by id. The list itself stays as it was. What leaves is sought by its
// pointer, from one to the next: that reads the list, which is copied anyhow, and looks into no segment.
func replace(list, out, in []*model.Segment) []*model.Segment {
	if len(out) == 0 && len(in) == 0 {
		return list
	}
	next := make([]*model.Segment, 0, len(list)-len(out)+len(in))
	for len(out) > 0 || len(in) > 0 {
		leaves := len(in) == 0 || len(out) > 0 && out[0].ID <= in[0].ID
		var id model.SegmentID
		var at int
		if leaves {
			id, at, out = out[0].ID, slices.Index(list, out[0]), out[1:]
		} else {
			id = in[0].ID
			at, _ = slices.BinarySearchFunc(list, id, func(s *model.Segment, id model.SegmentID) int { return cmp.Compare(s.ID, id) })
		}
		next, list = append(next, list[:at]...), list[at:]
		if leaves {
			list = list[1:]
		}
		if len(in) > 0 && in[0].ID == id {
			next, in = append(next, in[0]), in[1:]
		}
	}
	return append(next, list...)
}

// beyond are the segments of a collection, not dropped, with a position beyond some time; none in a cluster that is well.
type beyond struct {
	mutex    sync.Mutex
	limit    model.TSO        // zero if nobody asked
	segments []*model.Segment // by id
	furthest *model.Segment   // that has come furthest, of several the one of the smallest id; nil if there is none
}

// Position is how far a segment has come.
func Position(s *model.Segment) model.TSO { return max(s.StartAt, s.PositionAt) }

// has reports whether a segment belongs to it. The greatest timestamp of all stands for none.
func (b *beyond) has(s *model.Segment) bool {
	t := Position(s)
	return t > b.limit && t != model.MaxTSO && s.State.Healthy()
}

// add notes a segment that belongs to it as one that may have come furthest.
func (b *beyond) add(s *model.Segment) {
	if f := b.furthest; f == nil || Position(s) > Position(f) || Position(s) == Position(f) && s.ID < f.ID {
		b.furthest = s
	}
}

// follow makes it what it is after some changes.
func (b *beyond) follow(before *beyond, changes []model.SegmentChange) {
	before.mutex.Lock()
	defer before.mutex.Unlock()
	b.limit, b.furthest = before.limit, before.furthest
	var left, came []*model.Segment
	for _, change := range changes {
		if s := change.Before; s != nil && b.limit > 0 && b.has(s) {
			left = append(left, s)
		}
		if s := change.After; s != nil && b.limit > 0 && b.has(s) {
			came = append(came, s)
		}
	}
	b.segments = replace(before.segments, left, came)
	if slices.Contains(left, b.furthest) {
		b.furthest, came = nil, b.segments
	}
	for _, s := range came {
		b.add(s)
	}
}

// beyondOf are the segments beyond a limit, by id, and which of them has come furthest.
func (d *Digest) beyondOf(limit model.TSO) (segments []*model.Segment, furthest *model.Segment) {
	if d.furthest <= limit {
		return nil, nil
	}
	b := &d.beyond
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.limit != limit {
		b.limit, b.segments, b.furthest = limit, nil, nil
		for _, s := range d.segments {
			if b.has(s) {
				b.segments = append(b.segments, s)
				b.add(s)
			}
		}
	}
	return b.segments, b.furthest
}

// Beyond are the segments, not dropped, with a position beyond a limit: the first MaxObjects of them by id, the one that has come
// furthest, nil if there is none, and how many they are.
func (f *Facts) Beyond(limit model.TSO) (first []*model.Segment, furthest *model.Segment, count int) {
	var most beyond
	for _, id := range f.SegmentOwners() {
		list, last := f.DigestOf(id).beyondOf(limit)
		if last == nil {
			continue
		}
		most.add(last)
		count += len(list)
		first = append(first, list[:min(len(list), MaxObjects)]...)
	}
	slices.SortFunc(first, ByID)
	return first[:min(len(first), MaxObjects)], most.furthest, count
}
