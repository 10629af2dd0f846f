package facts

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Uncollected are dropped segments that garbage collection has left.
type Uncollected struct {
	Segments, Undated int // Undated are those without a time of dropping
	Bytes             int64
	// Behind are those whose vchannel's checkpoint is behind their last write.
	Behind int
	// Late are these vchannels, by name.
	Late []string
	// Oldest is when the first of them was dropped, zero if none says.
	Oldest time.Time
	// First are the first of them by id, as many as a finding names.
	First []*model.Segment
}

// Uncollected are the segments of all collections that were dropped before a limit: where that is not recorded, that were written last
// before it.
func (f *Facts) Uncollected(limit model.TSO) (u Uncollected) {
	for _, id := range f.SegmentOwners() {
		d := f.DigestOf(id)
		sum := d.dropped.of(d, DroppedSegs, dropRule{}, limit)
		if sum.segments == 0 {
			continue
		}
		u.Segments, u.Undated, u.Bytes = u.Segments+sum.segments, u.Undated+sum.undated, u.Bytes+sum.bytes
		if at := sum.oldest.lowest().Time(); !at.IsZero() && (u.Oldest.IsZero() || at.Before(u.Oldest)) {
			u.Oldest = at
		}
		behind, late := f.behind(d, sum, limit)
		u.Behind += behind
		u.Late = append(u.Late, late...)
		u.First = append(u.First, first(d, DroppedSegs, dropRule{}, limit, func(*model.Segment) bool { return true })...)
	}
	slices.SortFunc(u.First, ByID)
	u.First = u.First[:min(len(u.First), MaxObjects)]
	slices.Sort(u.Late)
	return u
}

// behind counts the segments of a sum with a position beyond the checkpoint of their vchannel, and names these in any order. Checkpoints move all the time, and are
// beyond all that was dropped long ago: one by one segments are looked at only where that is not so.
func (f *Facts) behind(d *Digest, sum *dropSum, limit model.TSO) (count int, channels []string) {
	late := make(map[string]model.TSO)
	for name, last := range sum.furthest {
		if v := f.VChannel(name); v != nil && v.Removal == "non-removed" && v.Checkpoint.At < last {
			late[name] = v.Checkpoint.At
		}
	}
	if len(late) == 0 {
		return 0, nil
	}
	seen := make(map[string]bool)
	for _, s := range d.groups[DroppedSegs] {
		if at, ok := (dropRule{}).due(s); !ok || at >= limit {
			continue
		}
		if checkpoint, ok := late[s.VChannel]; ok && checkpoint < s.PositionAt {
			count++
			seen[s.VChannel] = true
		}
	}
	return count, slices.Collect(maps.Keys(seen))
}

// dropSum adds up dropped segments.
type dropSum struct {
	segments, undated int
	bytes             int64
	oldest            peak // of lows of the times of dropping
	// furthest is, by vchannel, a position that none of them is beyond.
	furthest map[string]model.TSO
}

// dropRule is when a dropped segment counts.
type dropRule struct{}

func (dropRule) due(s *model.Segment) (at model.TSO, ok bool) {
	if last := LastTouched(s); s.DroppedAt == 0 && !last.IsZero() {
		at = model.TSOFromTime(last)
	} else {
		at = s.DroppedAt
	}
	return at, at != 0
}

func (dropRule) add(_ *Digest, sum *dropSum, s *model.Segment) {
	sum.segments++
	sum.bytes += s.Bytes
	if s.DroppedAt == 0 {
		sum.undated++
	} else {
		sum.oldest.add(low(s.DroppedAt))
	}
	if sum.furthest == nil {
		sum.furthest = make(map[string]model.TSO)
	}
	sum.furthest[s.VChannel] = max(sum.furthest[s.VChannel], s.PositionAt)
}

func (dropRule) change(sum, left, came *dropSum) (next *dropSum, ok bool) {
	after := &dropSum{
		segments: sum.segments - left.segments + came.segments, undated: sum.undated - left.undated + came.undated,
		bytes: sum.bytes - left.bytes + came.bytes, oldest: sum.oldest, furthest: sum.furthest,
	}
	after.oldest.join(came.oldest)
	if after.oldest, ok = after.oldest.without(left.oldest, after.segments-after.undated); !ok {
		return nil, false
	}
	if len(came.furthest) > 0 {
		after.furthest = make(map[string]model.TSO, len(sum.furthest)+len(came.furthest))
		maps.Copy(after.furthest, sum.furthest)
		for name, last := range came.furthest {
			after.furthest[name] = max(after.furthest[name], last)
		}
	}
	return after, true
}
