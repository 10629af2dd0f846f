package meta

import (
	"slices"

	"kitescope/inspect/model"
)

// segmentList holds the segments with a record, or the orphans, sorted by id. Clusters share it, so it is never
// changed in place but replaced.
type segmentList struct {
	all []*model.Segment
	// ids are the ids of all, in a separate array, because a search through the pointers waits for memory at every
	// step. It is valid until a segment is added or removed. It is nil until the first search: a cluster that is
	// read once never searches.
	ids []model.SegmentID
}

func (l *segmentList) index() []model.SegmentID {
	if l.ids == nil {
		l.ids = make([]model.SegmentID, len(l.all))
		for i, x := range l.all {
			l.ids[i] = x.ID
		}
	}
	return l.ids
}

// find returns the segment with an id, nil if there is none.
func (l *segmentList) find(id model.SegmentID) *model.Segment {
	if i, ok := slices.BinarySearch(l.index(), id); ok {
		return l.all[i]
	}
	return nil
}

// replace returns the list after some edits. ids are the sorted ids of edits. records selects segments with a
// record or orphans. A list without affected segments is returned unchanged.
func (l *segmentList) replace(edits map[model.SegmentID]*segmentEdit, ids []model.SegmentID, records bool) segmentList {
	wanted := func(id model.SegmentID) *model.Segment {
		if e := edits[id]; e.record == records {
			return e.segment // nil if nothing is left
		}
		return nil
	}
	old := l.index()
	next, at, moved := []*model.Segment(nil), 0, false
	for _, id := range ids {
		var there bool
		at, there = model.Seek(old, id, at)
		s := wanted(id)
		if moved = there != (s != nil); moved {
			break
		}
		if s != nil {
			if next == nil {
				next = slices.Clone(l.all)
			}
			next[at] = s
		}
	}
	switch {
	case moved:
		return l.merge(ids, wanted)
	case next == nil:
		return *l
	}
	return segmentList{all: next, ids: old}
}

// merge returns the list after segments were added or removed.
func (l *segmentList) merge(ids []model.SegmentID, wanted func(model.SegmentID) *model.Segment) segmentList {
	old := l.index()
	next := segmentList{
		all: make([]*model.Segment, 0, len(old)+len(ids)), ids: make([]model.SegmentID, 0, len(old)+len(ids)),
	}
	done := 0
	for _, id := range ids {
		at, there := model.Seek(old, id, done)
		next.all, next.ids = append(next.all, l.all[done:at]...), append(next.ids, old[done:at]...)
		if done = at; there {
			done++
		}
		if s := wanted(id); s != nil {
			next.all, next.ids = append(next.all, s), append(next.ids, id)
		}
	}
	next.all, next.ids = append(next.all, l.all[done:]...), append(next.ids, old[done:]...)
	return next
}
