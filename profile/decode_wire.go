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

// uvarint reads a number: its value and its length, 0 if b is too short, -1 if it is longer than any number
// may be. As google/pprof's reader does, it drops bits beyond the 64th.
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

// field is one field of a message.
type field struct {
	number uint64
	wire   byte
	value  uint64 // of wireVarint, wire64, wire32
	data   []byte // of wireBytes
}

// next takes the first field off a message that is complete.
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

// need checks that a field is of the type that its number has in profile.proto.
func (f *field) need(wire byte) error {
	if f.wire != wire {
		return malformed("field %d is of type %d instead of %d", f.number, f.wire, wire)
	}
	return nil
}

// scalars reads a message of which every known field is a number: fields[i] is that of field i, the last if it
// comes several times; fields[0] is not used.
func (d *decoder) scalars(b []byte, fields []uint64) error {
	for len(b) > 0 {
		if len(b) > 1 && b[0]&0x87 == wireVarint && int(b[0]>>3) < len(fields) { // the usual
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

// set keeps the number of a field. Protocol buffers let the last one count, but no writer writes two: lengths are wrong, more likely.
func (d *decoder) set(field *uint64, v uint64) {
	if *field != 0 && *field != v {
		d.twice++
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

// grown is s with room for n more values. done is which part of the input is used up, 0 if unknown: where that lets
// foresee how many values there will be, it takes the room for all at once. Pages of memory that are never written cost
// nothing, while a table that is moved to grow is there twice for a while.
func grown[T any](s []T, n int, done float64) []T { return moved(s, max(wanted(s, done), len(s)+n)) }

// moved is s with room for n values in all. append and slices.Grow would write zeros into the room that they make.
func moved[T any](s []T, n int) []T {
	to := make([]T, len(s), n)
	copy(to, s)
	return to
}

// room is s with room for n more values.
func room[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return grown(s, n, 0)
}
