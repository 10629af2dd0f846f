package segment

import (
	"kitescope/engine"
	"kitescope/engine/sparse"
)

// Options say which Milvus answers, and in which state.
type Options struct {
	// Library is whose tie rules and filters are taken: Knowhere22 or later, see Milvus.
	Library engine.Library
	// RowsOnly leaves indexes alone: each segment is searched row by row, as while it is growing.
	RowsOnly bool
	// BM25 are the parameters of that metric over sparse vectors, nil Milvus's.
	BM25 *sparse.BM25
}

// Milvus are the options of a release on a machine with AVX-512: 2.1 to 2.3 are knowhere 1 and 2.2; from
// 2.4 on it is 2.3, which adds up as faiss does.
func Milvus(major, minor int) Options {
	return Options{Library: engine.MilvusLibrary(major, minor)}
}

// Params are what a query asks for. What is not set is knowhere's default (DefaultNProbe); but a graph needs EF.
type Params struct {
	K int
	engine.SearchParams
}

// Hit is a row that was found. Distance is what Milvus returns: squared for L2, a similarity for
// inner product and cosine.
type Hit struct {
	Segment  *Segment
	Row      int
	Distance float32
}

// Key is the hit's primary key.
func (h *Hit) Key() engine.Key { return h.Segment.Key(h.Row) }

// Cost is what one segment took of a query.
type Cost struct {
	Segment         int64
	Distances, Hops int
	BruteForce      string // why a graph was not walked; empty if it was, or if there is none
}
