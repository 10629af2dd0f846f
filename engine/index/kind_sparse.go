package index

import (
	"errors"
	"fmt"
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// FromSparse returns inverted lists of sparse vectors as a Searchable.
func FromSparse(x *sparse.Index) Searchable { return sparseIndex{x} }

type sparseIndex struct{ x *sparse.Index }

func (l sparseIndex) Kind() string {
	if l.x.Wand {
		return SparseWand
	}
	return SparseInverted
}

func (l sparseIndex) Element() dist.Element { return dist.Sparse }
func (l sparseIndex) Effort() Effort        { return ByDropRatio }
func (l sparseIndex) FiltersIDs() bool      { return false }
func (l sparseIndex) concrete() any         { return l.x }

// OwnMemory returns empty vectors instead of nil, because no part of the index is in the file any more.
func (l sparseIndex) OwnMemory() (*engine.Vectors, int) {
	x := l.x
	return &engine.Vectors{Element: dist.Sparse},
		4*(len(x.IDs)+len(x.Values)+len(x.Names)+len(x.Lengths)) + 8*len(x.Starts)
}

func (l sparseIndex) Quantize(int) error     { return errors.New("sparse vectors have no codes") }
func (l sparseIndex) ReleaseCodes()          {}
func (l sparseIndex) CodesPay(int) bool      { return false }
func (l sparseIndex) CodeBytes() (int, bool) { return 0, false }

func (l sparseIndex) relabel(labels []int64) *FormatError {
	if labels == nil {
		return nil
	}
	return &FormatError{Expected: "rows with ids", Found: "an id map around an index of sparse vectors"}
}

// Vectors yields the rows as stored in the lists: without zeros, and rounded to whole numbers for BM25.
func (l sparseIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) {
		rows, err := l.x.Transposed()
		if err != nil { // the rows need more memory than any machine has, since the lists fit
			panic(fmt.Sprintf("rows of an index that was read: %v", err))
		}
		defer rows.Release()
		yield(rows, nil)
	}
}

// Exact drops no values of the query or the rows.
func (l sparseIndex) Exact(p Params) (Searchable, Params) {
	p.SparseParams = engine.SparseParams{AvgDL: p.AvgDL}
	return exactSparse{l}, p
}

// exactSparse is a sparse index whose searches visit all rows in the lists.
type exactSparse struct{ sparseIndex }

func (l exactSparse) NewSearcher(o Options) (Searcher, error) {
	x := *l.x
	x.Wand = false
	return FromSparse(&x).NewSearcher(o)
}

func (l sparseIndex) NewSearcher(o Options) (Searcher, error) {
	s, err := sparse.New(l.x, sparse.Options{Library: o.Library, BM25: o.BM25})
	return sparseSearcher{s}, err
}

type sparseSearcher struct{ *sparse.Searcher }

func (s sparseSearcher) Clone() (Searcher, error) { return sparseSearcher{s.Searcher.Clone()}, nil }

func (s sparseSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	dst, err := s.Searcher.Search(q, p.sparse(), dst)
	return dst, Cost{Distances: s.Scored()}, err
}

func (p *Params) sparse() sparse.Params {
	return sparse.Params{K: p.K, Filter: p.Filter, SparseParams: p.SparseParams}
}

func (l sparseIndex) Describe(d *Description) {
	x := l.x
	longest := uint64(0)
	for i := range x.Names {
		longest = max(longest, x.Starts[i+1]-x.Starts[i])
	}
	d.Count("dimensions in use", "lists", len(x.Names))
	d.Count("values", "values", len(x.IDs))
	d.Count("longest list", "longest_list", int(longest))
	if x.Rows > 0 {
		mean := float64(len(x.IDs)) / float64(x.Rows)
		d.Facts = append(d.Facts, Fact{
			Name: "values in a row", Text: fmt.Sprintf("%.1f on average", mean), Key: "mean_values", Number: mean,
		})
	}
	if x.Metric == dist.BM25 && x.Rows > 0 {
		sum := 0.0
		for _, n := range x.Lengths {
			sum += float64(n)
		}
		d.Facts = append(d.Facts, Fact{
			Name: "length of a row",
			Text: fmt.Sprintf("%.1f on average (avgdl of these rows alone)", sum/float64(x.Rows)), Key: "mean_length",
			Number: sum / float64(x.Rows),
		})
	}
}

// FromSparseRows returns sparse rows as a Searchable that compares each query with every row.
func FromSparseRows(rows *engine.Vectors, m engine.Metric) Searchable { return sparseRows{rows, m} }

type sparseRows struct {
	rows   *engine.Vectors
	metric engine.Metric
}

func (r sparseRows) Kind() string                        { return FLAT }
func (r sparseRows) Element() dist.Element               { return dist.Sparse }
func (r sparseRows) Effort() Effort                      { return AllRows }
func (r sparseRows) FiltersIDs() bool                    { return false }
func (r sparseRows) Exact(p Params) (Searchable, Params) { return r, p }
func (r sparseRows) Describe(*Description)               {}
func (r sparseRows) OwnMemory() (*engine.Vectors, int)   { return nil, 0 }
func (r sparseRows) concrete() any                       { return r.rows }
func (r sparseRows) Quantize(int) error                  { return errors.New("sparse vectors have no codes") }
func (r sparseRows) ReleaseCodes()                       {}
func (r sparseRows) CodesPay(int) bool                   { return false }
func (r sparseRows) CodeBytes() (int, bool)              { return 0, false }

func (r sparseRows) relabel([]int64) *FormatError {
	return &FormatError{Expected: "rows of one size", Found: "sparse vectors"}
}

func (r sparseRows) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) { yield(r.rows, nil) }
}

func (r sparseRows) NewSearcher(o Options) (Searcher, error) {
	s, err := sparse.NewRows(r.rows, r.metric, o.BM25)
	return sparseRowSearcher{s}, err
}

type sparseRowSearcher struct{ *sparse.Rows }

func (s sparseRowSearcher) Clone() (Searcher, error) { return sparseRowSearcher{s.Rows.Clone()}, nil }

func (s sparseRowSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	dst, err := s.Rows.Search(q, p.sparse(), dst)
	return dst, Cost{Distances: s.Scored()}, err
}
