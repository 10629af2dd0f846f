package meta

import (
	"slices"

	"kitescope/inspect/model"
)

// segmentList is the segments of one kind, those with a record or the orphans, by id. Clusters share all: it is never changed in
// place, but replaced.
type segmentList struct {
	all []*model.Segment
	// ids are those of all, in an array by themselves: a search that looks each id up through its pointer waits for memory at every
	// step. It lasts for as long as no segment comes or goes; nil until somebody searches, as a cluster that is read once never does.
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

// find is the segment of an id, nil if there is none.
func (l *segmentList) find(id model.SegmentID) *model.Segment {
	if i, ok := slices.BinarySearch(l.index(), id); ok {
		return l.all[i]
	}
	return nil
}

// replace is the list after some edits, of which ids are those in rising order: records says of which kind of segments it is. A list
// that no edit concerns stays the same one.
func (l *segmentList) replace(edits map[model.SegmentID]*segmentEdit, ids []model.SegmentID, records bool) segmentList {
	wanted := func(id model.SegmentID) *model.Segment {
		if e := edits[id]; e.record == records {
			return e.segment // nil if nothing of it is left
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

// merge is the list where segments come or go.
func (l *segmentList) merge(ids []model.SegmentID, wanted func(model.SegmentID) *model.Segment) segmentList {
	old := l.index()
	next := segmentList{all: make([]*model.Segment, 0, len(old)+len(ids)), ids: make([]model.SegmentID, 0, len(old)+len(ids))}
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
