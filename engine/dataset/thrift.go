package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxFooter bounds the metadata of a parquet file: a decoded list takes some hundred times
// what it takes in the file.
const maxFooter = 16 << 20

// checkFooter walks over a file's metadata before parquet-go decodes it, which makes room for
// as many elements as a list announces.
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
	if w.fields(0); w.bad {
		return fmt.Errorf("offset %d: metadata of a parquet file was expected", end-int(n)+w.at)
	}
	return nil
}

// walker goes over a struct in thrift's compact protocol (thrift-compact-protocol.md of Apache
// Thrift): every list has room for its elements in the bytes that are left, none nests deeply.
type walker struct {
	b   []byte
	at  int
	bad bool
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

func (w *walker) fields(depth int) {
	for !w.bad {
		head := w.byte()
		if head == 0 {
			return
		}
		if head>>4 == 0 {
			w.uvarint() // the field's number
		}
		if t := head & 15; t > 2 { // a boolean is in its head
			w.value(t, depth+1)
		}
	}
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
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		if n > uint64(len(w.b)-w.at) {
			w.bad = true
		}
		for ; n > 0 && !w.bad; n-- {
			w.value(head&15, depth+1)
		}
	case 12:
		w.fields(depth)
	default: // maps are not in parquet's metadata
		w.bad = true
	}
}
