package hnsw

import (
	"errors"
	"math"
	"slices"

	"kitescope/engine"
)

// RangeParams are what a range query asks for.
type RangeParams struct {
	// Radius is the outer edge: distances below it under L2 and the distances of bits, inner products
	// and cosines above it.
	Radius float32
	// RangeFilter is the inner edge, which belongs to the range; nil is none.
	RangeFilter *float32
	// EF is the length of the list of candidates; 0 is the default: 16, of a graph of faiss's in knowhere from 2.5 on 512.
	EF int
	// Filter marks rows that may not be returned.
	Filter *engine.Bitset
}

// Range appends to dst the rows within the range, nearest first and equals by row, as the
// library finds them. knowhere: the candidates of a search with EF, and what can be reached
// from those within the radius over nodes within the radius (searchRange,
// getNeighboursWithinRadius). faiss: all nodes within the radius that a search meets
// (IndexHNSW::range_search). hnswlib's Python module has no range search: this package answers
// as knowhere without its brute force.
func (s *Searcher) Range(query []byte, p RangeParams, dst []engine.Hit) ([]engine.Hit, Stats, error) {
	if isNaN(p.Radius) || p.RangeFilter != nil && isNaN(*p.RangeFilter) {
		return dst, Stats{}, errors.New("the radius is not a number")
	}
	ef, err := s.ef(1, p.EF)
	if err != nil {
		return dst, Stats{}, err
	}
	if p.EF == 0 && s.library != engine.Faiss {
		ef = 16
		if s.modern {
			ef = 512 // kDefaultRangeSearchEf, src/index/hnsw/base_hnsw_config.h, v2.5.6
		}
	}
	if err := s.prepare(query, p.Filter); err != nil {
		return dst, Stats{}, err
	}
	s.found = s.found[:0]
	radius := p.Radius
	switch {
	case !s.similarity():
	case s.library == engine.HNSWLib:
		radius = 1 - radius
	default:
		radius = -radius
	}
	if s.n > 0 && s.blocked.Count() < s.n {
		s.rangeSearch(radius, ef)
	}
	sortPairs(s.found)
	first := len(dst)
	dst = s.hits(dst)
	if p.RangeFilter != nil {
		edge := *p.RangeFilter
		kept := slices.DeleteFunc(dst[first:], func(h engine.Hit) bool { return s.inside(h.Distance, edge) })
		dst = dst[:first+len(kept)]
	}
	return dst, s.stats, nil
}

// RangeFloat32 is Range with a query of float32.
func (s *Searcher) RangeFloat32(query []float32, p RangeParams, dst []engine.Hit) ([]engine.Hit, Stats, error) {
	row, err := s.float32s(query)
	if err != nil {
		return dst, Stats{}, err
	}
	return s.Range(row, p, dst)
}

// inside reports whether a returned distance is nearer than the inner edge: distance_in_range of
// knowhere's range_util.h keeps range_filter <= d < radius, or radius < s <= range_filter.
func (s *Searcher) inside(d, edge float32) bool {
	if s.similarity() && s.library != engine.HNSWLib {
		return d > edge
	}
	return d < edge
}

func (s *Searcher) rangeSearch(radius float32, ef int) {
	if s.library == engine.Faiss {
		at, d := s.descend()
		r := within{s: s, radius: radius}
		s.walkFaiss(at, d, max(min(ef, s.n), 1), ef, &r)
		return
	}
	if s.library.Knowhere() {
		why := s.bruteReason(ef, bruteFilteredRange, [3]string{BruteForceRangeEF, BruteForceRangeFilter, BruteForceRangeEFRest})
		if why != "" {
			s.stats.BruteForce = why
			r := within{s: s, radius: radius}
			s.scan(r.add)
			return
		}
		s.walkKnowhere(min(ef, s.n))
	} else {
		at, d := s.descend()
		s.walkTwoLists(at, d, min(ef, s.n))
	}
	s.flood(radius)
}

// within keeps what is inside a radius.
type within struct {
	s      *Searcher
	radius float32
}

func (w *within) add(d float32, id uint32) {
	if d < w.radius && d < math.MaxFloat32 {
		w.s.found = append(w.s.found, near{d, id})
	}
}

// flood is getNeighboursWithinRadius: from the candidates within the radius on over links, as
// long as nodes are within it and not filtered.
func (s *Searcher) flood(radius float32) {
	s.seen.Clear()
	for _, e := range slices.Backward(s.pool) {
		e.id &^= visited
		if e.d < radius {
			s.found = append(s.found, e)
		}
		s.seen.Add(e.id)
	}
	for i := 0; i < len(s.found); i++ {
		n := s.visit(s.found[i].id, false)
		kept := s.fresh[:0]
		for _, v := range s.fresh[:n] {
			if !s.blocked.Has(int(v)) {
				kept = append(kept, v)
			}
		}
		s.distances(kept)
		for j, d := range s.dists[:len(kept)] {
			if d < radius {
				s.found = append(s.found, near{d, kept[j]})
			}
		}
	}
}
