package target

import (
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

// Cost is what one query took, apart from time.
type Cost struct {
	Distances, Hops int
	// BruteForce says why a graph was not walked; empty if it was, or if there is none.
	BruteForce string
}

// searcher answers queries one at a time. There is one for each kind of index.
type searcher interface {
	search(query []byte, p *Params, dst []engine.Hit) ([]engine.Hit, Cost, error)
}

// newSearcher is a searcher for one goroutine.
func (t *Target) newSearcher(o Options) (searcher, error) {
	lib := t.library(o.Library)
	profile := lib.Profile()
	if o.Profile != nil {
		profile = *o.Profile
	}
	switch t.File.Kind {
	case index.HNSW:
		s, err := t.File.HNSW.NewSearcher(hnsw.Options{Library: lib, Profile: &profile, Entries: o.Entries})
		return graphSearcher{s}, err
	case index.FLAT:
		s, err := flat.New(t.File.Flat, flat.Options{Library: lib, Profile: profile})
		return flatSearcher{s}, err
	case index.IVFFlat:
		s, err := ivf.New(t.File.IVF, flat.Options{Library: lib, Profile: profile})
		return listSearcher{s}, err
	}
	return nil, fmt.Errorf("%s cannot be searched", t.File.Kind)
}

type graphSearcher struct{ *hnsw.Searcher }

func (s graphSearcher) search(q []byte, p *Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	var stats hnsw.Stats
	var err error
	if p.Radius != nil {
		dst, stats, err = s.Range(q, hnsw.RangeParams{Radius: *p.Radius, RangeFilter: p.RangeFilter, EF: p.EF, Filter: p.Filter}, dst)
	} else {
		dst, stats, err = s.Search(q, hnsw.Params{K: p.K, EF: p.EF, Filter: p.Filter}, dst)
	}
	return dst, Cost{Distances: stats.Distances, Hops: stats.Hops + stats.UpperHops, BruteForce: stats.BruteForce}, err
}

type flatSearcher struct{ *flat.Searcher }

func (s flatSearcher) search(q []byte, p *Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	var err error
	if p.Radius != nil {
		r := rangeOf(p)
		dst, err = s.Range(q, r, dst)
	} else {
		dst, err = s.Search(q, flat.Params{K: p.K, Filter: p.Filter}, dst)
	}
	return dst, s.cost(p), err
}

// cost of a query is that of every row that is not filtered.
func (s flatSearcher) cost(p *Params) Cost {
	x := s.Index()
	return Cost{Distances: x.Vectors.Rows - p.Filter.Or(x.Deleted).Count()}
}

type listSearcher struct{ *ivf.Searcher }

func (s listSearcher) search(q []byte, p *Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	var err error
	if p.Radius != nil {
		r := ivf.RangeParams{RangeParams: rangeOf(p), NProbe: p.NProbe}
		dst, err = s.Range(q, r, dst)
	} else {
		dst, err = s.Search(q, ivf.Params{K: p.K, NProbe: p.NProbe, Filter: p.Filter}, dst)
	}
	return dst, Cost{Distances: s.Computed()}, err
}

// rangeOf is a range in the words of package flat, where infinity is no inner edge.
func rangeOf(p *Params) flat.RangeParams {
	r := flat.RangeParams{Radius: *p.Radius, RangeFilter: float32(math.Inf(1)), Filter: p.Filter}
	if p.RangeFilter != nil {
		r.RangeFilter = *p.RangeFilter
	}
	return r
}
