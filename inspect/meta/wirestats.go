package meta

import "unicode/utf8"

// fastStatistics reports whether a datapb.Statistics holds known fields only. 3.0 writes one into each segment.
// Its sums are computed from the logs instead, except for storage version 3, where the manifest path makes
// slowSegment decode the segment.
func fastStatistics(b []byte) bool {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return false
		}
		b = rest
		switch f.tag() {
		case 1<<3 | varint, 2<<3 | varint, 3<<3 | varint, 4<<3 | varint, 5<<3 | varint, 6<<3 | varint,
			9<<3 | varint, 10<<3 | varint, 11<<3 | varint, 12<<3 | varint:
		case 8<<3 | lenDel:
			if !packedVarints(f.bytes) {
				return false
			}
		case 15<<3 | lenDel:
			if !utf8.Valid(f.bytes) {
				return false
			}
		case 13<<3 | lenDel:
			if !fastCount(f.bytes) {
				return false
			}
		default: // load resources by column group: a message of messages
			return false
		}
	}
	return true
}

func packedVarints(b []byte) bool {
	for len(b) > 0 {
		_, n := uvarint(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// fastCount reports whether a map entry holds only a numeric key and a numeric value.
func fastCount(b []byte) bool {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok || f.tag() != 1<<3|varint && f.tag() != 2<<3|varint {
			return false
		}
		b = rest
	}
	return true
}
