package index

import (
	"context"
	"fmt"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/hnsw"
	"kitescope/engine/object"
)

// ReadBlobs reads the files of one index of Milvus for FromBlobs, with the hint that this takes. The vectors and links of a graph go
// to where they stay while its blob is decoded.
func ReadBlobs(ctx context.Context, store object.Store, prefix string, hint Hint) (*binlog.Index, Hint, error) {
	p := &placed{hint: hint}
	x, err := binlog.ReadIndexTo(ctx, store, prefix, p.place)
	if err != nil {
		return nil, hint, err
	}
	if p.vectors != nil {
		hint.placed = p
	}
	return x, hint, nil
}

// placed are the records of a blob of HNSW, apart.
type placed struct {
	hint Hint

	of      *byte // the first of the blob
	r       records
	vectors *engine.Vectors
	base    []uint32
	heads   []uint32 // of records: counts of links
	taken   bool     // by a graph
}

// place is a binlog.Place. It places nothing where the blob is of another kind, or not as it should be: who reads it then says so.
func (p *placed) place(_ string, blob []byte) *binlog.Records {
	if found, quantised := sniffKnowhere(blob); !found || quantised || p.vectors != nil {
		return nil
	}
	c := &cursor{data: blob}
	r, _, _ := knowhereRecords(c, p.hint)
	if c.err != nil || r.n == 0 {
		return nil
	}
	vectors, err := engine.NewVectors(r.element, r.dim, r.n)
	if err != nil {
		return nil
	}
	p.of, p.r, p.vectors = &blob[0], r, vectors
	p.base, p.heads = engine.Uint32s(r.n*r.m0), make([]uint32, r.n)
	return &binlog.Records{At: r.at, Size: r.size, Count: r.n, Parts: []binlog.Field{
		{Bytes: 4, To: bytesOf(p.heads), Stride: 4},
		{Bytes: 4 * r.m0, To: bytesOf(p.base), Stride: 4 * r.m0},
		{Bytes: r.size - r.vector, To: vectors.Span(0, r.n), Stride: vectors.Stride},
	}, Free: p.free}
}

// free gives back vectors that nobody took.
func (p *placed) free() {
	if p.vectors != nil {
		p.vectors.Release()
	}
	p.vectors = nil
}

// take gives the graph its records, and checks each link.
func (p *placed) take(r *records, ix *hnsw.Index) error {
	p.taken = true
	ix.M, ix.M0 = r.m, r.m0
	ix.Base, ix.Vectors = p.base, p.vectors
	return parallel(r.n, max(1, chunk/(4*r.m0)), func(from, to int) error {
		for i := from; i < to; i++ {
			if err := r.check(int(uint16(p.heads[i])), i, p.base[i*r.m0:(i+1)*r.m0]); err != nil {
				return err
			}
		}
		return nil
	})
}

// check holds the links of node i, n of them, in their slots, and marks the end.
func (r *records) check(n, i int, slots []uint32) error {
	if n > r.m0 {
		return notFound(r.at+i*r.size, fmt.Sprintf("at most %d links of node %d", r.m0, i), n)
	}
	for j, to := range slots[:n] {
		if to >= uint32(r.n) {
			return notFound(r.at+i*r.size+4+4*j, fmt.Sprintf("a link of node %d to one of %d nodes", i, r.n), to)
		}
	}
	for j := range slots[n:] {
		slots[n+j] |= hnsw.End
	}
	return nil
}

// bytesOf is the memory of numbers, which are little-endian as those of files are.
func bytesOf(v []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
