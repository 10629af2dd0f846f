package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of the metadata of a parquet file. A struct of one byte in a list takes up to 600 in
// memory, and the path of each element of the schema is kept as a list of names.
const (
	maxFooter  = 16 << 20
	maxStructs = 1 << 19
	maxSchema  = 1 << 16
	maxNesting = 64
)

// checkFooter walks over a file's metadata before parquet-go decodes it, which makes room for
// as many elements as a list announces, and opens groups within groups by recursion.
func checkFooter(data []byte) error {
	if len(data) < 12 || string(data[:4]) != "PAR1" || string(data[len(data)-4:]) != "PAR1" {
		return errors.New(`offset 0: a parquet file, with "PAR1" at both ends, was expected`)
	}
	end := len(data) - 8
	n := int64(binary.LittleEndian.Uint32(data[end:]))
	if n > maxFooter || n > int64(end)-4 {
		return fmt.Errorf("offset %d: metadata of at most %d bytes was expected, %d were announced", end, min(maxFooter, end-4), n)
	}
	w := walker{b: data[end-int(n) : end]}
	err := w.metadata()
	switch {
	case w.structs > maxStructs:
		return fmt.Errorf("offset %d: metadata of at most %d structures was expected, found more", end-int(n)+w.at, maxStructs)
	case w.bad:
		return fmt.Errorf("offset %d: metadata of a parquet file was expected", end-int(n)+w.at)
	}
	return err
}

// metadata walks over a FileMetaData (parquet.thrift), whose second field is the schema.
func (w *walker) metadata() (err error) {
	w.each(func(id int16, t byte) {
		if id == 2 && (t == 9 || t == 10) && err == nil {
			err = w.schema()
			return
		}
		w.value(t, 1)
	})
	return err
}

// schema walks over a list of SchemaElements, the tree of columns from its root on: those that have children (their
// fifth field) stand before them.
func (w *walker) schema() error {
	n := w.list(12)
	if n > maxSchema {
		return fmt.Errorf("a schema of at most %d elements was expected, found %d", maxSchema, n)
	}
	var open []int64 // how many children each group has that are still to come
	for ; n > 0 && !w.bad; n-- {
		for len(open) > 0 && open[len(open)-1] <= 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		children := int64(0)
		w.each(func(id int16, t byte) {
			if id == 5 && t >= 4 && t <= 6 {
				children = w.varint()
				return
			}
			w.value(t, 2)
		})
		if open = append(open, children); len(open) > maxNesting {
			return fmt.Errorf("columns of at most %d levels were expected, found more", maxNesting)
		}
	}
	return nil
}

// walker goes over a struct in thrift's compact protocol (thrift-compact-protocol.md of Apache
// Thrift): every list has room for its elements in the bytes that are left, none nests deeply.
type walker struct {
	b       []byte
	at      int
	bad     bool
	structs int // in lists
}

// maxDepth is how deeply structs and lists nest; parquet's do five times.
const maxDepth = 16

func (w *walker) byte() byte {
	w.skip(1)
	if w.bad {
		return 0
	}
	return w.b[w.at-1]
}

func (w *walker) skip(n uint64) {
	if w.bad || n > uint64(len(w.b)-w.at) {
		w.bad = true
		return
	}
	w.at += int(n)
}

func (w *walker) uvarint() uint64 {
	if w.bad {
		return 0
	}
	v, n := binary.Uvarint(w.b[w.at:])
	if n <= 0 {
		w.bad = true
		return 0
	}
	w.at += n
	return v
}

func (w *walker) varint() int64 {
	u := w.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// each calls back for the fields of a struct, with their numbers and types; f passes over the value.
func (w *walker) each(f func(id int16, t byte)) {
	var id int16
	for !w.bad {
		head := w.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			id = int16(w.varint())
		}
		if t := head & 15; t > 2 { // a boolean is in its head
			f(id, t)
		}
	}
}

func (w *walker) fields(depth int) {
	w.each(func(_ int16, t byte) { w.value(t, depth+1) })
}

// list passes over the head of a list whose elements have to be of that type.
func (w *walker) list(of byte) uint64 {
	head := w.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = w.uvarint()
	}
	if n > uint64(len(w.b)-w.at) || n > 0 && head&15 != of {
		w.bad = true
		return 0
	}
	if of == 12 {
		if w.structs += int(n); w.structs > maxStructs {
			w.bad = true
		}
	}
	return n
}

func (w *walker) value(t byte, depth int) {
	if depth > maxDepth {
		w.bad = true
	}
	switch t {
	case 1, 2, 3: // booleans and bytes
		w.skip(1)
	case 4, 5, 6: // integers
		w.uvarint()
	case 7: // double
		w.skip(8)
	case 8: // binary
		w.skip(w.uvarint())
	case 9, 10: // list, set
		if w.at >= len(w.b) {
			w.bad = true
			return
		}
		of := w.b[w.at] & 15
		if of == 1 || of == 2 { // nowhere in parquet's, and parquet-go passes over other bytes than these
			w.bad = true
		}
		for n := w.list(of); n > 0 && !w.bad; n-- {
			w.value(of, depth+1)
		}
	case 12:
		w.fields(depth)
	default: // maps are not in parquet's metadata
		w.bad = true
	}
}
