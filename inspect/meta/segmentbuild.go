package meta

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/model"
)

// buildSegments updates the lists of segments. Extras are applied before edits are finished, because they cause
// edits. A segment's totals are computed last, when it is complete.
func (s *state) buildSegments(p *model.Parts) {
	st := s.segments
	if st.loading != nil {
		st.list.all, st.orphans.all = st.loading.finish(st)
		st.loading = nil
	}
	if s.dirty&groupLegacySegments != 0 {
		s.applyExtras()
	}
	if len(st.edits) > 0 {
		for id, e := range st.edits {
			st.finishEdit(id, e)
		}
		ids := slices.Sorted(maps.Keys(st.edits))
		st.list, st.orphans = st.list.replace(st.edits, ids, true), st.orphans.replace(st.edits, ids, false)
		clear(st.edits)
	}
	p.Segments, p.Orphans = s.inScope(st.list.all), nil
	if p.Loaded.Has(model.PartSegments) { // otherwise every segment would seem to have no record
		p.Orphans = s.inScope(st.orphans.all)
	}
}

// inScope drops the segments of unwanted collections, which a file cannot skip.
func (s *state) inScope(list []*model.Segment) []*model.Segment {
	only := s.scope
	if only == nil {
		return list
	}
	kept := make([]*model.Segment, 0, len(list))
	for _, x := range list {
		if only[x.Collection] {
			kept = append(kept, x)
		}
	}
	return kept
}

// finishEdit completes a changed segment.
func (st *segmentStore) finishEdit(id model.SegmentID, e *segmentEdit) {
	x := e.segment
	if legacy := st.legacy[id]; legacy != nil && !hasKeyedIndex(x) {
		x.Indexes = legacy
	}
	if !e.record && len(x.Logs) == 0 && len(x.Indexes) > 0 && x.Indexes[0].Legacy { // no other key has its collection
		x.Collection, x.Partition = x.Indexes[0].Collection, x.Indexes[0].Partition
	}
	st.setGrowing(x)
	addUpSegment(x)
	if !e.record && len(x.Logs) == 0 && len(x.Indexes) == 0 && x.Details == nil {
		e.segment = nil
		delete(st.layouts, id)
	}
}

// hasKeyedIndex reports whether a segment has index records of 2.2 or later.
func hasKeyedIndex(x *model.Segment) bool { return len(x.Indexes) > 0 && !x.Indexes[0].Legacy }

// setGrowing attaches the streaming node's record of a segment.
func (st *segmentStore) setGrowing(x *model.Segment) {
	growing := st.growing[x.ID]
	if growing == nil && (x.Details == nil || x.Details.Growing == nil) {
		return
	}
	var d model.SegmentDetails
	if x.Details != nil {
		d = *x.Details
	}
	d.Growing = growing
	x.Details = &d
	if reflect.DeepEqual(d, model.SegmentDetails{}) {
		x.Details = nil
	}
}

// applyExtras attaches data that is stored apart from the segments' own keys: the indexes of 2.1 and the streaming
// nodes' records. Segments whose extras changed become edits.
func (s *state) applyExtras() {
	st := s.segments
	growing := s.growing()
	var legacy map[model.SegmentID][]model.SegmentIndex
	if s.legacy {
		legacy = s.segmentIndexes21()
	}
	touched := make(map[model.SegmentID]*keyParts)
	for id, list := range legacy {
		if !slices.Equal(list, st.legacy[id]) {
			touched[id] = segmentKey(list[0].Collection, list[0].Partition, id)
		}
	}
	for id, list := range st.legacy {
		if legacy[id] == nil {
			touched[id] = segmentKey(list[0].Collection, list[0].Partition, id)
		}
	}
	for id, g := range growing {
		if old := st.growing[id]; old == nil || *old != *g.stat {
			touched[id] = g.key
		}
	}
	for id := range st.growing {
		if growing[id] == nil {
			touched[id] = segmentKey(0, 0, id)
		}
	}
	st.legacy = legacy
	st.growing = make(map[model.SegmentID]*model.GrowingStat, len(growing))
	for id, g := range growing {
		st.growing[id] = g.stat
	}
	for _, k := range touched {
		e := st.edit(k)
		if !hasKeyedIndex(e.segment) {
			e.segment.Indexes = nil
		}
	}
}

func segmentKey(collection model.CollectionID, partition model.PartitionID, id model.SegmentID) *keyParts {
	return &keyParts{ids: [maxIDs]int64{int64(collection), int64(partition), int64(id)}}
}

// growingFact is a streaming node's record of a segment, and the segment's key.
type growingFact struct {
	stat *model.GrowingStat
	key  *keyParts
}

func (s *state) growing() map[model.SegmentID]*growingFact {
	out := make(map[model.SegmentID]*growingFact)
	s.each(kindWALSegment, func(f *fact) {
		m := f.value.(*streamingpb.SegmentAssignmentMeta)
		stat := m.GetStat()
		g := &model.GrowingStat{
			PChannel: f.names[0], State: model.EnumWord(m.GetState().String(), "SEGMENT_ASSIGNMENT_STATE_"),
			Level: segmentLevel(int32(stat.GetLevel())),
			Rows:  int64(stat.GetModifiedRows()), Bytes: int64(stat.GetModifiedBinarySize()),
			MaxBytes: int64(stat.GetMaxBinarySize()),
			Flushes:  int64(stat.GetBinlogCounter()), Checkpoint: model.TSO(m.GetCheckpointTimeTick()),
			CreatedAt:  wallTimeSigned(stat.GetCreateTimestamp()),
			ModifiedAt: wallTimeSigned(stat.GetLastModifiedTimestamp()),
		}
		id := model.SegmentID(f.ids[0])
		out[id] = &growingFact{
			g, segmentKey(model.CollectionID(m.GetCollectionId()), model.PartitionID(m.GetPartitionId()), id),
		}
	})
	return out
}

func wallTimeSigned(v int64) time.Time {
	if v < 0 {
		return time.Time{}
	}
	return wallTime(uint64(v))
}
