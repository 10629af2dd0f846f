package scann

import (
	"math"

	"kitescope/engine"
	"kitescope/engine/flat"
)

// Range appends to dst the hits within the radius as knowhere finds them: lists are read by nearness until one has no row within the radius
// by its code (range_search_implem_12, faiss/IndexIVFPQFastScan.cpp of knowhere v2.2.3), and of what these found the vectors are compared.
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
	one := 1 / float64(s.rounded.scale)
	s.distances, s.ids = s.distances[:0], s.ids[:0]
	for _, list := range s.probes {
		before := len(s.ids)
		l := &s.index.Lists[list.ID]
		s.scan(l, p.Filter.Words(), func(sum uint16, id int64) {
			if d := float32(math.FMA(one, float64(sum), float64(s.rounded.low))); in(d) {
				s.distances, s.ids = append(s.distances, d), append(s.ids, id)
			}
		})
		if len(s.ids) == before && len(l.IDs) > 0 {
			break
		}
	}
	if s.index.Rows != nil {
		s.refine(q)
	}
	for i, id := range s.ids {
		if in(s.distances[i]) {
			within.Hits = append(within.Hits, engine.Hit{ID: id, Distance: s.distances[i]})
		}
	}
	return within.Bound(len(dst), p.RangeFilter), nil
}
