package history

import (
	"slices"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// segmentState holds the last known fields of a segment.
type segmentState struct {
	state     model.SegmentState
	level     model.SegmentLevel
	invisible bool
	vchannel  string
}

// growingChannel returns the vchannel that a segment takes rows from, "" if none.
func (s *segmentState) growingChannel() string {
	if s.state == model.SegmentGrowing || s.state == model.SegmentSealed || s.state == model.SegmentFlushing {
		return s.vchannel
	}
	return ""
}

// moveGrowing moves a growing segment from one vchannel to another, "" meaning none.
func (r *Reader) moveGrowing(from, to string) {
	if from == to {
		return
	}
	if from != "" {
		r.checkpoint(from).growing--
	}
	if to != "" {
		p := r.checkpoint(to)
		p.growing++
		p.hadGrowing = true
	}
}

func (r *Reader) takeSegment(s *meta.SegmentBrief, gone bool) bool {
	before, known := r.segments[s.ID]
	now := segmentState{s.State, s.Level, s.Invisible, s.VChannel}
	switch {
	case gone && !known, !gone && known && before == now:
		return false
	case gone:
		now = segmentState{}
		delete(r.segments, s.ID)
	default:
		r.segments[s.ID] = now
	}
	r.moveGrowing(before.growingChannel(), now.growingChannel())
	if r.beginning {
		return false
	}
	n := occurrence{object: model.Ref{Resource: segments, ID: s.ID.String()}, collection: s.Collection}
	if known {
		n.before = stateText(before)
	}
	if gone {
		n.kind = segmentRemoved
		return r.emit(n)
	}
	n.after = stateText(now)
	if !known {
		return r.newSegment(s, n)
	}
	switch n.kind = segmentKind(before.state, now.state); {
	case n.kind == segmentDropped:
		r.dropped = append(r.dropped, droppedSegment{s.ID, len(r.entries.list)})
	case now.state != model.SegmentDropped && s.Rows > 0:
		n.detail = words.Count(s.Rows, "row", "rows")
	}
	return r.emit(n)
}

// segmentKind returns the event of a state change, or segmentChanged for any other change.
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

// newSegment reports a new segment, and the source segments if a compaction made it.
func (r *Reader) newSegment(s *meta.SegmentBrief, n occurrence) bool {
	n.kind = segmentCreated
	if len(s.CompactedFrom) == 0 {
		if s.VChannel != "" {
			n.detail = "on " + s.VChannel
		}
		return r.emit(n)
	}
	n.kind = segmentCompacted
	const most = 8
	names := make([]string, 0, len(s.CompactedFrom))
	for _, from := range s.CompactedFrom {
		names = append(names, from.String())
		r.compacted[from] = s.ID
	}
	n.detail = "from " + words.FirstOf(names, most, ", ") + ", " + words.Count(s.Rows, "row", "rows")
	return r.emit(n)
}

// droppedSegment is a segment that was dropped in this revision, and the index of its entry.
type droppedSegment struct {
	id    model.SegmentID
	entry int
}

// endSegments adds the target of the compaction to dropped segments, because the target's record may come
// after the records of the dropped segments.
func (r *Reader) endSegments() {
	for _, d := range slices.Backward(r.dropped) {
		if into, ok := r.compacted[d.id]; ok {
			r.entries.list[d.entry].detail = "compacted into " + into.String()
			delete(r.compacted, d.id)
		}
	}
	r.dropped = r.dropped[:0]
}

// stateText formats a state, e.g. "Flushed", or "Flushed, L2, invisible" if level or visibility are unusual.
func stateText(s segmentState) string {
	text := s.state.String()
	if s.level == model.LevelL0 || s.level == model.LevelL2 {
		text += ", " + s.level.String()
	}
	if s.invisible {
		text += ", invisible"
	}
	return text
}

// buildKey identifies an index on a segment.
type buildKey struct {
	segment model.SegmentID
	build   model.BuildID
}

// builderName returns the name of the session that builds indexes at a node. Without a session the role is
// unknown, so it returns the id.
func (r *Reader) builderName(id model.NodeID) string {
	for _, role := range []string{"indexnode", "datanode"} {
		if r.sessions[id.Name(role)] > 0 {
			return id.Name(role)
		}
	}
	return "node " + id.String()
}

// takeIndex reports finished and failed index builds.
func (r *Reader) takeIndex(x *meta.IndexBrief, gone bool) bool {
	key := buildKey{x.Segment, x.Build}
	old := r.builds[key]
	if gone {
		delete(r.builds, key)
		return false
	}
	r.builds[key] = x.State
	if r.beginning || old == x.State {
		return false
	}
	id := x.Segment.String() + "/" + x.Index.String() + "/" + x.Build.String()
	n := occurrence{
		object: model.Ref{Resource: segmentIndexes, ID: id, Name: r.indexes[x.Index]}, collection: x.Collection,
		after: x.State.String(),
	}
	if old != model.IndexStateNone {
		n.before = old.String()
	}
	switch x.State {
	case model.IndexFinished:
		n.kind, n.detail = indexBuilt, "on segment "+x.Segment.String()
		if x.Node != 0 {
			n.detail += " by " + r.builderName(x.Node)
		}
	case model.IndexFailed, model.IndexRetry:
		n.kind, n.detail = indexFailed, x.FailReason
	default:
		return false
	}
	return r.emit(n)
}
