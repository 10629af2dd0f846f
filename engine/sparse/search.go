package sparse

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// MaxK is the greatest number of hits, which is Milvus's own limit.
const MaxK = 16384

// Options selects the library whose results are reproduced, and holds the parameters of the index that are in
// no file.
type Options struct {
	Library engine.Library // Native is Knowhere26
	// BM25 holds the parameters with which the index was built and loaded; nil selects Milvus's default.
	BM25 *BM25
}

// Params holds the parameters of a search. The parameters of sparse vectors are:
//
//   - DropRatio is the share of the query's values that is dropped, smallest first: at least 0 and less than 1
//     (drop_ratio_search);
//   - RefineFactor is the multiple of K that is found with the remaining values and compared again with the
//     whole query, if values were dropped (refine_factor). 0 selects the library's default: 1, which compares
//     nothing again, and 10 in knowhere 2.3;
//   - MaxScoreRatio stretches the bounds by which knowhere skips rows (dim_max_score_ratio). It has no effect
//     here;
//   - AvgDL is the mean length of documents at the time of the search; 0 selects the index's value.
type Params struct {
	K      int
	Filter *engine.Bitset // rows that are excluded; nil for none
	engine.SparseParams
}

// Searcher searches one index. It must not be used by several goroutines at once; Clone returns another.
type Searcher struct {
	index   *Index
	library engine.Library
	bm25    BM25

	terms  []term
	scores []float32 // scores of a window, all 0 between searches
	places []uint64  // next position in the list of each term
	top    queue
	second queue
	values []float32
	scored int
}

// term is a value of the query with its list.
type term struct {
	list  uint32
	value float32
}

// New returns a searcher. It returns an error that names the option if an option does not fit the index.
func New(x *Index, o Options) (*Searcher, error) {
	s := &Searcher{index: x, library: o.Library.Or(engine.Knowhere26), bm25: DefaultBM25()}
	switch {
	case s.library < engine.Knowhere23:
		return nil, fmt.Errorf("library %v has no sparse vectors", s.library)
	case s.library == engine.Knowhere23 && x.Metric == dist.BM25:
		return nil, errors.New("BM25 is of Milvus 2.5 and later: knowhere-2.5 or knowhere-2.6")
	}
	if o.BM25 != nil {
		s.bm25 = *o.BM25
	}
	s.bm25.AvgDL = max(s.bm25.AvgDL, 1)
	if !(s.bm25.K1 >= 0 && s.bm25.K1 <= 3 && s.bm25.B >= 0 && s.bm25.B <= 1) || math.IsInf(float64(s.bm25.AvgDL), 0) {
		return nil,
			fmt.Errorf("bm25 k1 %g, b %g, avgdl %g: expected k1 of 0 to 3, b of 0 to 1", s.bm25.K1, s.bm25.B,
				s.bm25.AvgDL)
	}
	return s, nil
}

// Index returns the index that is searched.
func (s *Searcher) Index() *Index { return s.index }

// Clone returns a searcher over the same index for another goroutine.
func (s *Searcher) Clone() *Searcher {
	return &Searcher{index: s.index, library: s.library, bm25: s.bm25}
}

// Scored returns the number of products of a query value and a row value that the last search added up.
func (s *Searcher) Scored() int { return s.scored }

// Search appends to dst the hits of a query, best first. Rows that share no dimension with the query are not hits.
func (s *Searcher) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, error) {
	p, err := s.check(query, p)
	if err != nil {
		return dst, err
	}
	s.scored = 0
	if len(query) == 0 || p.K == 0 {
		return dst, nil
	}
	left := p.Filter.Words()
	s.parse(query, p.DropRatio)
	if len(s.terms) == 0 {
		return dst, nil
	}
	capacity := min(p.K*p.RefineFactor, max(s.index.Rows, p.K)) // a queue that never fills needs no more room
	s.top.reset(capacity)
	s.walk(&s.top, left, &p)
	if p.RefineFactor == 1 {
		return s.top.hits(dst), nil
	}
	return s.refine(query, &p, dst), nil
}

// check validates the query and p, and fills in the library's defaults.
func (s *Searcher) check(query []byte, p Params) (Params, error) {
	if err := Check(query); err != nil {
		return p, err
	}
	if p.K < 1 || p.K > MaxK {
		return p, fmt.Errorf("k is %d: expected 1 to %d", p.K, MaxK)
	}
	if !(p.DropRatio >= 0 && p.DropRatio < 1) {
		return p, fmt.Errorf("drop ratio is %g: expected 0 to less than 1", p.DropRatio)
	}
	if p.RefineFactor < 0 || p.RefineFactor > engine.MaxRefineFactor {
		return p, fmt.Errorf("refine factor is %d: expected 1 to %d", p.RefineFactor, engine.MaxRefineFactor)
	}
	switch {
	case p.DropRatio == 0:
		p.RefineFactor = 1 // nothing was dropped
	case p.RefineFactor == 0 && s.library == engine.Knowhere23:
		p.RefineFactor = 10
	case p.RefineFactor == 0:
		p.RefineFactor = 1
	}
	if p.AvgDL == 0 {
		p.AvgDL = s.bm25.AvgDL
	}
	p.AvgDL = max(p.AvgDL, 1)
	return p, nil
}

// parse sets the terms of the query without the smallest values, whose share is drop, or with all values if
// drop is negative. Knowhere 2.3 ignores signs only if it walks all lists together (SPARSE_WAND). Otherwise
// negative values are the smallest, and are dropped even if drop is 0.
func (s *Searcher) parse(query []byte, drop float32) {
	n := len(query) / PairBytes
	s.values = s.values[:0]
	for i := range n {
		_, v := pair(query, i)
		s.values = append(s.values, abs(v))
	}
	threshold := float32(0)
	// The product is a float32, as in knowhere.
	if at := int(drop * float32(n)); at > 0 || drop >= 0 && s.library == engine.Knowhere23 {
		slices.Sort(s.values)
		threshold = s.values[min(at, n-1)]
	}
	s.terms = s.terms[:0]
	for i := range n {
		dim, v := pair(query, i)
		size := abs(v)
		if s.library == engine.Knowhere23 && !s.index.Wand {
			size = v
		}
		if list, ok := s.index.listOf[dim]; ok && (drop < 0 || !(size < threshold)) {
			s.terms = append(s.terms, term{list, v})
		}
	}
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// marked reports whether the filter excludes a row.
func marked(excluded []uint64, id uint32) bool {
	w := int(id >> 6)
	return w < len(excluded) && excluded[w]&(1<<(id&63)) != 0
}
