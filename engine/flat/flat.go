// Package flat searches for nearest neighbours by comparing the query with every row. It computes the ground truth,
// and it reproduces Milvus's search of FLAT and BIN_FLAT indexes, of segments without an index, and of indexes when
// a filter leaves few rows.
//
// The input is vectors in memory (owned or mapped), a metric, a library whose results are reproduced, and queries.
// The output is hits, best first. Their ids, distance bits and order among equal distances are those of the
// library.
//
// A search has three steps. A kernel of engine/dist fills a tile of raw distances (query.go, search.go, batch.go).
// The tile is compared with the worst hit so far, many distances at once (tile.go). The few distances that are
// better are added to a TopK. It is a heap that repeats the library's heap move by move (topk.go, heap.go), or an
// unordered pool for large k (pool.go).
//
// A batch compares blocks of four queries with as many rows as fit the cache. Each distance is the same sum in the
// same order, and each TopK receives its rows in the same order. A batch therefore returns the same hits as single
// searches, bit for bit.
package flat

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// MaxK is the maximum number of hits of a query, as in Milvus. If an index has more rows than that, K may be as
// large as the number of rows.
const MaxK = 16384

// maxRows is the maximum number of rows, because lists of rows hold 31-bit numbers.
const maxRows = math.MaxInt32

// Index holds vectors that are searched row by row. It is immutable and may be shared.
type Index struct {
	Vectors *engine.Vectors
	Metric  engine.Metric
	// Norms holds the L2 norm of each row, as read from a file (faiss's IxF9, knowhere's IxFl). Inner products are
	// divided by it under cosine. If Norms is nil, they are computed from the rows, as knowhere does for raw data.
	// Other metrics do not use it.
	Norms []float32
	// Labels holds the id that a search returns for each row. If it is nil, ids are row numbers.
	Labels []int64
	// Deleted marks rows that are never returned. It may be nil.
	Deleted *engine.Bitset
	// Codes holds quantized codes of the rows, which save most of the float computation (see Quantize). It may be
	// nil.
	Codes *prefilter.Codes
}

// Options holds the options of a Searcher.
type Options struct {
	Library engine.Library // library whose results are reproduced; Native is Faiss
}

// Params holds the parameters of a search.
type Params struct {
	K      int            // number of hits, at least 1, at most MaxK or the number of rows
	Filter *engine.Bitset // marks excluded rows; may be nil
}

// Searcher searches one index. It must not be used by several goroutines at once. Clone returns another Searcher
// over the same index, with its own scratch memory.
type Searcher struct {
	index   Index
	options Options
	kernel  *dist.Kernel
	norms   []float32        // divisors of raw sums under cosine; otherwise nil
	codes   *prefilter.Codes // nil if not used

	codeQuery *prefilter.Query
	words     []uint64
	top       *TopK
	tile      []float32
	chosen    []uint32
}

// New returns a Searcher over x. It compares rows in order, and a row enters only if it is strictly better than the
// worst of k hits. NaN is never better. New returns an error if the index or the options are invalid.
func New(x *Index, o Options) (*Searcher, error) {
	o.Library = o.Library.Or(engine.Faiss)
	v := x.Vectors
	if v == nil {
		return nil, errors.New("a flat index without vectors")
	}
	if err := x.check(o); err != nil {
		return nil, err
	}
	kernel, err := dist.New(x.Metric, v.Element, o.Library.Or(engine.Faiss).Profile(), v.Dim)
	if err != nil {
		return nil, err
	}
	s := &Searcher{index: *x, options: o, kernel: kernel}
	if x.Metric == dist.Cosine && o.Library != engine.HNSWLib {
		s.norms = divisors(x, o.Library, kernel)
	}
	if err := s.enableCodes(); err != nil {
		return nil, err
	}
	s.scratch()
	return s, nil
}

// check returns an error if the parts of the index do not fit together, or do not fit the options.
func (x *Index) check(o Options) error {
	v := x.Vectors
	binary := x.Metric == dist.Hamming || x.Metric == dist.Jaccard
	switch {
	case v.Rows > maxRows:
		return fmt.Errorf("%d rows: more than %d", v.Rows, maxRows)
	case x.Metric > dist.Jaccard:
		return fmt.Errorf("metric %d is not supported: substructure and superstructure are not distances", x.Metric)
	case binary != (v.Element == dist.Bit):
		return errors.New("hamming and jaccard need bits, and bits need hamming or jaccard")
	case binary && o.Library == engine.HNSWLib:
		return errors.New("hnswlib has no metric for bits")
	case x.Metric == dist.Cosine && o.Library == engine.Faiss:
		return errors.New("faiss has no cosine: normalize the vectors and use the inner product")
	case x.Norms != nil && len(x.Norms) != v.Rows:
		return fmt.Errorf("%d norms for %d rows", len(x.Norms), v.Rows)
	case x.Deleted != nil && x.Deleted.Len() != v.Rows:
		return fmt.Errorf("%d deletion marks for %d rows", x.Deleted.Len(), v.Rows)
	case x.Labels != nil && len(x.Labels) != v.Rows:
		return fmt.Errorf("%d labels for %d rows", len(x.Labels), v.Rows)
	}
	return nil
}

// scratch allocates the memory that belongs to one goroutine.
func (s *Searcher) scratch() {
	s.top = s.collector()
	s.tile = make([]float32, scanRows)
	s.chosen = make([]uint32, 0, scanRows)
	if s.codes != nil {
		s.codeQuery, s.words = s.codes.NewQuery(), make([]uint64, sieveRows/dist.SieveWord)
	}
}

// collector returns a TopK for the hits of a query, with row numbers as ids.
func (s *Searcher) collector() *TopK {
	t := NewTopK(s.options.Library, s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine)
	// For bits, knowhere uses a heap for every k (binary_knn_hc, utils/binary_distances.cpp of v2.2.3).
	t.heapOnly = s.index.Vectors.Element == dist.Bit
	return t
}

// Clone returns a Searcher over the same index for another goroutine.
func (s *Searcher) Clone() *Searcher {
	c := *s
	c.scratch()
	return &c
}

// Index returns the index that s searches.
func (s *Searcher) Index() Index { return s.index }

// Similarity reports whether greater distances are better. That is the case for inner products and cosines of faiss
// and knowhere; hnswlib returns 1 minus the similarity instead.
func (s *Searcher) Similarity() bool {
	return s.options.Library != engine.HNSWLib && (s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine)
}

// excluded returns the rows that are excluded because they are deleted or filtered, as words of a bitset.
func (s *Searcher) excluded(filter *engine.Bitset) ([]uint64, error) {
	if filter != nil && filter.Len() != s.index.Vectors.Rows {
		return nil, fmt.Errorf("a filter of %d rows for %d", filter.Len(), s.index.Vectors.Rows)
	}
	return filter.Or(s.index.Deleted).Words(), nil
}

// relabel replaces the row numbers of hits by the labels of the index.
func (s *Searcher) relabel(hits []engine.Hit) {
	if s.index.Labels == nil {
		return
	}
	for i := range hits {
		hits[i].ID = s.index.Labels[hits[i].ID]
	}
}
