package history

import (
	"slices"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// segmentBefore is what is kept of a segment. There may be hundreds of thousands: it has no pointer.
type segmentBefore struct {
	state     model.SegmentState
	level     model.SegmentLevel
	invisible bool
	vchannel  int32 // its number, 0: none
	object    int32 // in the pool, from 1 on; 0: nothing was told of it
}

// same reports whether nothing has changed that would be told.
func (s segmentBefore) same(as segmentBefore) bool {
	return s.state == as.state && s.level == as.level && s.invisible == as.invisible && s.vchannel == as.vchannel
}

// grows is the vchannel that a segment takes rows from, 0 if none.
func (s segmentBefore) grows() int32 {
	if s.state == model.SegmentGrowing || s.state == model.SegmentSealed || s.state == model.SegmentFlushing {
		return s.vchannel
	}
	return 0
}

// segmentTable has what is kept of segments, by id.
type segmentTable struct {
	at   map[model.SegmentID]int32
	list []segmentBefore
	free []int32 // places of segments that are gone
}

// find is what is kept of a segment; nil if it is not there. It is valid until the next add.
func (t *segmentTable) find(id model.SegmentID) *segmentBefore {
	if i, ok := t.at[id]; ok {
		return &t.list[i]
	}
	return nil
}

func (t *segmentTable) add(id model.SegmentID, s segmentBefore) {
	if n := len(t.free); n > 0 {
		t.at[id], t.list[t.free[n-1]] = t.free[n-1], s
		t.free = t.free[:n-1]
		return
	}
	t.at[id] = int32(len(t.list))
	t.list = append(t.list, s)
}

func (t *segmentTable) remove(id model.SegmentID) {
	t.free = append(t.free, t.at[id])
	delete(t.at, id)
}

// keep keeps what a segment is now, the zero value being nothing; old is nil if it was not there.
func (r *Reader) keep(id model.SegmentID, old *segmentBefore, now segmentBefore) {
	from := int32(0)
	if old != nil {
		from = old.grows()
	}
	switch gone := now == (segmentBefore{}); {
	case gone && old != nil:
		r.segments.remove(id)
	case gone:
	case old != nil:
		*old = now
	default:
		r.segments.add(id, now)
	}
	r.growOn(from, now.grows())
}

// growOn counts a segment that took rows from one vchannel and takes them from another.
func (r *Reader) growOn(from, to int32) {
	if from == to {
		return
	}
	if from != 0 {
		r.pace(from).growing--
	}
	if to != 0 {
		p := r.pace(to)
		p.growing++
		p.held = true
	}
}

func (r *Reader) takeSegment(s *meta.SegmentBrief, gone bool) bool {
	old := r.segments.find(s.ID)
	var before segmentBefore
	if old != nil {
		before = *old
	}
	now := segmentBefore{state: s.State, level: s.Level, invisible: s.Invisible, vchannel: s.VChannel, object: before.object}
	switch {
	case gone && old == nil, !gone && old != nil && before.same(now):
		return false
	case r.beginning:
		r.keep(s.ID, old, now)
		return false
	case now.object == 0:
		now.object = r.pool.segment(s.ID) + 1
	}
	e := entry{object: now.object - 1, collection: s.Collection}
	if old != nil {
		e.before = r.pool.state(before)
	}
	if gone {
		r.keep(s.ID, old, segmentBefore{})
		e.kind = segmentRemoved
		return r.enter(&e)
	}
	r.keep(s.ID, old, now)
	if e.after = r.pool.state(now); old == nil {
		return r.newSegment(s, &e)
	}
	switch e.kind = segmentKind(before.state, now.state); {
	case e.kind == segmentDropped:
		r.dropped = append(r.dropped, droppedSegment{s.ID, len(r.groups.entries)})
	case now.state != model.SegmentDropped && s.Rows > 0:
		e.form, e.detail = detailRows, s.Rows
	}
	return r.enter(&e)
}

// segmentKind is what happened to a segment whose state became another, or of which something else did.
func segmentKind(from, to model.SegmentState) kindID {
	switch {
	case from == to:
	case to == model.SegmentSealed:
		return segmentSealed
	case to == model.SegmentFlushing:
		return segmentFlushing
	case to == model.SegmentFlushed:
		return segmentFlushed
	case to == model.SegmentDropped:
		return segmentDropped
	}
	return segmentChanged
}

// newSegment tells of a segment that was not there; one that a compaction made, from which.
func (r *Reader) newSegment(s *meta.SegmentBrief, e *entry) bool {
	e.kind = segmentCreated
	if len(s.CompactedFrom) == 0 {
		e.setDetail(r.onChannel(s.VChannel))
		return r.enter(e)
	}
	e.kind = segmentCompacted
	const most = 8
	names := make([]string, 0, len(s.CompactedFrom))
	for _, from := range s.CompactedFrom {
		names = append(names, from.String())
		r.compacted[from] = s.ID
	}
	e.setDetail(r.pool.text("from " + words.FirstOf(names, most, ", ") + ", " + words.Count(s.Rows, "row", "rows")))
	return r.enter(e)
}

// onChannel says which vchannel that is.
func (r *Reader) onChannel(vchannel int32) text {
	if vchannel == 0 {
		return 0
	}
	p := r.pace(vchannel)
	if p.on == 0 {
		p.on = r.pool.text("on " + r.vchannels[vchannel])
	}
	return p.on
}

// droppedSegment is a segment that was dropped in this revision, and its entry.
type droppedSegment struct {
	id    model.SegmentID
	entry int
}

// endSegments says of segments that were dropped what they were compacted into: the record of that one may come after theirs.
func (r *Reader) endSegments() {
	for _, d := range slices.Backward(r.dropped) {
		if into, ok := r.compacted[d.id]; ok {
			e := &r.groups.entries[d.entry]
			e.form, e.detail = detailCompacted, int64(into)
			delete(r.compacted, d.id)
		}
	}
	r.dropped = r.dropped[:0]
}

// stateText is "Flushed", or "Flushed, L2, invisible" where that is out of the ordinary.
func stateText(s segmentBefore) string {
	text := s.state.String()
	if s.level == model.LevelL0 || s.level == model.LevelL2 {
		text += ", " + s.level.String()
	}
	if s.invisible {
		text += ", invisible"
	}
	return text
}
