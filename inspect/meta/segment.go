package meta

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// segmentStore collects the keys of segments. While a store is read, it has one loading entry per segment and one
// list of logs, because a million logs must not cost a map or a slice each. Later changes copy the segment that
// they change.
type segmentStore struct {
	loading *segmentLoad
	// list holds the segments with a record, orphans the segments without. Both are as of the last build, and a
	// segment is in at most one of the lists. Later changes are only in edits.
	list, orphans segmentList
	// edits are the segments that changed since the last build. record reports whether the segment's own key exists.
	edits map[model.SegmentID]*segmentEdit
	// layouts holds, for segments with inline logs, the logs of each layout.
	layouts map[model.SegmentID]*segmentLayout
	names   map[string]string // interned vchannel names
	value   segmentValue      // scratch
	// growing holds the streaming nodes' records of growing segments, and legacy the indexes of 2.1. Both are as
	// applied at the last build.
	growing map[model.SegmentID]*model.GrowingStat
	legacy  map[model.SegmentID][]model.SegmentIndex
}

// segmentEdit is a changed segment that is not in a cluster yet.
type segmentEdit struct {
	segment *model.Segment // a copy; nil if nothing is left
	record  bool
}

// segmentLayout holds the logs of a segment whose record has inline logs.
type segmentLayout struct {
	inline, keyed []model.FieldLogs
}

func newSegmentStore() *segmentStore {
	return &segmentStore{
		loading: newSegmentLoad(),
		edits:   make(map[model.SegmentID]*segmentEdit),
		layouts: make(map[model.SegmentID]*segmentLayout),
		names:   make(map[string]string),
	}
}

func (st *segmentStore) intern(name []byte) string {
	if known, ok := st.names[string(name)]; ok {
		return known
	}
	text := string(name)
	st.names[text] = text
	return text
}

// put decodes one key of a hot kind.
func (st *segmentStore) put(s *state, kv source.KV, k *keyParts) {
	if len(kv.Value) > maxMessage {
		s.note(kv, errTooLarge.Error())
		st.remove(k)
		return
	}
	switch k.kind {
	case kindSegment:
		st.putRecord(s, kv, k)
	case kindSegmentIndex:
		st.putIndex(s, kv, k)
	default:
		st.putLogs(s, kv, k)
	}
}

func (st *segmentStore) putRecord(s *state, kv source.KV, k *keyParts) {
	v := &st.value
	unknown, err := readSegment(kv.Value, v)
	if err != nil {
		s.note(kv, "SegmentInfo: "+err.Error())
		st.remove(k)
		return
	}
	if len(unknown) > 0 {
		s.note(kv, unknownReason("SegmentInfo", unknown))
	}
	if reason := recordContradiction(v, k); reason != "" {
		s.note(kv, reason)
	}
	// The key takes precedence, because Milvus looks the segment up by key.
	v.s.Collection, v.s.Partition, v.s.ID = model.CollectionID(k.ids[0]), model.PartitionID(k.ids[1]),
		model.SegmentID(k.ids[2])
	v.s.VChannel = st.intern(v.channel)
	if st.loading != nil {
		st.loading.record(v)
		return
	}
	st.editRecord(v)
}

// errNoMessage means that a value is not a protobuf message.
var errNoMessage = errors.New("not a valid protobuf message")

// readSegment decodes a datapb.SegmentInfo. It returns the paths of the fields that the pinned definition lacks.
func readSegment(value []byte, v *segmentValue) (unknown []string, err error) {
	switch {
	case len(value) > maxMessage:
		return nil, errTooLarge
	case fastSegment(value, v):
		return nil, nil
	}
	if unknown, err = slowSegment(value, v); err != nil {
		return nil, errNoMessage
	}
	return unknown, nil
}

// readSegmentIndex decodes an indexpb.SegmentIndex. Its results are those of readSegment.
func readSegmentIndex(value []byte, x *model.SegmentIndex) (unknown []string, err error) {
	switch {
	case len(value) > maxMessage:
		return nil, errTooLarge
	case fastSegmentIndex(value, x):
		return nil, nil
	}
	if unknown, err = slowSegmentIndex(value, x); err != nil {
		return nil, errNoMessage
	}
	return unknown, nil
}

func recordContradiction(v *segmentValue, k *keyParts) string {
	switch {
	case int64(v.s.ID) != k.ids[2]:
		return formatMismatch("SegmentInfo", "ID", int64(v.s.ID), k.ids[2])
	case int64(v.s.Collection) != k.ids[0]:
		return formatMismatch("SegmentInfo", "collectionID", int64(v.s.Collection), k.ids[0])
	case int64(v.s.Partition) != k.ids[1]:
		return formatMismatch("SegmentInfo", "partitionID", int64(v.s.Partition), k.ids[1])
	}
	return ""
}

// formatMismatch formats the mismatch of an id in a record with its key.
func formatMismatch(message, field string, value, key int64) string {
	return fmt.Sprintf("%s: %s is %d, in its key %d", message, field, value, key)
}

func (st *segmentStore) putLogs(s *state, kv source.KV, k *keyParts) {
	logs, ok := fastFieldLogs(kv.Value)
	if !ok {
		var unknown []string
		var err error
		logs, unknown, err = slowFieldLogs(kv.Value)
		if err != nil {
			s.note(kv, "FieldBinlog: not a valid protobuf message")
			st.remove(k)
			return
		}
		if len(unknown) > 0 {
			s.note(kv, unknownReason("FieldBinlog", unknown))
		}
	}
	logs.Kind = logKind(k.kind)
	if field := k.ids[3]; k.kind != kindPredicateDeltalog {
		if len(kv.Value) > 0 && int64(logs.Field) != field { // delta logs without rows are an empty value
			s.note(kv, formatMismatch("FieldBinlog", "fieldID", int64(logs.Field), field))
		}
		logs.Field = model.FieldID(field)
	} else {
		logs.Field = predicateField
	}
	if st.loading != nil {
		if logs.Files > 0 {
			st.loading.logs(k, logs)
		}
		return
	}
	st.editLogs(k, logs)
}

// predicateField distinguishes predicate delta logs from delta logs by primary key, whose field is 0 or the key's.
const predicateField = -1

func logKind(k kindID) model.LogKind {
	switch k {
	case kindDeltalog, kindPredicateDeltalog:
		return model.DeltaLog
	case kindStatslog:
		return model.StatsLog
	case kindBM25Log:
		return model.BM25Log
	}
	return model.InsertLog
}

func (st *segmentStore) putIndex(s *state, kv source.KV, k *keyParts) {
	var x model.SegmentIndex
	unknown, err := readSegmentIndex(kv.Value, &x)
	if err != nil {
		s.note(kv, "SegmentIndex: "+err.Error())
		st.remove(k)
		return
	}
	if len(unknown) > 0 {
		s.note(kv, unknownReason("SegmentIndex", unknown))
	}
	if int64(x.Segment) != k.ids[2] || int64(x.Build) != k.ids[3] {
		s.note(kv,
			fmt.Sprintf("SegmentIndex: segment %d build %d, in its key %d and %d", x.Segment, x.Build, k.ids[2],
				k.ids[3]))
	}
	x.Collection, x.Partition = model.CollectionID(k.ids[0]), model.PartitionID(k.ids[1])
	x.Segment, x.Build = model.SegmentID(k.ids[2]), model.BuildID(k.ids[3])
	if st.loading != nil {
		st.loading.index(x)
		return
	}
	st.editIndex(x)
}

// remove removes one key's data from its segment.
func (st *segmentStore) remove(k *keyParts) {
	if st.loading != nil {
		return // it was never put
	}
	switch k.kind {
	case kindSegment:
		st.removeRecord(k)
	case kindSegmentIndex:
		e := st.edit(k)
		e.segment.Indexes = slices.DeleteFunc(slices.Clone(e.segment.Indexes), func(x model.SegmentIndex) bool {
			return int64(x.Build) == k.ids[3]
		})
	default:
		field := model.FieldID(k.ids[3])
		if k.kind == kindPredicateDeltalog {
			field = predicateField
		}
		st.editLogs(k, model.FieldLogs{Kind: logKind(k.kind), Field: field})
	}
}

// edit returns the segment of a key for writing. It is a copy, because emitted clusters share the original. The
// copy is shallow, so its slices must be cloned before a write. Several changed keys of a segment between two
// builds share one copy.
func (st *segmentStore) edit(k *keyParts) *segmentEdit {
	id := model.SegmentID(k.ids[2])
	if e := st.edits[id]; e != nil {
		return e
	}
	e := &segmentEdit{}
	if old := st.list.find(id); old != nil {
		clone := *old
		e.segment, e.record = &clone, true
	} else if old := st.orphans.find(id); old != nil {
		clone := *old
		e.segment = &clone
	} else {
		e.segment = &model.Segment{
			ID: id, Collection: model.CollectionID(k.ids[0]), Partition: model.PartitionID(k.ids[1]),
		}
	}
	st.edits[id] = e
	return e
}

func (st *segmentStore) editRecord(v *segmentValue) {
	e := st.edit(&keyParts{ids: [maxIDs]int64{int64(v.s.Collection), int64(v.s.Partition), int64(v.s.ID)}})
	old := e.segment
	fresh := v.s
	fresh.CompactedFrom = slices.Clone(v.compacted) // v is scratch, which the next record overwrites
	fresh.Indexes = old.Indexes
	layout := st.layoutOf(old)
	layout.inline = tidyLogs(slices.Clone(v.inline))
	st.setLayout(&fresh, layout)
	e.segment, e.record = &fresh, true
}

func (st *segmentStore) removeRecord(k *keyParts) {
	e := st.edit(k)
	layout := st.layoutOf(e.segment)
	layout.inline = nil
	left := &model.Segment{
		ID: e.segment.ID, Collection: e.segment.Collection, Partition: e.segment.Partition, Indexes: e.segment.Indexes,
	}
	st.setLayout(left, layout)
	e.segment, e.record = left, false
}

// editLogs sets the logs stored under one key, or removes them if logs has no files.
func (st *segmentStore) editLogs(k *keyParts, logs model.FieldLogs) {
	e := st.edit(k)
	layout := st.layoutOf(e.segment)
	layout.keyed = slices.DeleteFunc(slices.Clone(layout.keyed), func(l model.FieldLogs) bool {
		return l.Kind == logs.Kind && l.Field == logs.Field
	})
	if logs.Files > 0 {
		layout.keyed = tidyLogs(append(layout.keyed, logs))
	}
	st.setLayout(e.segment, layout)
}

func (st *segmentStore) editIndex(x model.SegmentIndex) {
	e := st.edit(&keyParts{ids: [maxIDs]int64{int64(x.Collection), int64(x.Partition), int64(x.Segment)}})
	list := slices.DeleteFunc(slices.Clone(e.segment.Indexes), func(old model.SegmentIndex) bool {
		return old.Build == x.Build
	})
	list = append(list, x)
	slices.SortFunc(list, compareSegmentIndex)
	e.segment.Indexes = list
}

// layoutOf returns the logs of a segment, separated into those inline in its record and those under their own keys.
func (st *segmentStore) layoutOf(s *model.Segment) segmentLayout {
	if l := st.layouts[s.ID]; l != nil {
		return *l
	}
	return segmentLayout{keyed: s.Logs}
}

// setLayout merges the logs of both layouts into a segment. Milvus since 2.2 reads a kind of logs from their
// keys only if the record has no inline logs of that kind (datacoord kv_catalog.go, applyBinlogInfo), so
// adding both would count logs twice.
func (st *segmentStore) setLayout(s *model.Segment, l segmentLayout) {
	if len(l.inline) == 0 {
		delete(st.layouts, s.ID)
	} else {
		st.layouts[s.ID] = &l
	}
	s.TwoLayouts = len(l.inline) > 0 && len(l.keyed) > 0
	s.LogKeys = len(l.keyed) > 0
	s.Logs = mergeLogs(l)
}

func mergeLogs(l segmentLayout) []model.FieldLogs {
	switch {
	case len(l.inline) == 0:
		return l.keyed
	case len(l.keyed) == 0:
		return l.inline
	}
	var has [4]bool
	for _, logs := range l.inline {
		has[logs.Kind&3] = true
	}
	merged := slices.Clone(l.inline)
	for _, logs := range l.keyed {
		if !has[logs.Kind&3] {
			merged = append(merged, logs)
		}
	}
	return tidyLogs(merged)
}

// tidyLogs sorts logs and sums entries of the same kind and field.
func tidyLogs(list []model.FieldLogs) []model.FieldLogs {
	list = slices.DeleteFunc(list, func(l model.FieldLogs) bool { return l.Files == 0 })
	slices.SortStableFunc(list, func(a, b model.FieldLogs) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Field, b.Field), bytes.Compare(a.Group[:], b.Group[:]))
	})
	out := list[:0]
	for _, l := range list {
		if n := len(out); n > 0 && out[n-1].Kind == l.Kind && out[n-1].Field == l.Field &&
			out[n-1].Group.Empty() == l.Group.Empty() {
			out[n-1].Group.Union(l.Group)
			out[n-1].Files += l.Files
			out[n-1].Rows += l.Rows
			out[n-1].Bytes += l.Bytes
			out[n-1].MemoryBytes += l.MemoryBytes
			continue
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// storageVersion clamps an invalid version to MaxInt16, so that it does not look like a version of a release.
func storageVersion(v int64) int16 {
	if v < 0 || v > math.MaxInt16 {
		return math.MaxInt16
	}
	return int16(v)
}

// addUpSegment computes a segment's totals from its logs and indexes.
func addUpSegment(s *model.Segment) {
	s.Bytes, s.DeletedRows, s.IndexBytes = 0, 0, 0
	var single, grouped model.FieldSet
	for _, l := range s.Logs {
		s.Bytes += l.Bytes
		if l.Kind == model.DeltaLog {
			s.DeletedRows += l.Rows
		}
		if l.Kind != model.InsertLog {
			continue
		}
		if grouped.Union(l.Group); l.Group.Empty() {
			single.Add(l.Field)
		}
	}
	s.MixedLogs = single.Overlaps(grouped)
	if s.Details != nil && s.Details.Stats != nil && s.DeletedRows == 0 { // a manifest lists the delta logs
		s.DeletedRows = s.Details.Stats.Deletes
	}
	for i := range s.Indexes {
		if s.Indexes[i].State == model.IndexFinished && !s.Indexes[i].Deleted {
			s.IndexBytes += s.Indexes[i].Bytes
		}
	}
}
