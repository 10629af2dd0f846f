package hnsw

import "kitescope/engine/dist"

// visited marks, in a pool's ids, nodes whose links were followed. Ids are below 2^31 (End).
const visited = 1 << 31

const (
	// maxPool is the longest list that is kept sorted; moving elements costs more than a heap beyond.
	maxPool = 2048
	// manyTies is the score of a searcher whose queries usually meet equal distances.
	manyTies = 64
)

// tryPool walks level 0 with one sorted list of ef candidates and reports whether its outcome is
// that of every library: it is if no two distances in the list were ever equal. Then the order
// of candidates is one and the same for a pair of heaps, a MinimaxHeap and a sorted list: a
// candidate that leaves the list is farther than all in it, the worst of the list only gets
// nearer, and so no library follows its links; and one that is not let in is let in by none,
// ties with the worst included. Else nothing was decided, and the library's own walk starts
// anew.
//
// Data full of ties (duplicates, small integers) would walk twice: after some such queries
// the list is tried now and then only.
func (s *Searcher) tryPool(at uint32, d float32, ef int) bool {
	if ef > maxPool {
		return false
	}
	if s.ties >= manyTies {
		s.ties--
		return false
	}
	before := s.stats
	if s.walkPool(at, d, ef, true) {
		s.ties = max(s.ties-1, 0)
		return true
	}
	s.ties += 2
	if s.ties >= manyTies {
		s.ties += manyTies
	}
	s.stats = before
	s.newEpoch()
	return false
}

// walkPool is the walk on level 0 with a sorted list of ef candidates, s.pool: the nearest of
// which the links were not followed is next, until there is none. Equal distances stand in
// the order of arrival, as in knowhere's NeighborSet. It returns false on the first tie if
// distinct is asked for.
func (s *Searcher) walkPool(at uint32, d float32, ef int, distinct bool) bool {
	if cap(s.pool) <= ef {
		s.pool = make([]near, 0, ef+1)
	}
	pool := s.pool[:1]
	pool[0] = near{d, at}
	defer func() { s.pool = pool }()
	if distinct && (isNaN(d) || isInf(d)) {
		return false
	}
	s.tags[at] = s.epoch
	ahead, sieved := noCandidate, false
	for cur := 0; cur < len(pool); {
		if s.coded && !sieved && len(pool) == ef {
			sieved = true
			s.fetchCodes()
			defer s.fetchFloats()
		}
		next := pool[cur].id
		pool[cur].id |= visited
		cur = unvisited(pool, cur+1)
		n := s.visit(next, next == ahead)
		ahead = s.lookAhead(pool, cur, n)
		if sieved {
			n = s.pick(n, pool[ef-1].d)
		}
		for i, d := range s.distancesAhead(n) {
			if len(pool) == ef && !(d < pool[ef-1].d) {
				continue
			}
			pos := upperBound(pool, d)
			if distinct && (pos > 0 && !(pool[pos-1].d < d) || !(d <= maxFloat)) {
				return false
			}
			if len(pool) < ef {
				pool = append(pool, near{})
			}
			copy(pool[pos+1:], pool[pos:len(pool)-1])
			pool[pos] = near{d, s.fresh[i]}
			if pos <= cur {
				cur = pos
				dist.Prefetch(s.links(s.fresh[i], 0))
			}
		}
	}
	return true
}

// noCandidate is the id of no node.
const noCandidate = ^uint32(0)

// lookAhead prefetches, while the distances of one hop are computed, what the next hop will
// read if none of the n is nearer than the candidate at cur, and the links of the one after.
// It returns the candidate whose rows were, or will be, prefetched.
func (s *Searcher) lookAhead(pool []near, cur, n int) uint32 {
	if cur >= len(pool) {
		s.next = 0
		return noCandidate
	}
	id := pool[cur].id
	s.peek(id, n)
	if after := unvisited(pool, cur+1); after < len(pool) {
		dist.Prefetch(s.links(pool[after].id, 0))
	}
	return id
}

// unvisited is the first place from i on whose node was not visited.
func unvisited(pool []near, i int) int {
	for i < len(pool) && pool[i].id&visited != 0 {
		i++
	}
	return i
}

// upperBound is the first place in a sorted list whose distance is greater than d.
func upperBound(pool []near, d float32) int {
	at, n := 0, len(pool)
	for n > 1 {
		half := n >> 1
		next := at
		if pool[at+half-1].d <= d {
			next = at + half
		}
		at = next
		n -= half
	}
	if n == 1 && pool[at].d <= d {
		at++
	}
	return at
}

// take moves the nearest k of the pool to what was found.
func (s *Searcher) take(k int) {
	for _, e := range s.pool[:min(k, len(s.pool))] {
		s.found = append(s.found, near{e.d, e.id &^ visited})
	}
}
