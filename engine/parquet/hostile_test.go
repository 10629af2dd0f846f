package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

func TestHostileMetadata(t *testing.T) {
	// A list of ten million columns of a byte each would take some hundred times its size.
	c := &compact{b: append(binary.AppendUvarint([]byte{15<<4 | thriftStruct}, 10_000_000), make([]byte, 10_000_000)...)}
	c.eachStruct(thriftList, func() { c.columnChunk() })
	if c.err == nil {
		t.Error("columns without metadata were read")
	}
	deep := &compact{b: bytes.Repeat([]byte{1<<4 | thriftStruct}, 1<<20)}
	if deep.skip(thriftStruct); deep.err == nil || !strings.Contains(deep.err.Error(), "nested deeper") {
		t.Errorf("a million nested structs: %v", deep.err)
	}
}

func TestZstdIsBoundedByItsBlocks(t *testing.T) {
	// One frame without a content size, 1000 blocks of 128 KiB of one byte each.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x58}
	for i := range 1000 {
		block := 128<<10<<3 | 1<<1
		if i == 999 {
			block |= 1
		}
		frame = append(frame, byte(block), byte(block>>8), byte(block>>16), 0)
	}
	if n, err := zstdBound(frame); n != 1000*128<<10 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := zstdBound(frame[:len(frame)-2]); err == nil {
		t.Error("no error for a frame that is cut")
	}
}

// FuzzOpen: nothing that a file says makes either way of opening it panic, or take much memory.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"one", "plain", "zeros"} {
		b, err := os.ReadFile("../dataset/testdata/" + name + ".parquet")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := ReadFooter(Bytes(b), 0, int64(len(b))); err == nil {
			for _, g := range file.Groups {
				for _, k := range g.Chunks {
					in := NewPageReader(file, k, nil)
					for in.More() {
						h, err := in.Header()
						if err != nil {
							break
						}
						if _, err := in.Next(int64(h.Compressed)); err != nil {
							break
						}
					}
				}
			}
		}
		file, err := Open(Bytes(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, leaf := range file.Root().Columns() {
			if leaf.Leaf() {
				_, _ = CheckPages(file, leaf, Bytes(b), int64(len(b)), 10)
			}
		}
	})
}
