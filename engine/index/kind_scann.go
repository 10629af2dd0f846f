package index

import (
	"errors"
	"fmt"
	"iter"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/scann"
)

// SCANN is the kind of rows in 4 bits for two dimensions, with or without their vectors.
const SCANN = "SCANN"

// FromCodes is a SCANN as an index.
func FromCodes(x *scann.Index) Searchable { return scannIndex{x} }

type scannIndex struct{ x *scann.Index }

func (s scannIndex) Kind() string                { return SCANN }
func (s scannIndex) Element() dist.Element       { return dist.Float32 }
func (s scannIndex) Effort() Effort              { return ByNProbe }
func (s scannIndex) FiltersIDs() bool            { return true }
func (s scannIndex) Own() (*engine.Vectors, int) { return nil, 0 }
func (s scannIndex) concrete() any               { return s.x }

func (s scannIndex) Shade(int) error        { return errors.New("SCANN has shorter codes of its own") }
func (s scannIndex) Unshade()               {}
func (s scannIndex) ShadePays(int) bool     { return false }
func (s scannIndex) CodeBytes() (int, bool) { return 0, false }

func (s scannIndex) relabel(labels []int64) *FormatError {
	if labels == nil {
		return nil
	}
	return &FormatError{Expected: "SCANN on its own", Found: "SCANN with ids of its own"}
}

func (s scannIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) {
		if s.x.Rows != nil {
			yield(s.x.Rows, nil)
		}
	}
}

// Codes and EachCode make scannIndex a Coded.
func (s scannIndex) Codes() bool { return s.x.Rows == nil }

func (s scannIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	gives := s.x.Gives()
	for i, l := range s.x.Lists {
		for j, id := range l.IDs {
			f(id, func(row []float32) bool { return gives(i, j, row) })
		}
	}
}

// Exact compares with the vectors, or reads all lists where there are none.
func (s scannIndex) Exact(p Params) (Searchable, Params) {
	if s.x.Rows != nil {
		return FromRows(&flat.Index{Metric: s.x.Metric, Vectors: s.x.Rows, Norms: s.x.Norms}), p
	}
	p.NProbe = len(s.x.Lists)
	return s, p
}

func (s scannIndex) NewSearcher(o Options) (Searcher, error) {
	x, err := scann.New(s.x, flat.Options{Library: o.Library, Profile: o.Profile, Plain: o.Plain})
	return scannSearcher{x}, err
}

type scannSearcher struct{ *scann.Searcher }

func (s scannSearcher) Clone() (Searcher, error) { return scannSearcher{s.Searcher.Clone()}, nil }

func (s scannSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	var err error
	if p.Radius != nil {
		dst, err = s.Range(q, rangeOf(p), dst)
	} else {
		dst, err = s.Searcher.Search(q, scann.Params{K: p.wide(), NProbe: p.NProbe, ReorderK: p.ReorderK, Filter: p.Filter}, dst)
	}
	return dst, Cost{Distances: s.Computed()}, err
}

func (s scannIndex) Describe(d *Description) {
	largest, empty := 0, 0
	for _, l := range s.x.Lists {
		largest = max(largest, len(l.IDs))
		if len(l.IDs) == 0 {
			empty++
		}
	}
	d.Count("nlist", "nlist", len(s.x.Lists))
	d.Count("nprobe", "nprobe", s.x.NProbe)
	d.Count("largest list", "largest_list", largest)
	d.Count("empty lists", "empty_lists", empty)
	kept := "the vectors are kept"
	if s.x.Rows == nil {
		kept = "the vectors are not kept"
	}
	d.Text("rows are coded", fmt.Sprintf("4 bits for each of %d parts; %s", s.x.Parts.Count(), kept))
	d.Count("bytes of a code", "code_size", (s.x.Parts.Count()+1)/2)
	if len(s.x.Lists) > 0 {
		mean := float64(s.x.Len()) / float64(len(s.x.Lists))
		d.Facts = append(d.Facts, Fact{Name: "rows in a list", Text: fmt.Sprintf("%.1f on average", mean), Key: "mean_list", Number: mean})
	}
}
