package history

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/words"
)

// segmentBefore is what is kept of a segment.
type segmentBefore struct {
	state     model.SegmentState
	level     model.SegmentLevel
	invisible bool
	vchannel  string
	object    int32 // in the pool, from 1 on; 0: nothing was told of it
}

// same reports whether nothing has changed that would be told.
func (s segmentBefore) same(as segmentBefore) bool {
	return s.state == as.state && s.level == as.level && s.invisible == as.invisible && s.vchannel == as.vchannel
}

// grows is the vchannel that a segment takes rows from, "" if none.
func (s segmentBefore) grows() string {
	if s.state == model.SegmentGrowing || s.state == model.SegmentSealed || s.state == model.SegmentFlushing {
		return s.vchannel
	}
	return ""
}

// setSegment keeps what a segment is now; the zero value is nothing.
func (r *Reader) setSegment(id model.SegmentID, old, now segmentBefore) {
	if from, to := old.grows(), now.grows(); from != to {
		if r.growing[from]--; r.growing[from] <= 0 {
			delete(r.growing, from)
		}
		if to != "" {
			r.growing[to]++
			if p := r.pace[to]; p != nil {
				p.held = true
			}
		}
	}
	if now == (segmentBefore{}) {
		delete(r.segments, id)
		return
	}
	r.segments[id] = now
}

func segmentRef(id model.SegmentID) model.Ref {
	return model.Ref{Resource: "segments", ID: id.String()}
}

func (r *Reader) takeSegment(s *model.Segment, gone bool) bool {
	old, was := r.segments[s.ID]
	now := segmentBefore{state: s.State, level: s.Level, invisible: s.Invisible, vchannel: s.VChannel, object: old.object}
	switch {
	case gone && !was, !gone && was && old.same(now):
		return false
	case r.beginning:
		r.setSegment(s.ID, old, now)
		return false
	case old.object == 0:
		now.object = r.pool.object(segmentRef(s.ID)) + 1
	}
	n := news{place: now.object, collection: s.Collection, before: stateText(old, was)}
	if gone {
		r.setSegment(s.ID, old, segmentBefore{})
		n.kind = segmentRemoved
		return r.tell(n)
	}
	r.setSegment(s.ID, old, now)
	n.after = stateText(now, true)
	if !was {
		return r.newSegment(s, n)
	}
	switch {
	case old.state == now.state:
		n.kind = segmentChanged
	case now.state == model.SegmentSealed:
		n.kind = segmentSealed
	case now.state == model.SegmentFlushing:
		n.kind = segmentFlushing
	case now.state == model.SegmentFlushed:
		n.kind = segmentFlushed
	case now.state == model.SegmentDropped:
		n.kind = segmentDropped
		r.dropped[s.ID] = len(r.groups.entries)
	default:
		n.kind = segmentChanged
	}
	if now.state != model.SegmentDropped && s.Rows > 0 {
		n.detail = words.Count(s.Rows, "row", "rows")
	}
	return r.tell(n)
}

// newSegment tells of a segment that was not there; one that a compaction made, from which.
func (r *Reader) newSegment(s *model.Segment, n news) bool {
	n.kind = segmentCreated
	if len(s.CompactedFrom) == 0 {
		n.detail = onChannel(s.VChannel)
		return r.tell(n)
	}
	n.kind = segmentCompacted
	const most = 8
	names := make([]string, 0, len(s.CompactedFrom))
	for _, from := range s.CompactedFrom {
		names = append(names, from.String())
		r.compacted[from] = s.ID
	}
	n.detail = "from " + words.FirstOf(names, most, ", ") + ", " + words.Count(s.Rows, "row", "rows")
	return r.tell(n)
}

func onChannel(vchannel string) string {
	if vchannel == "" {
		return ""
	}
	return "on " + vchannel
}

// endSegments says of segments that were dropped what they were compacted into: the record of that one may come after theirs.
func (r *Reader) endSegments() {
	if len(r.dropped) == 0 {
		return
	}
	for id, i := range r.dropped {
		if into, ok := r.compacted[id]; ok {
			r.groups.entries[i].detail = r.pool.text("compacted into " + into.String())
			delete(r.compacted, id)
		}
	}
	clear(r.dropped)
}

// stateText is "Flushed", or "Flushed, L2, invisible" where that is out of the ordinary.
func stateText(s segmentBefore, was bool) string {
	if !was {
		return ""
	}
	text := s.state.String()
	if s.level == model.LevelL0 || s.level == model.LevelL2 {
		text += ", " + s.level.String()
	}
	if s.invisible {
		text += ", invisible"
	}
	return text
}

// buildKey is an index on a segment.
type buildKey struct {
	segment model.SegmentID
	build   model.BuildID
}

// takeIndex tells when the files of an index are finished, or cannot be made.
func (r *Reader) takeIndex(x *model.SegmentIndex, gone bool) bool {
	key := buildKey{x.Segment, x.Build}
	if gone {
		delete(r.builds, key)
		return false
	}
	old := r.builds[key]
	r.builds[key] = x.State
	if r.beginning || old == x.State {
		return false
	}
	n := news{collection: x.Collection, before: indexStateText(old), after: x.State.String()}
	switch x.State {
	case model.IndexFinished:
		n.kind = indexBuilt
		n.detail = "on segment " + x.Segment.String()
		if x.Node != 0 {
			n.detail += " by node " + strconv.FormatInt(int64(x.Node), 10)
		}
	case model.IndexFailed, model.IndexRetry:
		n.kind = indexFailed
		n.detail = x.FailReason
	default:
		return false
	}
	n.object = model.Ref{
		Resource: "segment-indexes", Name: r.indexes[x.Index], ID: x.Segment.String() + "/" + x.Index.String() + "/" + x.Build.String(),
	}
	return r.tell(n)
}

func indexStateText(s model.IndexState) string {
	if s == model.IndexStateNone {
		return ""
	}
	return s.String()
}
