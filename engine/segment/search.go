package segment

import (
	"kitescope/engine"
	"kitescope/engine/sparse"
)

// Options selects the Milvus version whose answers are reproduced, and the state of its segments.
type Options struct {
	// Library selects the tie rules and filters: Knowhere22 or later (see Milvus).
	Library engine.Library
	// RowsOnly ignores indexes: each segment is searched row by row, like a growing segment.
	RowsOnly bool
	// BM25 holds the BM25 parameters of sparse vectors. Nil means Milvus's defaults.
	BM25 *sparse.BM25
}

// Milvus returns the options of a Milvus release on a machine with AVX-512. Releases 2.1 to 2.3 use knowhere 1 and
// 2.2 (Knowhere22), 2.4 uses knowhere 2.3, 2.5 uses 2.5, and 2.6 and later use 2.6. Since 2.4, knowhere adds up floats
// in the same order as faiss.
func Milvus(major, minor int) Options {
	return Options{Library: engine.MilvusLibrary(major, minor)}
}

// Params holds the parameters of a query. Unset ones have knowhere's defaults (DefaultNProbe), but a graph needs
// EF.
type Params struct {
	K int
	engine.SearchParams
}

// Hit is a row that was found. Distance is the value that Milvus returns: squared for L2, a similarity for inner
// product and cosine.
type Hit struct {
	Segment  *Segment
	Row      int
	Distance float32
}

// Key returns the hit's primary key.
func (h *Hit) Key() engine.Key { return h.Segment.Key(h.Row) }

// Cost is the work done in one segment for a query.
type Cost struct {
	Segment         int64
	Distances, Hops int
	BruteForce      string // the reason why a graph was not traversed; empty if it was, or if there is none
}
