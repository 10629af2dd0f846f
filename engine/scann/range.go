package scann

import (
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// maxEmpty is how many lists in a row may have no row within a radius from knowhere 2.3 on (max_empty_result_buckets).
const maxEmpty = 2

// Range appends to dst the hits within the radius as knowhere finds them: lists are read by nearness until one, or maxEmpty, have no row within
// the radius by its code (range_search_implem_12, faiss/IndexIVFPQFastScan.cpp of knowhere v2.2.3, IndexIVFFastScan.cpp of v2.5.6), and of what
// these found the vectors are compared.
func (s *Searcher) Range(query []byte, p flat.RangeParams, dst []engine.Hit) ([]engine.Hit, error) {
	q, err := s.probe(query, len(s.index.Lists))
	if err != nil {
		return dst, err
	}
	within := &flat.Within{Hits: dst, Radius: p.Radius, Similarity: s.best.similarity}
	in := func(d float32) bool {
		if within.Similarity {
			return d > p.Radius
		}
		return d < p.Radius
	}
	near, most := s.within(in), 1
	if s.library >= engine.Knowhere23 {
		near, most = s.withinSum(p.Radius), maxEmpty
	}
	s.distances, s.ids = s.distances[:0], s.ids[:0]
	empty := 0
	for _, list := range s.probes {
		before := len(s.ids)
		l := &s.index.Lists[list.ID]
		s.scan(l, p.Filter.Words(), func(sum uint16, id int64) {
			if d, ok := near(sum); ok {
				s.distances, s.ids = append(s.distances, d), append(s.ids, id)
			}
		})
		if len(s.ids) > before {
			empty = 0
		} else if len(l.IDs) > 0 {
			if empty++; empty == most {
				break
			}
		}
	}
	if s.index.Rows != nil {
		s.refine(q)
	}
	for i, id := range s.ids {
		if in(s.distances[i]) || s.index.Rows == nil { // which the codes have said
			within.Hits = append(within.Hits, engine.Hit{ID: id, Distance: s.distances[i]})
		}
	}
	return within.Bound(len(dst), p.RangeFilter), nil
}

// within returns the distance of a sum, and whether it is within the radius, as knowhere 2.2 compares them.
func (s *Searcher) within(in func(float32) bool) func(sum uint16) (float32, bool) {
	one := 1 / float64(s.rounded.scale)
	return func(sum uint16) (float32, bool) {
		d := float32(math.FMA(one, float64(sum), float64(s.rounded.low)))
		return d, in(d)
	}
}

// withinSum is the same from knowhere 2.3 on, where the radius becomes a sum (RangeHandler, faiss/impl/simd_result_handlers.h, v2.5.6): cut to
// a whole number, of which 16 bits remain. So a radius less than any distance may let all rows in, and nothing but vectors tells.
func (s *Searcher) withinSum(radius float32) func(sum uint16) (float32, bool) {
	one, cut := 1/s.rounded.scale, s.rounded.scale*(radius-s.rounded.low)
	bound := uint16(0)
	if cut > math.MinInt32 && cut < 1<<31 { // what is beyond becomes the least whole number
		bound = uint16(int32(cut))
	}
	return func(sum uint16) (float32, bool) {
		return dist.FusedAdd(float32(sum), one, s.rounded.low), s.best.better(sum, bound)
	}
}
