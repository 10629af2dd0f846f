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

// ReadBlobs reads the files of a Milvus index for FromBlobs, and returns the hint to pass to it. While the blob of
// a graph is decoded, its vectors and links are written directly to their final memory.
func ReadBlobs(ctx context.Context, store object.Store, prefix string, hint Hint) (*binlog.Index, Hint, error) {
	p := &splitRecords{hint: hint}
	x, err := binlog.ReadIndexTo(ctx, store, prefix, p.place)
	if err != nil {
		return nil, hint, err
	}
	if p.vectors != nil {
		hint.split = p
	}
	return x, hint, nil
}

// splitRecords holds the split records of a blob HNSW.
type splitRecords struct {
	hint Hint

	blob    *byte // first byte of the blob
	r       records
	vectors *engine.Vectors
	base    []uint32
	heads   []uint32 // first four bytes of each record: the count of links
	taken   bool     // by a graph
}

// place is a binlog.Place. It returns nil if the blob is of another kind or is malformed. The reader of the blob
// then reports the error.
func (p *splitRecords) place(_ string, blob []byte) *binlog.Records {
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
	p.blob, p.r, p.vectors = &blob[0], r, vectors
	p.base, p.heads = engine.Uint32s(r.n*r.m0), make([]uint32, r.n)
	return &binlog.Records{At: r.at, Size: r.size, Count: r.n, Parts: []binlog.Field{
		{Bytes: 4, To: bytesOf(p.heads), Stride: 4},
		{Bytes: 4 * r.m0, To: bytesOf(p.base), Stride: 4 * r.m0},
		{Bytes: r.size - r.vector, To: vectors.Span(0, r.n), Stride: vectors.Stride},
	}, Free: p.free}
}

// free releases the vectors unless a graph took them.
func (p *splitRecords) free() {
	if p.vectors != nil {
		p.vectors.Release()
	}
	p.vectors = nil
}

// moveTo moves the records to the graph, and checks each link.
func (p *splitRecords) moveTo(r *records, ix *hnsw.Index) error {
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

// check checks the n links of node i in their slots, and marks the unused slots.
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

// bytesOf returns the memory of v. It assumes a little-endian machine, because files are little-endian.
func bytesOf(v []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
