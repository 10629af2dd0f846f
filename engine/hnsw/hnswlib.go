package hnsw

import (
	"math"
	"slices"

	"kitescope/engine/dist"
)

// searchHNSWLib is HierarchicalNSW::searchKnn of hnswlib 0.8.0.
func (s *Searcher) searchHNSWLib(k, ef int) {
	ef = min(max(ef, k), s.n)
	at, d := s.descend()
	if s.blocked.Count() == 0 && s.tryPool(at, d, ef) {
		s.take(k)
		s.sortLabels()
		return
	}
	if s.blocked.Count() == 0 {
		s.walkHNSWLib(at, d, ef)
	} else {
		s.walkHNSWLibFiltered(at, d, ef)
	}
	for len(s.top) > k {
		s.top = popFar(s.top)
	}
	s.found = append(s.found, s.top...)
	s.sortLabels()
}

// sortLabels sorts the results in the order of a std::priority_queue of pairs (distance, label).
func (s *Searcher) sortLabels() {
	slices.SortFunc(s.found, func(a, b nodeDist) int {
		switch {
		case a.d < b.d:
			return -1
		case a.d > b.d:
			return 1
		case s.label(a.id) < s.label(b.id):
			return -1
		}
		return 1
	})
}

// walkHNSWLib is searchBaseLayerST<true>, for searches without deleted or filtered nodes.
func (s *Searcher) walkHNSWLib(at uint32, d float32, ef int) {
	top, cands := pushFar(s.top[:0], nodeDist{d, at}), pushFar(s.cands[:0], nodeDist{-d, at})
	s.seen.Add(at)
	worst := d
	for len(cands) > 0 {
		next := cands[0]
		if -next.d > worst {
			break
		}
		cands = popFar(cands)
		for i, d := range s.expandNext(next.id, cands, len(top) >= ef, worst) {
			if len(top) < ef || worst > d {
				e := nodeDist{d, s.fresh[i]}
				cands, top = pushFar(cands, nodeDist{-d, e.id}), pushFar(top, e)
				if len(top) > ef {
					top = popFar(top)
				}
				worst = top[0].d
			}
		}
	}
	s.top, s.cands = top, cands
}

// walkHNSWLibFiltered is searchBaseLayerST<false>. It walks through filtered and deleted nodes but does not return
// them.
func (s *Searcher) walkHNSWLibFiltered(at uint32, d float32, ef int) {
	top, cands := s.top[:0], s.cands[:0]
	worst := float32(math.MaxFloat32)
	if s.blocked.Has(int(at)) {
		d = worst
	} else {
		top, worst = append(top, nodeDist{d, at}), d
	}
	cands = append(cands, nodeDist{-d, at})
	s.seen.Add(at)
	for len(cands) > 0 {
		next := cands[0]
		if -next.d > worst && len(top) == ef {
			break
		}
		cands = popFar(cands)
		for i, d := range s.expandNext(next.id, cands, len(top) >= ef, worst) {
			if len(top) < ef || worst > d {
				e := nodeDist{d, s.fresh[i]}
				cands = pushFar(cands, nodeDist{-d, e.id})
				if !s.blocked.Has(int(e.id)) {
					top = pushFar(top, e)
				}
				if len(top) > ef {
					top = popFar(top)
				}
				if len(top) > 0 {
					worst = top[0].d
				}
			}
		}
	}
	s.top, s.cands = top, cands
}

// expand follows the links of a node on level 0. It writes the neighbours that were not visited before to s.fresh,
// and returns their distances.
func (s *Searcher) expand(id uint32) []float32 {
	n := s.visit(id, false)
	s.distances(s.fresh[:n])
	return s.dists[:n]
}

// expandNext is expand for a node that was just popped from the heap cands. It also prefetches for the node that is
// now on top. If full is set, it may omit neighbours that are not nearer than worst.
func (s *Searcher) expandNext(id uint32, cands []nodeDist, full bool, worst float32) []float32 {
	if full = full && s.coded; full {
		s.fetchCodes()
		defer s.fetchFloats()
	}
	n := s.visit(id, id == s.ahead)
	s.ahead, s.next = noCandidate, 0
	if len(cands) > 0 {
		s.ahead = cands[0].id
		s.peek(s.ahead, n)
		for _, after := range cands[1:min(3, len(cands))] {
			dist.Prefetch(s.links(after.id, 0))
		}
	}
	if full {
		n = s.pick(n, worst)
	}
	return s.distancesAhead(n)
}
