package binlog

import (
	"encoding/binary"
	"fmt"
)

// runs reads parquet's hybrid of run-length and bit-packed encoding, in which definition
// levels and indices into dictionaries are written (Encodings.md, RLE = 3).
type runs struct {
	b     []byte
	width int // bits of a value, 0 to 32
	left  int // values that are still to come
}

// run is n values: all the same, or packed into bits, least significant first.
type run struct {
	n      int
	value  uint32
	packed []byte // nil of repeated values
}

// next returns the next run, of left values at the most. It is not called at the end.
func (r *runs) next() (run, error) {
	head, n := binary.Uvarint(r.b)
	if n <= 0 {
		return run{}, fmt.Errorf("the encoded values end with %d of them missing", r.left)
	}
	r.b = r.b[n:]
	if head&1 == 1 {
		return r.bitPacked(head >> 1)
	}
	size := (r.width + 7) / 8
	if size > len(r.b) {
		return run{}, fmt.Errorf("a run of %d values ends before its value", head>>1)
	}
	var value uint32
	for i := range size {
		value |= uint32(r.b[i]) << (8 * i)
	}
	r.b = r.b[size:]
	return r.take(run{value: value}, head>>1)
}

func (r *runs) bitPacked(groups uint64) (run, error) {
	if groups > uint64(len(r.b))/uint64(max(r.width, 1))+1 {
		return run{}, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.b))
	}
	size, count := int(groups)*r.width, groups*8
	if size > len(r.b) { // the last group may be cut off behind its last value
		if size-len(r.b) >= r.width {
			return run{}, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.b))
		}
		count = uint64(len(r.b)) * 8 / uint64(r.width)
		size = len(r.b)
	}
	packed := r.b[:size:size]
	r.b = r.b[size:]
	return r.take(run{packed: packed}, count)
}

func (r *runs) take(s run, count uint64) (run, error) {
	if count == 0 {
		return run{}, fmt.Errorf("a run of no values with %d of them missing", r.left)
	}
	s.n = int(min(count, uint64(r.left)))
	r.left -= s.n
	if s.packed != nil || r.width > 0 {
		return s, nil
	}
	s.value = 0 // values of no bits are zero
	return s, nil
}

// unpack reads values start to start+len(out) of a packed run.
func unpack(packed []byte, width, start int, out []uint32) {
	if width == 0 {
		clear(out)
		return
	}
	mask := uint64(1)<<width - 1
	bit := start * width
	for i := range out {
		at := bit >> 3
		var w uint64
		if at+8 <= len(packed) {
			w = binary.LittleEndian.Uint64(packed[at:])
		} else {
			for j, b := range packed[at:] {
				w |= uint64(b) << (8 * j)
			}
		}
		out[i] = uint32(w >> (bit & 7) & mask)
		bit += width
	}
}
