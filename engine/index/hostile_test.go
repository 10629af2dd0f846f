package index

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"kitescope/engine/hnsw"
)

// TestMemoryIsBounded checks that a small file that claims to be large is refused, or read, in memory proportional
// to its size. It increases every field of every header.
func TestMemoryIsBounded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	const header, fixed, factor = 400, 1 << 18, 24 // fixed: goroutines, messages, lists of counts
	var before, after runtime.MemStats
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := os.ReadFile(file + ".raw")
		for at := 0; at+8 <= min(len(whole), header); at += 4 {
			for _, claim := range []uint64{1 << 20, 1<<31 - 1, 1 << 33, 1 << 60, 1<<64 - 1} {
				data := bytes.Clone(whole)
				if claim < 1<<32 {
					binary.LittleEndian.PutUint32(data[at:], uint32(claim))
				} else {
					binary.LittleEndian.PutUint64(data[at:], claim)
				}
				runtime.ReadMemStats(&before)
				f, err := Parse(file, data, Hint{RawData: raw})
				runtime.ReadMemStats(&after)
				if got, most := after.TotalAlloc-before.TotalAlloc, uint64(factor*(len(data)+len(raw))+fixed); got >
					most {
					t.Errorf("%s: %d at offset %d: %d bytes were allocated for a file of %d (%v)", file, claim, at, got,
						len(data), err)
				}
				if err != nil {
					continue
				}
				if As[hnsw.Index](f) != nil && As[hnsw.Index](f).Vectors.Bytes() > factor*len(data)+fixed {
					t.Errorf("%s: %d at offset %d: %d bytes of vectors of a file of %d", file, claim, at,
						As[hnsw.Index](f).Vectors.Bytes(), len(data))
				}
				f.Close()
			}
		}
	}
}
