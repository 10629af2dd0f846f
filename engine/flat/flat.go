// Package flat answers nearest-neighbour queries by comparing with every row: the ground
// truth, and what Milvus does for FLAT and BIN_FLAT, for segments without an index, and where
// a filter leaves few rows.
//
// In: vectors in memory (owned or mapped), a metric, a library whose answers are
// wanted, queries. Out: hits, best first, with the ids, the distance bits and the order among
// equal distances of that library. Steps: a kernel of engine/dist fills a tile of raw
// distances (query.go, search.go, batch.go), the tile is compared with the worst hit so far,
// many distances at once (tile.go), and the few that beat it go into a TopK, which repeats the
// library's heap move by move (topk.go, heap.go), or a pool of many (pool.go).
// A batch works on blocks of four queries by as many rows as fit the cache; every pair's
// distance is the same sum in the same order, and every query's TopK sees its rows in the same
// order, so that a batch answers what single queries answer, bit for bit.
package flat

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// MaxK is the greatest number of hits of one query where there are more rows: Milvus's own limit.
const MaxK = 16384

// maxRows is the greatest number of rows: they are counted in 31 bits where they are listed.
const maxRows = math.MaxInt32

// Index is vectors to be searched row by row. It is immutable and may be shared.
type Index struct {
	Vectors *engine.Vectors
	Metric  engine.Metric
	// Norms are the L2 norms by which inner products are divided under cosine, one a row, as a
	// file has them (faiss's IxF9, knowhere's IxFl); nil to compute them from the rows as
	// knowhere does for raw data, and for other metrics.
	Norms []float32
	// Labels are the ids that a search returns, one a row; nil if they are row numbers.
	Labels []int64
	// Deleted marks rows that no search returns; nil for none.
	Deleted *engine.Bitset
	// Shadow are codes of the rows that spare searches most of the floats (Shade); nil for none.
	Shadow *prefilter.Codes
}

// Options are whose answers are wanted.
type Options struct {
	Library engine.Library // Native is Faiss
}

// Params are those of one search.
type Params struct {
	K      int            // how many hits, 1 to MaxK or to all rows
	Filter *engine.Bitset // rows that are left out; nil for none
}

// Searcher answers queries over one index. It is for one goroutine; Clone makes another for
// the same index at the cost of its scratch memory.
type Searcher struct {
	index   Index
	options Options
	kernel  *dist.Kernel
	norms   []float32        // what raw sums are divided by under cosine; nil else
	codes   *prefilter.Codes // nil for none

	shadow *prefilter.Query
	words  []uint64
	top    *TopK
	tile   []float32
	chosen []uint32
}

// New returns a searcher. Rows are compared in their order, and one enters only if it is strictly better than the worst of k; NaN is never
// better. An error names what in the index or the options does not fit.
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
	if err := s.shade(); err != nil {
		return nil, err
	}
	s.scratch()
	return s, nil
}

// check tells what does not fit.
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
		return errors.New("faiss has no cosine: normalise the vectors and use the inner product")
	case x.Norms != nil && len(x.Norms) != v.Rows:
		return fmt.Errorf("%d norms for %d rows", len(x.Norms), v.Rows)
	case x.Deleted != nil && x.Deleted.Len() != v.Rows:
		return fmt.Errorf("%d rows marked as deleted or not, of %d", x.Deleted.Len(), v.Rows)
	case x.Labels != nil && len(x.Labels) != v.Rows:
		return fmt.Errorf("%d labels for %d rows", len(x.Labels), v.Rows)
	}
	return nil
}

// scratch makes what belongs to one goroutine.
func (s *Searcher) scratch() {
	s.top = s.collector()
	s.tile = make([]float32, scanRows)
	s.chosen = make([]uint32, 0, scanRows)
	if s.codes != nil {
		s.shadow, s.words = s.codes.NewQuery(), make([]uint64, sieveRows/dist.SieveWord)
	}
}

// collector returns what collects the hits of one query, with row numbers as ids.
func (s *Searcher) collector() *TopK {
	t := NewTopK(s.options.Library, s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine)
	// Over bits knowhere has but a heap (binary_knn_hc, utils/binary_distances.cpp of v2.2.3).
	t.heapOnly = s.index.Vectors.Element == dist.Bit
	return t
}

// Clone returns a searcher over the same index for another goroutine.
func (s *Searcher) Clone() *Searcher {
	c := *s
	c.scratch()
	return &c
}

// Index is what is searched.
func (s *Searcher) Index() Index { return s.index }

// Similarity reports whether greater distances are better: inner products and cosines of faiss
// and knowhere are; hnswlib returns 1 minus them.
func (s *Searcher) Similarity() bool {
	return s.options.Library != engine.HNSWLib && (s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine)
}

// left is the rows that no hit may have: deleted or filtered.
func (s *Searcher) left(filter *engine.Bitset) ([]uint64, error) {
	if filter != nil && filter.Len() != s.index.Vectors.Rows {
		return nil, fmt.Errorf("a filter over %d rows for %d", filter.Len(), s.index.Vectors.Rows)
	}
	return filter.Or(s.index.Deleted).Words(), nil
}

// relabel gives hits with row numbers the ids that the caller knows.
func (s *Searcher) relabel(hits []engine.Hit) {
	if s.index.Labels == nil {
		return
	}
	for i := range hits {
		hits[i].ID = s.index.Labels[hits[i].ID]
	}
}
