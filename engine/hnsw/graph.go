// Package hnsw builds HNSW graphs as hnswlib does and searches them as hnswlib, knowhere or faiss
// do: the same rows and the same distance bits, ties included.
//
// In: an Index (vectors and links, from a file or Build) and queries. Out: hits, nearest first,
// and counters. A search (Searcher) descends greedily through the upper levels, then keeps the
// nearest candidates of level 0 and follows the links of the nearest of them, until none is
// left that could matter. What separates the libraries is how they keep candidates: where no two
// distances are equal they all visit the same nodes, and one sorted list serves them (pool.go);
// where some are, and under filters, each has its own walk (hnswlib.go, knowhere.go, faiss.go).
package hnsw

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// End marks the end of a list of neighbours: the first slot with this bit, whatever else is
// in it (a graph that was built keeps there what hnswlib leaves in unused slots, so that its
// file is the same to the byte). So ids are below 2^31.
const End = 1 << 31

// Graph is the links of an HNSW index, apart from its vectors. It is immutable once loaded or
// built.
type Graph struct {
	M              int // links per node above level 0
	M0             int // links per node on level 0, 2M in all known writers
	EFConstruction int
	EFSearch       int    // what a search without its own takes, where the file says it (faiss); else 0
	MaxElements    int    // the room that hnswlib reserved when it wrote; else 0
	Entry          uint32 // where a search starts; without nodes it means nothing
	MaxLevel       int    // -1 without nodes
	Levels         []uint8

	// Base has M0 slots for each node: its neighbours on level 0, ended by End or by the last slot.
	Base []uint32
	// Upper has, for a node of level l > 0, l times M slots from UpperAt[node]*M on, level 1 first.
	Upper   []uint32
	UpperAt []uint32
}

// Index is a graph with its vectors, as a file had it or a build made it.
type Index struct {
	Graph
	Metric  engine.Metric
	Vectors *engine.Vectors
	// Norms are the L2 norms of the stored vectors where the writer keeps raw vectors under
	// cosine (knowhere); nil else.
	Norms []float32
	// Faiss tells that the graph is one of faiss's: knowhere 2.5 and later walk those with code of their own, and others as before.
	Faiss bool
	// Labels are the ids that a search returns; nil if they are the numbers of the rows.
	Labels []int64
	// Deleted marks nodes that are searched through and never returned.
	Deleted *engine.Bitset
	// Shadow are codes of the rows, each by itself, that spare walks most of the floats (Shade); nil for none.
	Shadow *prefilter.Codes
}

// Dim is the dimension of vectors and queries.
func (x *Index) Dim() int { return x.Vectors.Dim }

// Element is what queries are made of.
func (x *Index) Element() dist.Element { return x.Vectors.Element }
