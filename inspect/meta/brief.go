package meta

import (
	"math"
	"unicode/utf8"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// Who follows what happened wants little of records that are written again and again: a few fields are read straight from the wire, and
// the others are passed over by their lengths, known or not. What the generated message takes, these readers take with the same result, or
// leave to it; brief_test.go holds them to that. What they do not notice is damage inside of what they pass over.

// SegmentBrief is what of a segment says what happens to it.
type SegmentBrief struct {
	ID         model.SegmentID
	Collection model.CollectionID
	// VChannel is the number of its vchannel (Decoder.VChannels), 0 if it names none.
	VChannel  int32
	State     model.SegmentState
	Level     model.SegmentLevel
	Invisible bool
	Rows      int64
	// CompactedFrom is valid until the next call.
	CompactedFrom []model.SegmentID
}

// IndexBrief is what of an index on a segment says what happens to it.
type IndexBrief struct {
	Segment    model.SegmentID
	Build      model.BuildID
	Collection model.CollectionID
	Index      model.IndexID
	Node       model.NodeID
	State      model.IndexState
	FailReason string
}

// putSegment decodes a segment's record.
func (d *Decoder) putSegment(out *Single, kv *source.KV, k *keyParts) {
	x := &d.segment
	*x = SegmentBrief{ID: model.SegmentID(k.ids[2]), Collection: model.CollectionID(k.ids[0])}
	if !out.Gone {
		if out.Problem = d.readSegment(kv.Value, x); out.Problem != "" {
			return
		}
	}
	out.Object = x
}

// readSegment reads a datapb.SegmentInfo, and says why it could not.
func (d *Decoder) readSegment(value []byte, x *SegmentBrief) (problem string) {
	if len(value) > maxMessage {
		return errTooLarge.Error()
	}
	channel, compacted, ok := briefSegment(value, x, d.compacted)
	if !ok {
		v := &d.state.segments.value
		if _, err := slowSegment(value, v); err != nil {
			return "SegmentInfo: not a valid protobuf message"
		}
		x.State, x.Level, x.Invisible, x.Rows = v.s.State, v.s.Level, v.s.Invisible, v.s.Rows
		channel, compacted = v.channel, d.compacted[:0]
		compacted = append(compacted, v.compacted...)
	}
	d.compacted = compacted
	if x.VChannel = d.number(channel); len(compacted) > 0 {
		x.CompactedFrom = compacted
	}
	return ""
}

// putIndex decodes the record of an index on a segment.
func (d *Decoder) putIndex(out *Single, kv *source.KV, k *keyParts) {
	x := &d.index
	*x = IndexBrief{Collection: model.CollectionID(k.ids[0]), Segment: model.SegmentID(k.ids[2]), Build: model.BuildID(k.ids[3])}
	if !out.Gone {
		if out.Problem = readIndex(kv.Value, x); out.Problem != "" {
			return
		}
	}
	out.Object = x
}

// newIndexBrief is what of an index says what happens to it.
func newIndexBrief(x *model.SegmentIndex) *IndexBrief {
	return &IndexBrief{
		Segment: x.Segment, Build: x.Build, Collection: x.Collection, Index: x.Index, Node: x.Node, State: x.State, FailReason: redact.Text(x.FailReason),
	}
}

// readIndex reads an indexpb.SegmentIndex, and says why it could not.
func readIndex(value []byte, x *IndexBrief) (problem string) {
	if len(value) > maxMessage {
		return errTooLarge.Error()
	}
	if !briefIndex(value, x) {
		var full model.SegmentIndex
		if _, err := slowSegmentIndex(value, &full); err != nil {
			return "SegmentIndex: not a valid protobuf message"
		}
		x.Index, x.Node, x.State, x.FailReason = full.Index, full.Node, full.State, full.FailReason
	}
	if x.FailReason != "" {
		x.FailReason = redact.Text(x.FailReason)
	}
	return ""
}

// field reads a varint or length-delimited field of any number, and returns what follows it; ok is false for anything else. It is nextField
// without the struct.
func field(b []byte) (key int, value uint64, bytes, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, 0, nil, nil, false
	}
	tag, n := uint64(b[0]), 1
	if tag >= 0x80 {
		if tag, n = longUvarint(b); n == 0 || tag > math.MaxUint16 || n == len(b) {
			return 0, 0, nil, nil, false
		}
	}
	m := 1
	if value = uint64(b[n]); value >= 0x80 {
		if value, m = longUvarint(b[n:]); m == 0 {
			return 0, 0, nil, nil, false
		}
	}
	rest = b[n+m:]
	switch {
	case tag < 1<<3: // there is no field 0
		return 0, 0, nil, nil, false
	case tag&7 == varint:
		return int(tag), value, nil, rest, true
	case tag&7 == lenDel && value <= uint64(len(rest)):
		return int(tag), value, rest[:value], rest[value:], true
	}
	return 0, 0, nil, nil, false
}

// briefSegment reads a datapb.SegmentInfo; false leaves the value to slowSegment. compacted is room for CompactedFrom.
func briefSegment(b []byte, x *SegmentBrief, compacted []model.SegmentID) (channel []byte, from []model.SegmentID, ok bool) {
	from = compacted[:0]
	for len(b) > 0 {
		key, value, bytes, rest, ok := field(b)
		if !ok {
			return nil, from, false
		}
		b = rest
		switch key {
		case 4<<3 | lenDel:
			if !utf8.Valid(bytes) {
				return nil, from, false
			}
			channel = bytes
		case 5<<3 | varint:
			x.Rows = int64(value)
		case 6<<3 | varint:
			x.State = segmentState(int32(value))
		case 15<<3 | varint:
			from = append(from, model.SegmentID(value))
		case 15<<3 | lenDel:
			if from, ok = appendSegmentIDs(from, bytes); !ok {
				return nil, from, false
			}
		case 20<<3 | varint:
			x.Level = segmentLevel(int32(value))
		case 28<<3 | varint:
			x.Invisible = value != 0
		}
	}
	return channel, from, true
}

// briefIndex reads an indexpb.SegmentIndex; false leaves the value to slowSegmentIndex.
func briefIndex(b []byte, x *IndexBrief) bool {
	for len(b) > 0 {
		key, value, bytes, rest, ok := field(b)
		if !ok {
			return false
		}
		b = rest
		switch key {
		case 5<<3 | varint:
			x.Index = model.IndexID(value)
		case 7<<3 | varint:
			x.Node = model.NodeID(value)
		case 9<<3 | varint:
			x.State = indexState(int32(value))
		case 10<<3 | lenDel:
			if !utf8.Valid(bytes) {
				return false
			}
			x.FailReason = string(bytes)
		}
	}
	return true
}

// briefPosition reads the timestamp of a msgpb.MsgPosition; false leaves the value to the generated message.
func briefPosition(b []byte) (at model.TSO, ok bool) {
	for len(b) > 0 {
		key, value, _, rest, ok := field(b)
		if !ok {
			return 0, false
		}
		if b = rest; key == 4<<3|varint {
			at = model.TSO(value)
		}
	}
	return at, true
}
