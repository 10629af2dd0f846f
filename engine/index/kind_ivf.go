package index

import (
	"fmt"
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// IVFFlat, BinIVFFlat and IVFSQ8 are the kinds of inverted lists of vectors, of binary vectors and of codes.
const (
	IVFFlat    = "IVF_FLAT"
	BinIVFFlat = "BIN_IVF_FLAT"
	IVFSQ8     = "IVF_SQ8"
)

// FromLists returns an inverted file as a Searchable.
func FromLists(x *ivf.Index) Searchable { return listIndex{x} }

type listIndex struct{ x *ivf.Index }

func (l listIndex) Element() dist.Element             { return l.x.Centroids.Element }
func (l listIndex) Effort() Effort                    { return ByNProbe }
func (l listIndex) FiltersIDs() bool                  { return true }
func (l listIndex) OwnMemory() (*engine.Vectors, int) { return nil, 0 }
func (l listIndex) concrete() any                     { return l.x }

func (l listIndex) Kind() string {
	switch {
	case l.x.Codec != nil:
		return IVFSQ8
	case l.Element() == dist.Bit:
		return BinIVFFlat
	default:
		return IVFFlat
	}
}

func (l listIndex) Quantize(threads int) error { return l.x.Quantize(threads) }

func (l listIndex) ReleaseCodes() { l.x.ReleaseCodes() }

func (l listIndex) CodesPay(searches int) bool {
	return l.x.CheckQuantize() == nil && l.x.Rows() >= minCodeRows && l.x.Centroids.Dim >= listDim &&
		searches >= listSearches
}

func (l listIndex) CodeBytes() (bytes int, have bool) { return l.x.CodeBytes() }

// relabel replaces the ids in the lists, which are row numbers.
func (l listIndex) relabel(labels []int64) *FormatError {
	if labels == nil {
		return nil
	}
	for _, list := range l.x.Lists {
		for i, id := range list.IDs {
			if id < 0 || id >= int64(len(labels)) {
				return &FormatError{
					Expected: fmt.Sprintf("ids for the rows of the lists, one of them %d", id),
					Found:    fmt.Sprintf("%d ids", len(labels)),
				}
			}
			list.IDs[i] = labels[id]
		}
	}
	return nil
}

func (l listIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) {
		for _, list := range l.x.Lists {
			if l.x.Codec == nil && list.Vectors != nil && !yield(list.Vectors, list.IDs) {
				return
			}
		}
	}
}

// Codes and EachCode implement Coded.
func (l listIndex) Codes() bool { return l.x.Codec != nil }

func (l listIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	holds := l.x.CodeMatcher()
	for i, list := range l.x.Lists {
		for j, id := range list.IDs {
			f(id, func(row []float32) bool { return holds(i, j, row) })
		}
	}
}

// Exact visits all lists, which finds the same rows as comparing with each row.
func (l listIndex) Exact(p Params) (Searchable, Params) {
	p.NProbe = len(l.x.Lists)
	return l, p
}

func (l listIndex) NewSearcher(o Options) (Searcher, error) {
	s, err := ivf.New(l.x, ivf.Options{Library: o.Library})
	return listSearcher{s}, err
}

type listSearcher struct{ *ivf.Searcher }

func (s listSearcher) Clone() (Searcher, error) { return listSearcher{s.Searcher.Clone()}, nil }

func (s listSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	dst, err := s.Searcher.Search(q, ivf.Params{K: p.K, NProbe: p.NProbe, Filter: p.Filter}, dst)
	return dst, Cost{Distances: s.Computed()}, err
}

func (l listIndex) Describe(d *Description) {
	rows, largest, empty := 0, 0, 0
	for _, list := range l.x.Lists {
		n := len(list.IDs)
		rows += n
		largest = max(largest, n)
		if n == 0 {
			empty++
		}
	}
	d.Count("nlist", "nlist", len(l.x.Lists))
	d.Count("nprobe", "nprobe", l.x.NProbe)
	d.Count("largest list", "largest_list", largest)
	d.Count("empty lists", "empty_lists", empty)
	d.codes(l)
	if c := l.x.Codec; c != nil {
		d.Text("rows are coded", c.String())
		d.Count("bytes of a code", "code_size", c.Dim())
	}
	if len(l.x.Lists) > 0 {
		mean := float64(rows) / float64(len(l.x.Lists))
		d.Facts = append(d.Facts, Fact{
			Name: "rows in a list", Text: fmt.Sprintf("%.1f on average", mean), Key: "mean_list", Number: mean,
		})
	}
}
