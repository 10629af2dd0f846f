package parquet

import (
	"encoding/binary"
	"fmt"
)

// Runs reads parquet's hybrid of run-length and bit-packed encoding, which is used for levels and dictionary
// indices (Encodings.md, RLE = 3). The bytes must hold exactly the expected number of values, without a further
// run. The last packed run may be padded with arbitrary values: DuckDB's has 256 values.
type Runs struct {
	B     []byte
	Width int // bits of a value, 0 to 32
	Left  int // remaining values
}

// EachRun calls repeated or packed for the runs that make up n values.
func EachRun(
	b []byte, width, at, n int, repeated func(v uint32, at, n int) error, packed func(b []byte, width, at, n int) error,
) error {
	r := &Runs{B: b, Width: width, Left: n}
	for r.Left > 0 {
		n, value, bits, err := r.Next()
		if err != nil {
			return err
		}
		if bits == nil {
			err = repeated(value, at, n)
		} else {
			err = packed(bits, width, at, n)
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// EachIndex unpacks n values and calls f for each batch of at most 512.
func EachIndex(b []byte, width, n int, f func(at int, values []uint32) error) error {
	var buffer [512]uint32
	for at := 0; at < n; at += len(buffer) {
		out := buffer[:min(len(buffer), n-at)]
		unpack(b, width, at, out)
		if err := f(at, out); err != nil {
			return err
		}
	}
	return nil
}

// Next returns the next run of n values, at most Left. Either all equal value (packed is nil), or they are packed,
// least significant bit first. It must not be called when Left is 0. Separate results stay in registers, whereas a
// struct would be written to memory for every run.
func (r *Runs) Next() (n int, value uint32, packed []byte, err error) {
	head, size := binary.Uvarint(r.B)
	if size <= 0 {
		return 0, 0, nil, fmt.Errorf("the encoded values end with %d missing", r.Left)
	}
	r.B = r.B[size:]
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
		return 0, 0, nil, fmt.Errorf("an empty run with %d values missing", r.Left)
	case count > uint64(r.Left) && packed == nil:
		return 0, 0, nil, fmt.Errorf("a run of %d values where %d are left", count, r.Left)
	case count >= uint64(r.Left):
		if err := checkEnd(r.B); err != nil {
			return 0, 0, nil, err
		}
	}
	n = int(min(count, uint64(r.Left)))
	r.Left -= n
	return n, value, packed, nil
}

func (r *Runs) repeated(count uint64) (value uint32, err error) {
	size := (r.Width + 7) / 8
	if size > len(r.B) {
		return 0, fmt.Errorf("a run of %d values ends before its value", count)
	}
	for i := range size {
		value |= uint32(r.B[i]) << (8 * i)
	}
	r.B = r.B[size:]
	return value, nil
}

func (r *Runs) bitPacked(groups uint64) (packed []byte, count uint64, err error) {
	// The second condition is groups > len(r.B)/width + 1, without a division for each run.
	if most, width := uint64(len(r.B)), uint64(max(r.Width, 1)); groups > most+1 || groups*width > most+width {
		return nil, 0, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.B))
	}
	size, count := int(groups)*r.Width, groups*8
	if size > len(r.B) { // the last group may be truncated after its last value
		if size-len(r.B) >= r.Width {
			return nil, 0, fmt.Errorf("%d groups of eight packed values in %d bytes", groups, len(r.B))
		}
		count = uint64(len(r.B)) * 8 / uint64(r.Width)
		size = len(r.B)
	}
	packed = r.B[:size:size]
	r.B = r.B[size:]
	return packed, count, nil
}

// unpack decodes values start to start+len(out) of a packed run.
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
