package hnsw_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// file reads little-endian fields of an index file.
type file struct {
	t    *testing.T
	data []byte
	at   int
}

func open(t *testing.T, name string) *file {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return &file{t: t, data: data}
}

func (f *file) bytes(n int) []byte {
	f.t.Helper()
	if n < 0 || f.at+n > len(f.data) {
		f.t.Fatalf("%d bytes at %d of %d", n, f.at, len(f.data))
	}
	b := f.data[f.at : f.at+n]
	f.at += n
	return b
}

func (f *file) u32() uint32 { return binary.LittleEndian.Uint32(f.bytes(4)) }
func (f *file) u64() uint64 { return binary.LittleEndian.Uint64(f.bytes(8)) }
func (f *file) n() int      { return int(f.u64()) }

func (f *file) u32s(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = f.u32()
	}
	return out
}

func (f *file) f32s(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(f.u32())
	}
	return out
}

func (f *file) i64s(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(f.u64())
	}
	return out
}

func (f *file) vectors(dim, rows int) *engine.Vectors {
	v, err := engine.NewVectors(dist.Float32, dim, rows)
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

// list writes count links to slots and fills the rest with End.
func list(slots, links []uint32, count int) {
	copy(slots, links[:count])
	for i := count; i < len(slots); i++ {
		slots[i] = hnsw.End
	}
}

// readHNSWLib reads a file written by saveIndex of hnswlib 0.8.0.
func readHNSWLib(t *testing.T, name string, metric engine.Metric) *hnsw.Index {
	t.Helper()
	f := open(t, name)
	x := &hnsw.Index{Metric: metric}
	f.n()
	f.n()
	n := f.n()
	size, _, offset := f.n(), f.n(), f.n()
	x.MaxLevel, x.Entry = int(int32(f.u32())), f.u32()
	x.M, x.M0 = f.n(), f.n()
	f.n()
	f.u64()
	x.EFConstruction = f.n()
	dim := (size - offset - 8) / 4
	x.Vectors = f.vectors(dim, n)
	x.Deleted = engine.NewBitset(n)
	x.Base = make([]uint32, n*x.M0)
	for i := range n {
		head := f.u32()
		if head>>16&1 != 0 {
			x.Deleted.Set(i)
		}
		list(x.Base[i*x.M0:(i+1)*x.M0], f.u32s(x.M0), int(head&0xffff))
		copy(x.Vectors.Float32(i), f.f32s(dim))
		x.Labels = append(x.Labels, int64(f.u64()))
	}
	readUpper(f, x, n)
	return x
}

func readUpper(f *file, x *hnsw.Index, n int) {
	for range n {
		x.UpperAt = append(x.UpperAt, uint32(len(x.Upper)/x.M))
		levels := int(f.u32()) / (4 + 4*x.M)
		x.Levels = append(x.Levels, uint8(levels))
		for range levels {
			count := int(f.u32() & 0xffff)
			slots := make([]uint32, x.M)
			list(slots, f.u32s(x.M), count)
			x.Upper = append(x.Upper, slots...)
		}
	}
	if f.at != len(f.data) {
		f.t.Fatalf("%d bytes are left", len(f.data)-f.at)
	}
}

// readKnowhere reads the HNSW blob of knowhere 2.2.
func readKnowhere(t *testing.T, blob []byte) *hnsw.Index {
	t.Helper()
	f := &file{t: t, data: blob}
	x := &hnsw.Index{}
	metric := f.n()
	f.n()
	dim := f.n()
	f.n()
	f.n()
	n := f.n()
	f.n()
	f.n()
	f.n()
	x.MaxLevel, x.Entry = int(int32(f.u32())), f.u32()
	x.M, x.M0 = f.n(), f.n()
	f.n()
	f.u64()
	x.EFConstruction = f.n()
	x.Vectors = f.vectors(dim, n)
	x.Base = make([]uint32, n*x.M0)
	for i := range n {
		count := int(f.u32())
		list(x.Base[i*x.M0:(i+1)*x.M0], f.u32s(x.M0), count)
		copy(x.Vectors.Float32(i), f.f32s(dim))
	}
	x.Metric = engine.Metric(metric)
	if x.Metric == dist.Cosine {
		x.Norms = f.f32s(n)
	}
	readUpper(f, x, n)
	return x
}

// readFaiss reads an IHNf index over IxF2 or IxFI.
func readFaiss(t *testing.T, name string) *hnsw.Index {
	t.Helper()
	f := open(t, name)
	x := &hnsw.Index{Metric: dist.L2}
	header := func(code string) int {
		if got := string(f.bytes(4)); got[:2] != code[:2] {
			t.Fatalf("%q, want %q", got, code)
		}
		f.u32()
		n := f.n()
		f.bytes(17)
		if f.u32() == 0 {
			x.Metric = dist.InnerProduct
		}
		return n
	}
	n := header("IHNf")
	f.bytes(8 * f.n())
	cum := f.u32s(f.n())
	levels := f.u32s(f.n())
	offsets := f.i64s(f.n())
	links := f.u32s(f.n())
	x.Entry, x.MaxLevel, x.EFConstruction, x.EFSearch = f.u32(), int(int32(f.u32())), int(f.u32()), int(f.u32())
	f.u32()
	x.M0, x.M = int(cum[1]), int(cum[2]-cum[1])
	for i := range n {
		at := offsets[i]
		x.Base = append(x.Base, links[at:at+int64(x.M0)]...)
		x.UpperAt = append(x.UpperAt, uint32(len(x.Upper)/x.M))
		x.Upper = append(x.Upper, links[at+int64(x.M0):offsets[i+1]]...)
		x.Levels = append(x.Levels, uint8(levels[i]-1))
	}
	x.MaxLevel = int(int32(x.MaxLevel))
	header("IxF2")
	dim := f.n() / n
	x.Vectors = f.vectors(dim, n)
	for i := range n {
		copy(x.Vectors.Float32(i), f.f32s(dim))
	}
	return x
}
