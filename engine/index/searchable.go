package index

import (
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// Searchable is an index of some kind, in memory or in a mapped file. It is immutable and may be shared.
type Searchable interface {
	// Kind is the type of the index in Milvus's words.
	Kind() string
	// Element is what vectors and queries are made of.
	Element() dist.Element
	// Effort is the parameter that says how much of the index a search looks at.
	Effort() Effort
	// NewSearcher returns a searcher for one goroutine. An error names what in the index or the options does not fit.
	NewSearcher(o Options) (Searcher, error)
	// Exact is what answers p by comparing with all rows, and p for it.
	Exact(p Params) (Searchable, Params)
	// Vectors are all rows, block by block, with their ids; nil ids are the numbers of the rows, from 0 on in one block. An index
	// of codes has none (Coded).
	Vectors() iter.Seq2[*engine.Vectors, []int64]
	// FiltersIDs reports whether filters mark ids; else they mark the numbers of rows.
	FiltersIDs() bool
	// Shade gives the index codes of its rows in 8 bits, by at most threads goroutines (0: one per CPU): searches then compute few
	// distances in full, and answer the same. It is part of opening; an error says why the rows can have none.
	Shade(threads int) error
	// Unshade gives the memory of codes back.
	Unshade()
	// ShadePays reports whether codes are worth their making and their memory for so many searches.
	ShadePays(searches int) bool
	// CodeBytes is what codes take: the bytes that they have, or would have if there are none; 0 if rows can have none.
	CodeBytes() (bytes int, have bool)
	// Describe says what is in the index, looking at all of it.
	Describe(d *Description)
	// Own are the vectors where they lie in memory of the index's own, in the order of rows; nil where they are part of the
	// file. Memory is what all else takes then, in bytes.
	Own() (vectors *engine.Vectors, memory int)

	// relabel gives rows the ids that a map around the index has: row i has labels[i].
	relabel(labels []int64) *FormatError
	// concrete is the *hnsw.Index, *flat.Index or whatever it is.
	concrete() any
}

// Coded is a Searchable whose rows may be codes that stand for vectors, and are not these.
type Coded interface {
	// Codes reports whether they are.
	Codes() bool
	// EachCode calls f for each row with its id and what tells whether a vector is coded as it.
	EachCode(f func(id int64, gives func(row []float32) bool))
}

// Effort is a parameter of searches by which they find more and take longer.
type Effort uint8

// The efforts.
const (
	AllRows     Effort = iota // each row is compared: there is no such parameter
	ByEF                      // of a graph
	ByNProbe                  // of lists
	ByDropRatio               // of lists of sparse vectors
)

// Options are whose answers are wanted.
type Options struct {
	Library engine.Library
	// BM25 are the parameters of that metric with which the index was built, nil are Milvus's.
	BM25 *sparse.BM25
}

// Params are what a query asks for.
type Params struct {
	K int
	engine.SearchParams
	// Filter marks what is left out (see Searchable.FiltersIDs); nil for none.
	Filter *engine.Bitset
}

// Cost is what one query took, apart from time.
type Cost struct {
	Distances, Hops int
	// BruteForce says why a graph was not walked; empty if it was, or if there is none.
	BruteForce string
}

// Searcher answers queries one at a time.
type Searcher interface {
	// Search appends to dst the hits of a query, which is stored as a row is, best first.
	Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error)
	// Clone returns a searcher for another goroutine: norms of rows are shared.
	Clone() (Searcher, error)
}

// BatchSearcher is a Searcher that answers many queries together sooner than one by one, and the same.
type BatchSearcher interface {
	Searcher
	// SearchBatch returns the hits of every query, on at most threads goroutines, and what each of them took.
	SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, Cost, error)
}

// As is the index in a File as what it is made of, an *hnsw.Index for one; nil if it is of another kind.
func As[T any](f *File) *T {
	if f == nil || f.Searchable == nil {
		return nil
	}
	x, _ := f.concrete().(*T)
	return x
}

// Fact is one thing that is known, for people and, if it has a key, for scripts.
type Fact struct {
	Name, Text string
	Key        string
	Number     float64
	Whole      bool // Number counts
	Odd        bool // something is wrong here
}

// Level is one of a graph's, with how many links nodes have there.
type Level struct {
	Level            int
	Nodes            int
	Min, Median, Max int
	Mean             float64
}

// Description is what is in an index.
type Description struct {
	Facts  []Fact
	Levels []Level // of a graph, level 0 first
}
