// Package damagetest changes the counts and lengths declared in a file, one at a time. It checks that the reader
// either refuses the damaged file or reads the same from it as before.
package damagetest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Field is a count or a length in a file.
type Field struct {
	Name    string
	At, Len int // the offset and length in bytes
	Value   uint64
	Put     func(v uint64) []byte // returns the encoding of another value, of any length
}

// Little returns a little-endian field of size bytes.
func Little(file []byte, name string, at, size int) Field {
	var b [8]byte
	copy(b[:], file[at:at+size])
	return Field{
		name, at, size, binary.LittleEndian.Uint64(b[:]),
		func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v)[:size] },
	}
}

// Big returns a big-endian field of size bytes.
func Big(file []byte, name string, at, size int) Field {
	var b [8]byte
	copy(b[8-size:], file[at:at+size])
	return Field{
		name, at, size, binary.BigEndian.Uint64(b[:]),
		func(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v)[8-size:] },
	}
}

// Varint returns a field encoded as a varint (7 bits per byte).
func Varint(file []byte, name string, at int) Field {
	v, n := binary.Uvarint(file[at:])
	return Field{name, at, n, v, func(v uint64) []byte { return binary.AppendUvarint(nil, v) }}
}

// Text returns a field of decimal digits.
func Text(file []byte, name string, at int) Field {
	n := 0
	for at+n < len(file) && file[at+n] >= '0' && file[at+n] <= '9' {
		n++
	}
	v, _ := strconv.ParseUint(string(file[at:at+n]), 10, 64)
	return Field{name, at, n, v, func(v uint64) []byte { return strconv.AppendUint(nil, v, 10) }}
}

// Count returns the number of changes for the test of a reader: 10,000, or 300 in short mode.
func Count() int {
	if testing.Short() {
		return 300
	}
	return 10_000
}

// Run changes the fields of a file n times. read returns everything that the reader under test reads, as text.
func Run(t *testing.T, file []byte, fields []Field, n int, read func(file []byte) (string, error)) {
	t.Helper()
	want, err := read(bytes.Clone(file))
	if err != nil || len(fields) == 0 {
		t.Fatalf("%d fields of the file: %v", len(fields), err)
	}
	r := rand.New(rand.NewPCG(uint64(len(file)), 1))
	fields = slices.Clone(fields)
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	refused, failed := 0, map[string]bool{}
	for i := range n {
		f := fields[i%len(fields)]
		v := f.otherValue(r, i/len(fields))
		damaged := slices.Concat(file[:f.At], f.Put(v), file[f.At+f.Len:])
		got, err := read(damaged)
		if err != nil {
			refused++
			continue
		}
		if got != want && !failed[f.Name] {
			failed[f.Name] = true
			t.Errorf("%s at offset %d: %d instead of %d was read without an error:\n%.300s\nwant\n%.300s", f.Name, f.At,
				v, f.Value, got, want)
		}
	}
	t.Logf("%d changes of %d fields: %d refused, %d the same", n, len(fields), refused, n-refused)
	if refused == 0 {
		t.Errorf("none of %d changes was refused", n)
	}
}

// otherValue returns a value that differs from the current one. Values nearest to the current one come first.
func (f Field) otherValue(r *rand.Rand, i int) uint64 {
	for {
		v := f.Value
		switch i {
		case 0:
			v++
		case 1:
			v--
		case 2:
			v *= 2
		case 3:
			v /= 2
		case 4:
			v = 0
		case 5:
			v = ^uint64(0)
		default:
			switch r.IntN(4) {
			case 0:
				v += 1 + r.Uint64N(16)
			case 1:
				v -= 1 + r.Uint64N(16)
			case 2:
				v = r.Uint64N(2*v + 2)
			case 3:
				v ^= 1 << r.IntN(8*min(f.Len, 8))
			}
		}
		if !bytes.Equal(f.Put(v), f.Put(f.Value)) {
			return v
		}
		i = 6
	}
}
