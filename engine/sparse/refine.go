package sparse

import (
	"slices"

	"kitescope/engine"
)

// refine compares the rows that were found with the whole query once more.
func (s *Searcher) refine(query []byte, p *Params, dst []engine.Hit) []engine.Hit {
	if s.library == engine.Knowhere23 {
		return s.refineRows(query, p, dst)
	}
	// From 2.5 on the lists are walked again, by a filter of all other rows. Without any row there is no filter: rows come back that
	// were left out.
	var left []uint64
	if s.top.size > 0 {
		left = make([]uint64, (s.index.Rows+63)/64)
		for i := range left {
			left[i] = ^uint64(0)
		}
		for s.top.size > 0 {
			id := s.top.pop().id
			left[id>>6] &^= 1 << (id & 63)
		}
	}
	s.parse(query, 0)
	if len(s.terms) == 0 {
		return dst
	}
	again := *p
	again.MaxScoreRatio = max(p.MaxScoreRatio, 1)
	s.second.reset(p.K)
	s.walk(&s.second, left, &again)
	return s.second.hits(dst)
}

// refineRows adds up the products of each row in the order of dimensions, and keeps the best in a std::priority_queue. A row's values
// are looked up in the lists.
func (s *Searcher) refineRows(query []byte, p *Params, dst []engine.Hit) []engine.Hit {
	x := s.index
	var best []item
	for s.top.size > 0 {
		id, score := s.top.pop().id, float32(0)
		for i := range len(query) / PairBytes {
			dim, v := pair(query, i)
			list, ok := x.of[dim]
			if !ok {
				continue
			}
			ids, values := x.list(list)
			if at, ok := slices.BinarySearch(ids, id); ok {
				score += float32(v * values[at])
				s.scored++
			}
		}
		switch {
		case len(best) < p.K:
			best = append(best, item{})
			up(best, len(best)-1, item{id, score})
		case best[0].score < score:
			popHeap(best)
			up(best, len(best)-1, item{id, score})
		}
	}
	s.second.reset(max(len(best), 1))
	s.second.size = copy(s.second.items, best)
	return s.second.hits(dst)
}
