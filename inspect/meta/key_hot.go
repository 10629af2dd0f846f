package meta

import (
	"encoding/binary"
	"math"
)

// hotPrefix is the literal prefix of a kind that may have millions of keys.
type hotPrefix struct {
	prefix []byte
	kind   kindID
	ids    int
}

// hotKinds returns the kinds whose number of keys grows with the number of segments.
func hotKinds() []kindID {
	return []kindID{kindSegment, kindSegmentIndex, kindBinlog, kindStatslog, kindDeltalog, kindBM25Log}
}

// parseHot parses the frequent kinds without the table. It leaves irregular keys to match. It sets only the kind
// and the kind's ids in k.
func (g *grammar) parseHot(rel []byte, k *keyParts) bool {
	for i := range g.hot {
		h := &g.hot[i]
		n := len(h.prefix)
		// Compare the last two bytes first: they differ in most other keys, and comparing the whole prefix is a
		// call.
		if len(rel) > n && rel[n-1] == '/' && rel[n-2] == h.prefix[n-2] && string(rel[:n]) == string(h.prefix) {
			k.kind = h.kind
			return parseIDs(rel[n:], k.ids[:h.ids])
		}
	}
	return false
}

// parseIDs parses len(ids) ids separated by slashes. It reports whether rest holds nothing more.
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

// leadingID parses the leading digits of b. size is 0 unless the id is written as Milvus writes it (no plus, no
// leading zeros, within int64).
func leadingID(b []byte) (id int64, size int) {
	const fit = 18 // 18 digits always fit
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

// wordBytes is the number of bytes that are read at once.
const wordBytes = 8

func isDigit(c byte) bool { return c-'0' <= 9 }

// eightDigits parses the first eight bytes of b if all are digits. It adds up pairs, then fours, then all eight in
// parallel.
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

// anyLeadingID is leadingID without the fast path. It also parses negative, 0 and 19-digit ids.
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
