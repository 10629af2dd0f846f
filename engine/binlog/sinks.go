package binlog

import (
	"encoding/binary"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/parquet"
)

// sink writes the values of a column to their final place. Its pages may be decoded concurrently, because each
// fills its own rows. Rows are within the bounds of the sink.
type sink interface {
	// dictionary parses a dictionary page of n PLAIN values.
	dictionary(b []byte, n int) (dictionary, error)
	// plain writes n PLAIN values to the rows from at on.
	plain(b []byte, at, n int) error
	// move copies a row, zero clears a row. They make room for nulls among dense values.
	move(to, from int)
	zero(at int)
}

// toucher is a sink with a lot of memory. touch faults in the memory of the rows [from, to) before any row is
// written.
type toucher interface{ touch(from, to int) }

// dictionary writes its entries to rows of its sink.
type dictionary interface {
	repeated(index uint32, at, n int) error
	packed(b []byte, width, at, n int) error
}

func errIndex(index uint32, n int) error {
	return fmt.Errorf("index %d into a dictionary of %d values", index, n)
}

func errValues(n, have int) error { return fmt.Errorf("%d values do not match %d bytes", n, have) }

// parse decodes PLAIN bytes to len(dst) values.
type parse[T any] func(b []byte, dst []T) error

// slice is a sink for values of a Go type.
type slice[T any] struct {
	rows    []T
	parse   parse[T]
	minSize int // minimum size of a value in bytes; 0 for bits
}

func (s *slice[T]) plain(b []byte, at, n int) error { return s.parse(b, s.rows[at:at+n]) }
func (s *slice[T]) move(to, from int)               { s.rows[to] = s.rows[from] }

func (s *slice[T]) zero(at int) {
	var none T
	s.rows[at] = none
}

func (s *slice[T]) dictionary(b []byte, n int) (dictionary, error) {
	if s.minSize == 0 || n > len(b)/s.minSize {
		return nil, errValues(n, len(b))
	}
	d := &entries[T]{sink: s, entries: make([]T, n)}
	return d, s.parse(b, d.entries)
}

type entries[T any] struct {
	sink    *slice[T]
	entries []T
}

func (d *entries[T]) repeated(index uint32, at, n int) error {
	if uint64(index) >= uint64(len(d.entries)) {
		return errIndex(index, len(d.entries))
	}
	v, rows := d.entries[index], d.sink.rows[at:at+n]
	for i := range rows {
		rows[i] = v
	}
	return nil
}

func (d *entries[T]) packed(b []byte, width, at, n int) error {
	return parquet.EachIndex(b, width, n, func(i int, indices []uint32) error {
		rows := d.sink.rows[at+i : at+i+len(indices)]
		for j, index := range indices {
			if uint64(index) >= uint64(len(d.entries)) {
				return errIndex(index, len(d.entries))
			}
			rows[j] = d.entries[index]
		}
		return nil
	})
}

// parseInts returns a parser of INT32, INT64 or BOOLEAN (bit-packed), and the minimum size of a value in bytes.
func parseInts(physical int) (parse[int64], int, error) {
	switch physical {
	case parquet.Boolean:
		return func(b []byte, dst []int64) error {
			if len(b) != (len(dst)+7)/8 {
				return errValues(len(dst), len(b))
			}
			for i := range dst {
				dst[i] = int64(b[i>>3] >> (i & 7) & 1)
			}
			return nil
		}, 0, nil
	case parquet.Int32:
		return func(b []byte, dst []int64) error {
			if len(b) != 4*len(dst) {
				return errValues(len(dst), len(b))
			}
			for i := range dst {
				dst[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
			}
			return nil
		}, 4, nil
	case parquet.Int64:
		return func(b []byte, dst []int64) error {
			if len(b) != 8*len(dst) {
				return errValues(len(dst), len(b))
			}
			for i := range dst {
				dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
			}
			return nil
		}, 8, nil
	}
	return nil, 0, fmt.Errorf("parquet type %s holds no integers", parquet.PhysicalName(physical))
}

func parseFloats(physical int) (parse[float64], int, error) {
	switch physical {
	case parquet.Float:
		return func(b []byte, dst []float64) error {
			if len(b) != 4*len(dst) {
				return errValues(len(dst), len(b))
			}
			for i := range dst {
				dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
			}
			return nil
		}, 4, nil
	case parquet.Double:
		return func(b []byte, dst []float64) error {
			if len(b) != 8*len(dst) {
				return errValues(len(dst), len(b))
			}
			for i := range dst {
				dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
			return nil
		}, 8, nil
	}
	return nil, 0, fmt.Errorf("parquet type %s holds no floats", parquet.PhysicalName(physical))
}

// parseStrings parses BYTE_ARRAY. The strings of a page share one copy of the page.
func parseStrings(b []byte, dst []string) error {
	text, at := string(b), 0
	for i := range dst {
		if len(b)-at < 4 {
			return fmt.Errorf("string %d of %d starts beyond byte %d", i, len(dst), len(b))
		}
		n := int64(binary.LittleEndian.Uint32(b[at:]))
		if at += 4; n > int64(len(b)-at) {
			return fmt.Errorf("string %d of %d has %d bytes where %d are left", i, len(dst), n, len(b)-at)
		}
		dst[i] = text[at : at+int(n)]
		at += int(n)
	}
	if at < len(b) {
		return errValues(len(dst), len(b))
	}
	return nil
}

// vectors is a sink that writes fixed_len_byte_array values to rows of vectors.
type vectors struct {
	rows *engine.Vectors
	size int
}

func (s *vectors) plain(b []byte, at, n int) error {
	if len(b) != n*s.size {
		return errValues(n, len(b))
	}
	for i := range n {
		copy(s.rows.Row(at+i), b[i*s.size:(i+1)*s.size])
	}
	return nil
}

func (s *vectors) touch(from, to int) { engine.Touch(s.rows.Span(from, to)) }
func (s *vectors) move(to, from int)  { copy(s.rows.Row(to), s.rows.Row(from)) }
func (s *vectors) zero(at int)        { clear(s.rows.Row(at)) }

func (s *vectors) dictionary(b []byte, n int) (dictionary, error) {
	if len(b) != n*s.size {
		return nil, errValues(n, len(b))
	}
	return &vectorEntries{sink: s, b: append([]byte(nil), b...), n: n}, nil
}

type vectorEntries struct {
	sink *vectors
	b    []byte
	n    int
}

func (d *vectorEntries) repeated(index uint32, at, n int) error {
	if uint64(index) >= uint64(d.n) {
		return errIndex(index, d.n)
	}
	v := d.b[int(index)*d.sink.size:][:d.sink.size]
	for i := range n {
		copy(d.sink.rows.Row(at+i), v)
	}
	return nil
}

func (d *vectorEntries) packed(b []byte, width, at, n int) error {
	return parquet.EachIndex(b, width, n, func(i int, indices []uint32) error {
		for j, index := range indices {
			if err := d.repeated(index, at+i+j, 1); err != nil {
				return err
			}
		}
		return nil
	})
}
