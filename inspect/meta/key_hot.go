package meta

import (
	"encoding/binary"
	"math"
)

// hotPrefix is the literal beginning of a kind of which there may be millions of keys.
type hotPrefix struct {
	prefix []byte
	kind   kindID
	ids    int
}

// hotKinds are the kinds whose keys grow with the number of segments.
func hotKinds() []kindID {
	return []kindID{kindSegment, kindSegmentIndex, kindBinlog, kindStatslog, kindDeltalog, kindBM25Log}
}

// parseHot parses the frequent kinds without looking at the table; whatever is odd
// about a key is left to match. Of k only the kind and the kind's ids are set.
func (g *grammar) parseHot(rel []byte, k *keyParts) bool {
	for i := range g.hot {
		h := &g.hot[i]
		n := len(h.prefix)
		// Where its last two bytes are, other keys have others: comparing all of it is a call.
		if len(rel) > n && rel[n-1] == '/' && rel[n-2] == h.prefix[n-2] && string(rel[:n]) == string(h.prefix) {
			k.kind = h.kind
			return parseIDs(rel[n:], k.ids[:h.ids])
		}
	}
	return false
}

// parseIDs parses as many ids as there is room for, with slashes between them and nothing behind.
func parseIDs(rest []byte, ids []int64) bool {
	for n := range ids {
		id, size := leadingID(rest)
		if size == 0 {
			return false
		}
		ids[n] = id
		rest = rest[size:]
		if n == len(ids)-1 {
			break
		}
		if len(rest) == 0 || rest[0] != '/' {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}

// leadingID parses the digits that b begins with; size 0 if there is no id that is
// written as Milvus writes it (no plus, no leading zeros, within int64).
func leadingID(b []byte) (id int64, size int) {
	const fit = 18 // that many digits always fit
	var v uint64
	i := 0
	for i < wordBytes*2 && len(b)-i >= wordBytes {
		digits, ok := eightDigits(b[i:])
		if !ok {
			break
		}
		v, i = v*1e8+digits, i+wordBytes
	}
	for i < len(b) && i < fit && isDigit(b[i]) {
		v = v*10 + uint64(b[i]-'0')
		i++
	}
	if i == 0 || b[0] == '0' || i == fit && len(b) > fit && isDigit(b[fit]) {
		return anyLeadingID(b)
	}
	return int64(v), i
}

// wordBytes is how many bytes are read together.
const wordBytes = 8

func isDigit(c byte) bool { return c-'0' <= 9 }

// eightDigits parses the first eight bytes where all are digits: sums of two, of four and of eight of them, each side by side.
func eightDigits(b []byte) (v uint64, ok bool) {
	const high, sixes, low = 0xf0f0f0f0f0f0f0f0, 0x0606060606060606, 0x0f0f0f0f0f0f0f0f
	w := binary.LittleEndian.Uint64(b)
	if w&high|(w+sixes)&high>>4 != 0x3333333333333333 {
		return 0, false
	}
	w = (w & low) * (1 + 10<<8) >> 8
	w = (w & 0x00ff00ff00ff00ff) * (1 + 100<<16) >> 16
	return (w & 0x0000ffff0000ffff) * (1 + 10000<<32) >> 32, true
}

// anyLeadingID is leadingID of ids that are out of the ordinary too.
func anyLeadingID(b []byte) (id int64, size int) {
	i, negative := 0, false
	if len(b) > 0 && b[0] == '-' {
		negative, i = true, 1
	}
	start := i
	var v uint64
	for i < len(b) && isDigit(b[i]) {
		d := uint64(b[i] - '0')
		if v > (math.MaxUint64-d)/10 {
			return 0, 0
		}
		v = v*10 + d
		i++
	}
	digits := i - start
	switch {
	case digits == 0, digits > 1 && b[start] == '0', negative && (v == 0 || v > 1<<63), !negative && v > math.MaxInt64:
		return 0, 0
	case negative:
		return int64(-v), i
	}
	return int64(v), i
}
