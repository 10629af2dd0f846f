// Package hnsw builds HNSW graphs like hnswlib, and searches them like hnswlib, knowhere or faiss. It returns the
// same rows and the same distance bits as these libraries, including ties.
//
// The input is an Index (vectors and links, from a file or from Build) and queries. The output is hits, nearest
// first, and counters. A search (Searcher) first descends greedily through the upper levels. On level 0, it keeps
// the nearest candidates and follows the links of the nearest one, until no remaining candidate can improve the
// result.
//
// The libraries differ in how they keep candidates. If no two distances are equal, they all visit the same nodes,
// and a single sorted list reproduces every library (pool.go). With ties or filters, each library has its own walk
// (hnswlib.go, knowhere.go, faiss.go). Knowhere compares all rows instead if a filter leaves few of them, if k is
// large, or if the walk found fewer than k (brute.go). Stats.BruteForce is the reason.
package hnsw

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// End marks the end of a list of neighbours: the list ends before the first slot with this bit. The other bits of
// such a slot may have any value. A built graph keeps there the values that hnswlib leaves in unused slots, so that
// the written file is the same to the byte. Node ids are therefore below 2^31.
const End = 1 << 31

// Graph holds the links of an HNSW index, without vectors. It is immutable once loaded or built.
type Graph struct {
	M              int // links per node above level 0
	M0             int // links per node on level 0, 2M in all known writers
	EFConstruction int
	EFSearch       int    // default ef if the file has one (faiss); otherwise 0
	MaxElements    int    // capacity reserved by hnswlib when it wrote the file; otherwise 0
	Entry          uint32 // node at which a search starts; meaningless without nodes
	MaxLevel       int    // -1 without nodes
	Levels         []uint8

	// Base has M0 slots for each node. They hold its neighbours on level 0, up to the first slot with End or the
	// last slot.
	Base []uint32
	// Upper has l*M slots for each node of level l > 0. They start at UpperAt[node]*M, with level 1 first.
	Upper   []uint32
	UpperAt []uint32
}

// Index is a graph with its vectors, either read from a file or built.
type Index struct {
	Graph
	Metric  engine.Metric
	Vectors *engine.Vectors
	// Norms holds the L2 norms of the stored vectors if the writer stores raw vectors under cosine (knowhere).
	// Otherwise it is nil.
	Norms []float32
	// Faiss is set if faiss built the graph. Knowhere 2.5 and later search such graphs with separate code.
	Faiss bool
	// Labels holds the ids that a search returns. If it is nil, ids are row numbers.
	Labels []int64
	// Deleted marks nodes that a search walks through but never returns.
	Deleted *engine.Bitset
	// Codes holds codes of the rows, each row encoded separately, which save most of the float computation (see
	// Quantize). It may be nil.
	Codes *prefilter.Codes
}

// Dim returns the dimension of vectors and queries.
func (x *Index) Dim() int { return x.Vectors.Dim }

// Element returns the element type of vectors and queries.
func (x *Index) Element() dist.Element { return x.Vectors.Element }
