package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileMetadata(t *testing.T) {
	// The decoded list of ten million one-byte columns would take several hundred times its size.
	c := &compact{
		b: append(binary.AppendUvarint([]byte{15<<4 | thriftStruct}, 10_000_000), make([]byte, 10_000_000)...),
	}
	c.eachStruct(thriftList, func() { c.columnChunk() })
	if c.err == nil {
		t.Error("columns without metadata were read")
	}
	deep := &compact{b: bytes.Repeat([]byte{1<<4 | thriftStruct}, 1<<20)}
	if deep.skip(thriftStruct); deep.err == nil || !strings.Contains(deep.err.Error(), "nested deeper") {
		t.Errorf("a million nested structs: %v", deep.err)
	}
}

// FuzzOpen checks that arbitrary bytes neither panic nor take much memory.
func FuzzOpen(f *testing.F) {
	names, err := filepath.Glob("../dataset/testdata/pyarrow/*.parquet")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range append(names, "../dataset/testdata/plain.parquet", "../dataset/testdata/zeros.parquet") {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := ReadFooter(Bytes(b), 0, int64(len(b))); err == nil {
			for i := range file.Leaves {
				_ = file.Pages(t.Context(), i, func(Page) error { return nil })
			}
			for _, g := range file.Groups {
				for _, k := range g.Chunks {
					far := readPages(file, k, b)
					file.R = localReader{Bytes(b)}
					if near := readPages(file, k, b); near != far {
						t.Errorf("%d pages in windows for a reader that is near, %d else", near, far)
					}
				}
			}
		}
	})
}

// localReader is a Local reader.
type localReader struct{ io.ReaderAt }

func (localReader) Local() bool { return true }

// readPages reads as many pages of a chunk as possible, in new memory after each window. It panics if a page
// differs from the bytes of the file or changes later.
func readPages(file *File, k Chunk, b []byte) (n int) {
	type body struct {
		at int64
		b  []byte
	}
	var got []body
	in := NewPageReader(file, k, nil)
	check := func() {
		for _, p := range got {
			if !bytes.Equal(p.b, b[p.at:p.at+int64(len(p.b))]) {
				panic(fmt.Sprintf("the page at offset %d has changed", p.at))
			}
		}
		got = got[:0]
	}
	defer check()
	for ; in.More(); n++ {
		if !in.Buffered() {
			check()
			in.Move(make([]byte, 0, 100*(n%3)))
		}
		h, err := in.Header()
		if err != nil {
			return n
		}
		at := in.At()
		p, err := in.Next(int64(h.Compressed))
		if err != nil {
			return n
		}
		got = append(got, body{at, p})
	}
	return n
}

// TestPagesOfAnyLength reads short and long pages, some longer than a window, from Local and other readers.
func TestPagesOfAnyLength(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var b []byte
	var lengths []int
	for i := range 200 {
		n := r.IntN(1 << r.IntN(18))
		if i%50 == 49 {
			n = Window + r.IntN(Window)
		}
		lengths = append(lengths, n)
		b = append(b, 0x15, 0, 0x15, 2)                        // type, uncompressed size in zigzag encoding
		b = binary.AppendUvarint(append(b, 0x15), uint64(2*n)) // compressed size
		b = append(b, 0x2c, 0x15, 2, 0x15, 0, 0, 0)            // data page header: values, encoding
		for range n {
			b = append(b, byte(r.Uint32()))
		}
	}
	for name, reader := range map[string]io.ReaderAt{"far": Bytes(b), "near": localReader{Bytes(b)}} {
		file := &File{R: reader}
		k := Chunk{Length: int64(len(b))}
		if n := readPages(file, k, b); n != len(lengths) {
			t.Errorf("%s: %d pages of %d", name, n, len(lengths))
		}
		in := NewPageReader(file, k, nil)
		for i, want := range lengths {
			h, err := in.Header()
			if err != nil || h.Compressed != want {
				t.Fatalf("%s: page %d has %d bytes, want %d: %v", name, i, h.Compressed, want, err)
			}
			if _, err := in.Next(int64(want)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
