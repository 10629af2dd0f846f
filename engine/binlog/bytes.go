package binlog

import (
	"encoding/binary"
	"errors"

	"kitescope/engine/dist"
	"kitescope/engine/parquet"
)

// octets is the sink of a blob. Milvus writes each byte of a blob as an INT32. C++ writers write them signed
// (INT_8), so a value from -128 to 255 is accepted and truncated to a byte.
type octets struct {
	rows    []byte
	records *Records // records that are not written to rows; nil for none
}

// span returns the memory for the bytes from at on. It returns at most n bytes, fewer if they are not contiguous.
func (s *octets) span(at, n int) []byte { return s.records.span(s.rows, at, n) }

// put writes bytes from position at on.
func (s *octets) put(b []byte, at int) {
	for len(b) > 0 {
		n := copy(s.span(at, len(b)), b)
		b, at = b[n:], at+n
	}
}

func (s *octets) touch(from, to int) { s.records.touch(from, to) }
func (s *octets) move(to, from int)  { s.span(to, 1)[0] = s.span(from, 1)[0] }
func (s *octets) zero(at int)        { s.span(at, 1)[0] = 0 }

func (s *octets) plain(b []byte, at, n int) error {
	if len(b) != 4*n {
		return errValues(n, len(b))
	}
	for n > 0 {
		rows := s.span(at, n)
		if err := narrow(b, rows); err != nil {
			return err
		}
		b, at, n = b[4*len(rows):], at+len(rows), n-len(rows)
	}
	return nil
}

// narrow decodes INT32 values to bytes.
func narrow(b, dst []byte) error {
	if len(dst) > len(b)/4 {
		return errValues(len(dst), len(b))
	}
	b = b[:4*len(dst)]
	var wrong uint64
	for len(dst) >= 4 {
		// After adding 128, every value that fits in a byte, signed or unsigned, is below 384.
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		v0, v1, v2, v3 := uint32(x), uint32(x>>32), uint32(y), uint32(y>>32)
		wrong |= (383 - uint64(v0+128)) | (383 - uint64(v1+128)) | (383 - uint64(v2+128)) | (383 - uint64(v3+128))
		binary.LittleEndian.PutUint32(dst, v0&255|v1&255<<8|v2&255<<16|v3<<24)
		b, dst = b[16:], dst[4:]
	}
	for i := range dst {
		v := binary.LittleEndian.Uint32(b[4*i:])
		wrong |= 383 - uint64(v+128)
		dst[i] = byte(v)
	}
	if wrong>>63 != 0 {
		return errors.New("a value does not fit in a byte")
	}
	return nil
}

func (s *octets) dictionary(b []byte, n int) (dictionary, error) {
	if len(b) != 4*n {
		return nil, errValues(n, len(b))
	}
	d := &octetEntries{sink: s, entries: make([]byte, n)}
	if err := narrow(b, d.entries); err != nil {
		return nil, err
	}
	copy(d.table[:], d.entries)
	if len(s.rows) >= minWide && !dist.Translates() {
		d.wide = new([1 << 16]uint16)
		for i := range d.wide {
			d.wide[i] = uint16(d.table[i&255]) | uint16(d.table[i>>8])<<8
		}
	}
	return d, nil
}

// minWide is the length of a blob from which a table for two bytes at a time is worth its cost. The table takes
// 128 KiB and halves the time.
const minWide = 4 << 20

type octetEntries struct {
	sink    *octets
	entries []byte
	table   [256]byte // the first entries, so that an 8-bit index needs no bounds check
	wide    *[1 << 16]uint16
}

func (d *octetEntries) repeated(index uint32, at, n int) error {
	for n > 0 {
		rows := d.sink.span(at, n)
		if err := d.fill(index, rows); err != nil {
			return err
		}
		at, n = at+len(rows), n-len(rows)
	}
	return nil
}

// octets decodes n values with 8-bit indices. Writers cut them into runs of 504, shorter than the vector of a
// record, so the destination is looked up once per contiguous range instead of once per run.
func (d *octetEntries) octets(b []byte, at, n int) error {
	r := &parquet.Runs{B: b, Width: 8, Left: n}
	var rows []byte
	for r.Left > 0 {
		left := r.Left
		n, value, packed, err := r.Next()
		if err != nil {
			return err
		}
		for n > 0 {
			if len(rows) == 0 {
				rows = d.sink.span(at, left)
			}
			k := min(n, len(rows))
			if packed != nil {
				err = d.lookUp(packed[:k], rows[:k])
				packed = packed[k:]
			} else {
				err = d.fill(value, rows[:k])
			}
			if err != nil {
				return err
			}
			rows, at, left, n = rows[k:], at+k, left-k, n-k
		}
	}
	return nil
}

func (d *octetEntries) fill(index uint32, rows []byte) error {
	if uint64(index) >= uint64(len(d.entries)) {
		return errIndex(index, len(d.entries))
	}
	v := d.entries[index]
	for i := range rows {
		rows[i] = v
	}
	return nil
}

func (d *octetEntries) packed(b []byte, width, at, n int) error {
	var out [512]byte
	return parquet.EachIndex(b, width, n, func(i int, indices []uint32) error {
		for j, index := range indices {
			if uint64(index) >= uint64(len(d.entries)) {
				return errIndex(index, len(d.entries))
			}
			out[j] = d.entries[index]
		}
		d.sink.put(out[:len(indices)], at+i)
		return nil
	})
}

// lookUp is the inner loop of reading an index file. Vectors use all 256 bytes, so indices have eight bits and are
// stored as bytes.
func (d *octetEntries) lookUp(b, rows []byte) error {
	if len(d.entries) < 256 {
		for _, index := range b {
			if int(index) >= len(d.entries) {
				return errIndex(uint32(index), len(d.entries))
			}
		}
	}
	t := &d.table
	if dist.Translate(t, b, rows) {
		return nil
	}
	if w := d.wide; w != nil {
		for len(b) >= 8 && len(rows) >= 8 {
			x := binary.LittleEndian.Uint64(b)
			binary.LittleEndian.PutUint64(rows,
				uint64(w[uint16(x)])|uint64(w[uint16(x>>16)])<<16|uint64(w[uint16(x>>32)])<<32|
					uint64(w[uint16(x>>48)])<<48)
			b, rows = b[8:], rows[8:]
		}
	}
	for len(b) >= 8 && len(rows) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		lo := uint64(t[byte(x)]) | uint64(t[byte(x>>8)])<<8 | uint64(t[byte(x>>16)])<<16 | uint64(t[byte(x>>24)])<<24
		hi := uint64(t[byte(x>>32)]) | uint64(t[byte(x>>40)])<<8 | uint64(t[byte(x>>48)])<<16 | uint64(t[byte(x>>56)])<<
			24
		binary.LittleEndian.PutUint64(rows, lo|hi<<32)
		b, rows = b[8:], rows[8:]
	}
	for i, index := range b {
		rows[i] = t[index]
	}
	return nil
}
