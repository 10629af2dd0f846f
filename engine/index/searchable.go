package index

import (
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// Searchable is an index of any kind, in memory or in a mapped file. It is immutable and may be shared.
type Searchable interface {
	// Kind returns Milvus's name for the index type.
	Kind() string
	// Element returns the element type of vectors and queries.
	Element() dist.Element
	// Effort returns the parameter that sets how much of the index a search visits.
	Effort() Effort
	// NewSearcher returns a searcher for one goroutine. It returns an error if the index and the options do not
	// fit.
	NewSearcher(o Options) (Searcher, error)
	// Exact returns an index that answers p by comparing with all rows, and the parameters to search it with.
	Exact(p Params) (Searchable, Params)
	// Vectors yields all rows in blocks, with their ids. If the ids are nil, there is one block, whose ids are the
	// row numbers from 0 on. An index of codes yields nothing (see Coded).
	Vectors() iter.Seq2[*engine.Vectors, []int64]
	// FiltersIDs reports whether filters mark ids. Otherwise they mark row numbers.
	FiltersIDs() bool
	// Quantize computes 8-bit codes of the rows, on at most threads goroutines (0: one per CPU). With codes, searches
	// compute few full distances and return the same hits. Call it while opening the index. It returns an error if
	// the rows cannot have codes.
	Quantize(threads int) error
	// ReleaseCodes releases the memory of the codes.
	ReleaseCodes()
	// CodesPay reports whether codes are worth their time and memory for the given number of searches.
	CodesPay(searches int) bool
	// CodeBytes returns the size of the codes in bytes, or an estimate if there are none (have is false). It
	// returns 0 if the rows cannot have codes.
	CodeBytes() (bytes int, have bool)
	// Describe adds facts about the index to d. It reads the whole index.
	Describe(d *Description)
	// OwnMemory returns the vectors, in row order, if the index holds them in its own memory, and the size of
	// everything else in that memory in bytes. vectors is nil if they are part of the file.
	OwnMemory() (vectors *engine.Vectors, memory int)

	// relabel sets the ids of an enclosing id map: row i has the id labels[i].
	relabel(labels []int64) *FormatError
	// concrete returns the underlying index, e.g. an *hnsw.Index or a *flat.Index.
	concrete() any
}

// Coded is a Searchable whose rows may be codes instead of vectors.
type Coded interface {
	// Codes reports whether the rows are codes.
	Codes() bool
	// EachCode calls f for each row, with its id and a function that reports whether a vector encodes to the row's
	// code.
	EachCode(f func(id int64, gives func(row []float32) bool))
}

// Effort is a search parameter that trades time for recall.
type Effort uint8

// The efforts.
const (
	AllRows     Effort = iota // every row is compared: no such parameter
	ByEF                      // of a graph
	ByNProbe                  // of lists
	ByDropRatio               // of lists of sparse vectors
)

// Options selects the library whose answers are reproduced.
type Options struct {
	Library engine.Library
	// BM25 holds the BM25 parameters that the index was built with. Nil means Milvus's defaults.
	BM25 *sparse.BM25
}

// Params are the parameters of a query.
type Params struct {
	K int
	engine.SearchParams
	// Filter marks the rows to exclude (see Searchable.FiltersIDs). It may be nil.
	Filter *engine.Bitset
}

// Cost is the work done for one query, apart from time.
type Cost struct {
	Distances, Hops int
	// BruteForce is the reason why a graph was not traversed. It is empty if it was, or if there is no graph.
	BruteForce string
}

// Searcher answers queries one at a time.
type Searcher interface {
	// Search appends the hits of a query to dst, best first. The query is encoded like a row.
	Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error)
	// Clone returns a searcher for another goroutine. The two share the norms of the rows.
	Clone() (Searcher, error)
}

// BatchSearcher is a Searcher that answers many queries together faster than one by one, with the same hits.
type BatchSearcher interface {
	Searcher
	// SearchBatch returns the hits of every query and the cost per query. It uses at most threads goroutines.
	SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, Cost, error)
}

// As returns the underlying index of a File as a *T, e.g. an *hnsw.Index. It returns nil if the index is of another
// kind.
func As[T any](f *File) *T {
	if f == nil || f.Searchable == nil {
		return nil
	}
	x, _ := f.concrete().(*T)
	return x
}

// Fact is one property of an index. Facts without a key are not part of machine-readable output.
type Fact struct {
	Name, Text string
	Key        string
	Number     float64
	IsCount    bool // Number is a count
	IsFault    bool // the value indicates a fault
}

// Level holds link statistics of a level of a graph.
type Level struct {
	Level            int
	Nodes            int
	Min, Median, Max int
	Mean             float64
}

// Description describes the content of an index.
type Description struct {
	Facts  []Fact
	Levels []Level // of a graph, level 0 first
}
