package meta

import (
	"math/bits"
	"unicode/utf8"

	"kitescope/inspect/model"
)

// The three messages with one key per segment, field or index are decoded directly from the wire, because Milvus's
// generated code allocates a message, its positions and its strings for each. If a value holds anything unusual
// (an unknown field, another wire type, a repeated message), the fast decoder gives up and the generated code
// decodes the value. wire_test.go checks that both agree. Field numbers are those of data_coord.proto and
// index_coord.proto.

// Wire types of protobuf.
const (
	wireVarint = 0
	wireBytes  = 2
)

// wireField is one field of a message: its tag, and a value or bytes.
type wireField struct {
	key   int    // number and wire type
	value uint64 // of a varint
	bytes []byte // of a length-delimited field
}

// nextField decodes one varint or length-delimited field and returns the bytes after it. ok is false for any other
// wire type.
func nextField(b []byte) (f wireField, rest []byte, ok bool) {
	key, n := uvarint(b)
	if n == 0 || bits.Len64(key) > 16 {
		return f, nil, false
	}
	value, m := uvarint(b[n:])
	if m == 0 {
		return f, nil, false
	}
	b = b[n+m:]
	switch key & 7 {
	case wireVarint:
		return wireField{key: int(key), value: value}, b, true
	case wireBytes:
		if value > uint64(len(b)) {
			return f, nil, false
		}
		return wireField{key: int(key), value: value, bytes: b[:value]}, b[value:], true
	}
	return f, nil, false
}

// tag returns the field's number and wire type, for switches.
func (f *wireField) tag() int { return f.key }

const (
	varint = wireVarint
	lenDel = wireBytes
)

// segmentValue is a decoded datapb.SegmentInfo. It is reused from key to key.
type segmentValue struct {
	s         model.Segment // without VChannel, CompactedFrom, Logs, Indexes
	channel   []byte        // aliases the value
	compacted []model.SegmentID
	inline    []model.FieldLogs
}

func (v *segmentValue) reset() {
	*v = segmentValue{compacted: v.compacted[:0], inline: v.inline[:0]}
}

// fastSegment decodes a datapb.SegmentInfo. It returns false if slowSegment must decode the value.
func fastSegment(b []byte, v *segmentValue) bool {
	v.reset()
	var seenStart, seenPosition bool
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return false
		}
		b = rest
		switch f.tag() {
		case 4<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return false
			}
			v.channel = f.bytes
		case 9<<3 | lenDel:
			if seenStart {
				return false
			}
			seenStart = true
			if v.s.StartAt, ok = fastPosition(f.bytes); !ok {
				return false
			}
		case 10<<3 | lenDel:
			if seenPosition {
				return false
			}
			seenPosition = true
			if v.s.PositionAt, ok = fastPosition(f.bytes); !ok {
				return false
			}
		default:
			if !fastSegmentNumber(&f, &v.s) && !fastSegmentList(&f, v) {
				return false
			}
		}
	}
	return true
}

// fastSegmentNumber decodes the plain numbers of a SegmentInfo.
func fastSegmentNumber(f *wireField, s *model.Segment) bool {
	switch f.tag() {
	case 1<<3 | varint:
		s.ID = model.SegmentID(f.value)
	case 2<<3 | varint:
		s.Collection = model.CollectionID(f.value)
	case 3<<3 | varint:
		s.Partition = model.PartitionID(f.value)
	case 5<<3 | varint:
		s.Rows = int64(f.value)
	case 6<<3 | varint:
		s.State = segmentState(int32(f.value))
	case 7<<3 | varint:
		s.MaxRows = int64(f.value)
	case 8<<3 | varint:
		s.ExpireAt = model.TSO(f.value)
	case 14<<3 | varint:
		s.ByCompaction = f.value != 0
	case 16<<3 | varint:
		s.DroppedAt = wallTSO(f.value)
	case 17<<3 | varint:
		s.Importing = f.value != 0
	case 18<<3 | varint:
		s.Fake = f.value != 0
	case 19<<3 | varint:
		s.Compacted = f.value != 0
	case 20<<3 | varint:
		s.Level = segmentLevel(int32(f.value))
	case 21<<3 | varint:
		s.StorageVersion = storageVersion(int64(f.value))
	case 23<<3 | varint, 24<<3 | varint: // last level and version, for undoing a compaction
	case 25<<3 | varint:
		s.Sorted = f.value != 0
	case 28<<3 | varint:
		s.Invisible = f.value != 0
	case 30<<3 | varint:
		s.ByStreaming = f.value != 0
	case 31<<3 | varint:
		s.SortedByKey = f.value != 0
	case 34<<3 | varint:
		return fastVersion(s, f.value, func(d *model.SegmentDetails, n int32) { d.SchemaVersion = n })
	case 35<<3 | varint:
		return fastVersion(s, f.value, func(d *model.SegmentDetails, n int32) { d.DataVersion = n })
	default:
		return false
	}
	return true
}

// fastVersion decodes a version that all segments of 3.0 have. It leaves 0 to slowSegment, because such a segment
// may have no details at all.
func fastVersion(s *model.Segment, value uint64, set func(*model.SegmentDetails, int32)) bool {
	n := int32(int64(value))
	if n == 0 {
		return false
	}
	if s.Details == nil {
		s.Details = &model.SegmentDetails{}
	}
	set(s.Details, n)
	return true
}

// fastSegmentList decodes the repeated fields of a SegmentInfo.
func fastSegmentList(f *wireField, v *segmentValue) bool {
	kind := model.InsertLog
	switch f.tag() {
	case 15<<3 | varint:
		v.compacted = append(v.compacted, model.SegmentID(f.value))
		return true
	case 15<<3 | lenDel:
		var ok bool
		v.compacted, ok = appendSegmentIDs(v.compacted, f.bytes)
		return ok
	case 11<<3 | lenDel:
	case 12<<3 | lenDel:
		kind = model.StatsLog
	case 13<<3 | lenDel:
		kind = model.DeltaLog
	case 27<<3 | lenDel:
		kind = model.BM25Log
	case 38<<3 | lenDel:
		return fastStatistics(f.bytes)
	default:
		return false
	}
	logs, ok := fastFieldLogs(f.bytes)
	if !ok {
		return false
	}
	logs.Kind = kind
	v.inline = append(v.inline, logs)
	return true
}

// appendSegmentIDs decodes a packed list.
func appendSegmentIDs(list []model.SegmentID, b []byte) ([]model.SegmentID, bool) {
	for len(b) > 0 {
		id, n := uvarint(b)
		if n == 0 {
			return list, false
		}
		list = append(list, model.SegmentID(id))
		b = b[n:]
	}
	return list, true
}

// fastPosition decodes the timestamp of a msgpb.MsgPosition.
func fastPosition(b []byte) (at model.TSO, ok bool) {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return 0, false
		}
		b = rest
		switch f.tag() {
		case 1<<3 | lenDel, 3<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return 0, false
			}
		case 2<<3 | lenDel, 5<<3 | varint:
		case 4<<3 | varint:
			at = model.TSO(f.value)
		default:
			return 0, false
		}
	}
	return at, true
}

// fastFieldLogs sums a datapb.FieldBinlog. It returns false if slowFieldLogs must decode the value.
func fastFieldLogs(b []byte) (logs model.FieldLogs, ok bool) {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return logs, false
		}
		b = rest
		switch f.tag() {
		case 1<<3 | varint:
			logs.Field = model.FieldID(f.value)
		case 2<<3 | lenDel:
			if !fastBinlog(f.bytes, &logs) {
				return logs, false
			}
		case 3<<3 | varint: // child fields of a column group
			logs.Group.Add(model.FieldID(f.value))
		case 3<<3 | lenDel:
			for c := f.bytes; len(c) > 0; {
				field, n := uvarint(c)
				if n == 0 {
					return logs, false
				}
				logs.Group.Add(model.FieldID(field))
				c = c[n:]
			}
		case 4<<3 | lenDel: // format of a column group
			if !utf8.Valid(f.bytes) {
				return logs, false
			}
		default:
			return logs, false
		}
	}
	return logs, true
}

// fastBinlog adds one datapb.Binlog.
func fastBinlog(b []byte, logs *model.FieldLogs) bool {
	var rows, bytes, memory int64
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return false
		}
		b = rest
		switch f.tag() {
		case 1<<3 | varint:
			rows = int64(f.value)
		case 2<<3 | varint, 3<<3 | varint, 6<<3 | varint:
		case 4<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return false
			}
		case 5<<3 | varint:
			bytes = int64(f.value)
		case 7<<3 | varint:
			memory = int64(f.value)
		case 8<<3 | lenDel: // null rows by field
			if !fastCount(f.bytes) {
				return false
			}
		default:
			return false
		}
	}
	logs.Files++
	logs.Rows += rows
	logs.Bytes += bytes
	logs.MemoryBytes += memory
	return true
}

// fastSegmentIndex decodes an indexpb.SegmentIndex. It returns false if slowSegmentIndex must decode the value.
func fastSegmentIndex(b []byte, x *model.SegmentIndex) bool {
	*x = model.SegmentIndex{}
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return false
		}
		b = rest
		switch f.tag() {
		case 10<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return false
			}
			x.FailReason = string(f.bytes)
		case 11<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return false
			}
			x.Files++
		case 21<<3 | lenDel: // index type, as in the definition
			if !utf8.Valid(f.bytes) {
				return false
			}
		default:
			if !fastIndexNumber(&f, x) {
				return false
			}
		}
	}
	return true
}

func fastIndexNumber(f *wireField, x *model.SegmentIndex) bool {
	switch f.tag() {
	case 1<<3 | varint:
		x.Collection = model.CollectionID(f.value)
	case 2<<3 | varint:
		x.Partition = model.PartitionID(f.value)
	case 3<<3 | varint:
		x.Segment = model.SegmentID(f.value)
	case 4<<3 | varint:
		x.Rows = int64(f.value)
	case 5<<3 | varint:
		x.Index = model.IndexID(f.value)
	case 6<<3 | varint:
		x.Build = model.BuildID(f.value)
	case 7<<3 | varint:
		x.Node = model.NodeID(f.value)
	case 8<<3 | varint:
		x.Version = int64(f.value)
	case 9<<3 | varint:
		x.State = indexState(int32(f.value))
	case 12<<3 | varint:
		x.Deleted = f.value != 0
	case 13<<3 | varint:
		x.CreatedAt = wallTime(f.value)
	case 14<<3 | varint:
		x.Bytes = int64(f.value)
	case 15<<3 | varint, 17<<3 | varint, 19<<3 | varint: // handed off, layout of the files, size in memory
	case 16<<3 | varint:
		x.EngineVersion = int32(f.value)
	case 20<<3 | varint:
		x.ScalarVersion = int32(f.value)
	case 22<<3 | varint:
		x.ByCollection = f.value == 1
		return f.value <= 1
	case 18<<3 | varint:
		x.FinishedAt = wallTime(f.value)
	default:
		return false
	}
	return true
}
