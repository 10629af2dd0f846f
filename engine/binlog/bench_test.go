//go:build unix

package binlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// -index FILE measures on an index file of a real writer rather than on one of WriteIndexFile.
var (
	indexFlag = flag.String("index", "", "an index file (events, one value per byte) for BenchmarkIndexFile")
	rowsFlag  = flag.Int("rows", 10_000, "rows of 768 dimensions of the file that BenchmarkIndexFile makes without -index")
)

// hnswLike is what an HNSW blob looks like to a compressor: per row 33 small numbers and a vector.
func hnswLike(rows, dim int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, rows*(132+4*dim))
	for range rows {
		b = binary.LittleEndian.AppendUint32(b, 32)
		for range 32 {
			b = binary.LittleEndian.AppendUint32(b, r.Uint32N(uint32(rows)))
		}
		for range dim {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.NormFloat64())))
		}
	}
	return b
}

// BenchmarkIndexFile reads an index file, and, for comparison, only reads and decompresses its
// pages. The bar: the first takes at the most 1.5 times the second, each on as many
// cores as it gets (-cpu 1 for one).
func BenchmarkIndexFile(b *testing.B) {
	ctx := context.Background()
	path := *indexFlag
	if path == "" {
		path = b.TempDir() + "/HNSW"
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := WriteIndexFile(f, Descriptor{}, 1, hnswLike(*rowsFlag, 768)); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	dir, name := ".", path
	if i := bytes.LastIndexByte([]byte(path), '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	store, err := object.OpenFolder(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	open := func(b *testing.B) *envelope {
		b.Helper()
		r, err := store.Open(ctx, name)
		if err != nil {
			b.Fatal(err)
		}
		e := &envelope{name: name, r: r}
		if _, err := e.open(ctx); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(e.size)
		return e
	}
	b.Run("read", func(b *testing.B) {
		use, err := newScratch()
		if err != nil {
			b.Fatal(err)
		}
		defer use.close()
		defer cpuTime(b)()
		for b.Loop() {
			e := open(b)
			blob, err := newBlob(e.size)
			if err != nil {
				b.Fatal(err)
			}
			if err := e.decode(ctx, &octets{rows: blob.Bytes()}, 0, use); err != nil {
				b.Fatal(err)
			}
			blob.Release()
			e.r.Close()
		}
	})
	b.Run("decompress", func(b *testing.B) {
		defer cpuTime(b)()
		for b.Loop() {
			e := open(b)
			decompressOnly(b, e)
			e.r.Close()
		}
	})
}

// cpuTime reports the process's CPU time, which other load on the machine moves less than the
// wall clock.
func cpuTime(b *testing.B) func() {
	b.Helper()
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// decompressOnly is the least that any reader has to do: all pages, decompressed, in memory that
// is its own.
func decompressOnly(b *testing.B, e *envelope) {
	b.Helper()
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	blob, err := newBlob(e.size + e.size/8) // indices of eight bits and the headers of their runs
	if err != nil {
		b.Fatal(err)
	}
	defer blob.Release()
	to := blob.Bytes()
	for _, g := range e.file.Groups {
		k := g.Chunks[0]
		in := parquet.NewPageReader(e.file, k, nil)
		for in.More() {
			h, err := in.Header()
			if err != nil {
				b.Fatal(err)
			}
			body, err := in.Next(int64(h.Compressed))
			if err != nil {
				b.Fatal(err)
			}
			out, err := z.DecodeAll(body, to[:0])
			if err != nil || len(out) != h.Uncompressed || cap(out) != cap(to) {
				b.Fatal(err, len(out), h.Uncompressed)
			}
			to = to[len(out):]
		}
	}
}
