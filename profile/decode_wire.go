package profile

import (
	"encoding/binary"
)

// Wire types of protocol buffers (protobuf.dev/programming-guides/encoding).
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// uvarint reads a number. It returns its value and its length in bytes, which is 0 if b is too short and -1
// if the number is longer than any valid one. Like google/pprof's reader it drops bits beyond the 64th.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	var v uint64
	for i, c := range b {
		if i == binary.MaxVarintLen64 {
			return 0, -1
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	if len(b) >= binary.MaxVarintLen64 {
		return 0, -1
	}
	return 0, 0
}

// field is a field of a message.
type field struct {
	number uint64
	wire   byte
	value  uint64 // for wireVarint, wire64, wire32
	data   []byte // for wireBytes
}

// next reads the first field of a complete message and returns the remaining bytes.
func next(b []byte) (f field, rest []byte, err error) {
	tag, n := uvarint(b)
	if n <= 0 {
		return f, nil, malformed("a field without a number")
	}
	b = b[n:]
	f.number, f.wire = tag>>3, byte(tag&7)
	switch f.wire {
	case wireVarint:
		if f.value, n = uvarint(b); n <= 0 {
			return f, nil, malformed("field %d has no end", f.number)
		}
	case wire64:
		if n = 8; len(b) < n {
			return f, nil, malformed("field %d has no end", f.number)
		}
		f.value = binary.LittleEndian.Uint64(b)
	case wire32:
		if n = 4; len(b) < n {
			return f, nil, malformed("field %d has no end", f.number)
		}
		f.value = uint64(binary.LittleEndian.Uint32(b))
	case wireBytes:
		length, k := uvarint(b)
		if k <= 0 || length > uint64(len(b)-k) {
			return f, nil, malformed("field %d is longer than its message", f.number)
		}
		n = k + int(length)
		f.data = b[k:n]
	default:
		return f, nil, malformed("field %d has unknown type %d", f.number, f.wire)
	}
	return f, b[n:], nil
}

// need checks that a field has the wire type of its number in profile.proto.
func (f *field) need(wire byte) error {
	if f.wire != wire {
		return malformed("field %d is of type %d instead of %d", f.number, f.wire, wire)
	}
	return nil
}

// scalars reads a message whose known fields are all numbers. It sets fields[i] to the value of field i, the
// last one if it is repeated. fields[0] is unused.
func (d *decoder) scalars(b []byte, fields []uint64) error {
	for len(b) > 0 {
		if len(b) > 1 && b[0]&0x87 == wireVarint && int(b[0]>>3) < len(fields) { // the common case
			if v, n := uvarint(b[1:]); n > 0 {
				d.set(&fields[b[0]>>3], v)
				b = b[1+n:]
				continue
			}
		}
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		if f.number == 0 || f.number >= uint64(len(fields)) {
			continue
		}
		if err := f.need(wireVarint); err != nil {
			return err
		}
		d.set(&fields[f.number], f.value)
	}
	return nil
}

// set stores the number of a field. If a field is repeated, the last number counts, as in protocol buffers.
// d.twice counts repetitions with another number, because no writer makes them: a wrong length is the more
// likely cause.
func (d *decoder) set(field *uint64, v uint64) {
	if *field != 0 && *field != v {
		d.conflicts++
	}
	*field = v
}

// each calls add for each number of a repeated field, packed or not.
func (f *field) each(add func(uint64) error) error {
	if f.wire != wireBytes {
		if err := f.need(wireVarint); err != nil {
			return err
		}
		return add(f.value)
	}
	for b := f.data; len(b) > 0; {
		v, n := uvarint(b)
		if n <= 0 {
			return malformed("field %d ends within a number", f.number)
		}
		if err := add(v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// grow returns s with capacity for at least n more values. done is the fraction of the input that was read, 0
// if unknown. If done predicts the number of values, grow allocates memory for all values at once. Memory
// pages that are never written cost nothing, whereas a table that grows is in memory twice for a while.
func grow[T any](s []T, n int, done float64) []T {
	return reallocate(s, max(targetCap(s, done), len(s)+n))
}

// reallocate returns a copy of s with capacity n. append and slices.Grow would zero the additional capacity.
func reallocate[T any](s []T, n int) []T {
	to := make([]T, len(s), n)
	copy(to, s)
	return to
}

// room returns s with capacity for n more values.
func room[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return grow(s, n, 0)
}
