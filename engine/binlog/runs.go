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

// next returns the next run: n values, of left at the most, all the same (packed is nil), or packed into bits, least significant first.
// It is not called at the end. Results of their own stay in registers, where a struct of them went through memory, again and again.
func (r *runs) next() (n int, value uint32, packed []byte, err error) {
	head, size := binary.Uvarint(r.b)
	if size <= 0 {
		return 0, 0, nil, fmt.Errorf("the encoded values end with %d of them missing", r.left)
	}
	r.b = r.b[size:]
	count := head >> 1
	if head&1 == 1 {
		packed, count, err = r.bitPacked(count)
	} else {
		value, err = r.repeated(count)
	}
	switch {
	case err != nil:
		return 0, 0, nil, err
	case count == 0:
		return 0, 0, nil, fmt.Errorf("a run of no values with %d of them missing", r.left)
	}
	n = int(min(count, uint64(r.left)))
	r.left -= n
	return n, value, packed, nil
}

func (r *runs) repeated(count uint64) (value uint32, err error) {
	size := (r.width + 7) / 8
	if size > len(r.b) {
		return 0, fmt.Errorf("a run of %d values ends before its value", count)
	}
	for i := range size {
		value |= uint32(r.b[i]) << (8 * i)
	}
	r.b = r.b[size:]
	return value, nil
}

func (r *runs) bitPacked(groups uint64) (packed []byte, count uint64, err error) {
	// The second is groups > len(r.b)/width + 1, without a division for each run.
	if most, width := uint64(len(r.b)), uint64(max(r.width, 1)); groups > most+1 || groups*width > most+width {
		return nil, 0, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.b))
	}
	size, count := int(groups)*r.width, groups*8
	if size > len(r.b) { // the last group may be cut off behind its last value
		if size-len(r.b) >= r.width {
			return nil, 0, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.b))
		}
		count = uint64(len(r.b)) * 8 / uint64(r.width)
		size = len(r.b)
	}
	packed = r.b[:size:size]
	r.b = r.b[size:]
	return packed, count, nil
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
