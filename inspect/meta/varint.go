package meta

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// uvarint decodes a varint. n is 0 if it is truncated or longer than 64 bits.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longUvarint(b)
}

// longUvarint decodes a varint of any length. Ids and timestamps have nine bytes, and eight of the bytes are read
// at once.
func longUvarint(b []byte) (v uint64, n int) {
	const continued = 0x8080808080808080
	if len(b) > wordBytes+1 {
		w := binary.LittleEndian.Uint64(b)
		if end := ^w & continued; end != 0 {
			n = bits.TrailingZeros64(end)/8 + 1
			return join7Bits(w & (math.MaxUint64 >> (64 - 8*n))), n
		}
		if v = join7Bits(w) | uint64(b[wordBytes]&0x7f)<<56; b[wordBytes] < 0x80 {
			return v, wordBytes + 1
		}
		if last := b[wordBytes+1]; last <= 1 {
			return v | uint64(last)<<63, wordBytes + 2
		}
		return 0, 0
	}
	for i, c := range b {
		if i == 10 || i == 9 && c > 1 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// join7Bits concatenates the lower seven bits of each byte.
func join7Bits(w uint64) uint64 {
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}
