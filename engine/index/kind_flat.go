package index

import (
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/prefilter"
)

// FLAT is the kind of an index that holds only rows: FLAT and BIN_FLAT.
const FLAT = "FLAT"

// FromRows returns a flat index as a Searchable.
func FromRows(x *flat.Index) Searchable { return rowIndex{x} }

type rowIndex struct{ x *flat.Index }

func (r rowIndex) Kind() string                        { return FLAT }
func (r rowIndex) Element() dist.Element               { return r.x.Vectors.Element }
func (r rowIndex) Effort() Effort                      { return AllRows }
func (r rowIndex) FiltersIDs() bool                    { return false }
func (r rowIndex) Exact(p Params) (Searchable, Params) { return r, p }
func (r rowIndex) Describe(d *Description)             { d.codes(r) }
func (r rowIndex) OwnMemory() (*engine.Vectors, int)   { return nil, 0 }
func (r rowIndex) concrete() any                       { return r.x }

func (r rowIndex) Quantize(threads int) error { return r.x.Quantize(threads) }

func (r rowIndex) ReleaseCodes() {
	releaseCodes(&r.x.Codes)
}

func (r rowIndex) CodesPay(searches int) bool {
	v := r.x.Vectors
	return prefilter.Fits(v, r.x.Metric) == nil && v.Rows >= minCodeRows && v.Dim >= flatDim && searches >= flatSearches
}

func (r rowIndex) CodeBytes() (bytes int, have bool) {
	return codeBytes(r.x.Codes, r.x.Vectors, r.x.Metric, prefilter.Bytes)
}

func (r rowIndex) relabel(labels []int64) *FormatError {
	r.x.Labels = labels
	return nil
}

func (r rowIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) { yield(r.x.Vectors, r.x.Labels) }
}

func (r rowIndex) NewSearcher(o Options) (Searcher, error) {
	s, err := flat.New(r.x, flat.Options{Library: o.Library})
	return rowSearcher{s}, err
}

type rowSearcher struct{ *flat.Searcher }

func (s rowSearcher) Clone() (Searcher, error) { return rowSearcher{s.Searcher.Clone()}, nil }

func (s rowSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	dst, err := s.Searcher.Search(q, flat.Params{K: p.K, Filter: p.Filter}, dst)
	return dst, s.cost(p), err
}

func (s rowSearcher) SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, Cost, error) {
	hits, err := s.Searcher.SearchBatch(queries, flat.Params{K: p.K, Filter: p.Filter}, threads)
	return hits, s.cost(p), err
}

// cost returns the cost of a query: one distance for each row that is neither filtered nor deleted.
func (s rowSearcher) cost(p Params) Cost {
	x := s.Index()
	return Cost{Distances: x.Vectors.Rows - p.Filter.Or(x.Deleted).Count()}
}
