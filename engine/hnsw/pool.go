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
	s.seen.Clear()
	return false
}

// walkPool is the walk on level 0 with a sorted list of ef candidates, s.pool: the nearest of
// which the links were not followed is next, until there is none. Equal distances stand in
// the order of arrival, as in knowhere's NeighborSet. It returns false on the first tie if
// distinct is asked for.
func (s *Searcher) walkPool(at uint32, d float32, ef int, distinct bool) bool {
	if distinct && (isNaN(d) || isInf(d)) {
		return false
	}
	list := s.list
	list.Reset(ef, d, at)
	s.seen.Add(at)
	s.held.clear()
	ahead, sieved := noCandidate, false
	for cur := 0; ; {
		if s.held.any() && s.heldDecide(list, cur) {
			least, certain := s.addHeld(list)
			if distinct && !certain {
				return false
			}
			cur = min(cur, least)
		}
		if cur >= list.Len() {
			break
		}
		if s.coded && !sieved && list.Full() {
			sieved = true
			s.fetchCodes()
			defer s.fetchFloats()
		}
		_, ids := list.Nodes()
		next := ids[cur]
		ids[cur] |= visited
		cur = unvisited(ids, cur+1)
		n := s.visit(next, next == ahead)
		ahead = s.lookAhead(ids, cur, n)
		var least int
		var certain bool
		if sieved {
			n = s.pick(n, list.Worst())
			s.fetchRows(s.fresh[:n])
			least, certain = s.addHeld(list)
			s.held.take(s.fresh[:n], s.codes.Sums())
		} else {
			least, certain = list.Add(s.distancesAhead(n), s.fresh)
		}
		if distinct && !certain {
			return false
		}
		cur = min(cur, least)
	}
	s.pool = s.pool[:0]
	ds, ids := list.Nodes()
	for i, id := range ids {
		s.pool = append(s.pool, near{ds[i], id})
	}
	return true
}

// held are rows that passed the codes and whose distances are not computed yet.
type held struct {
	ids  []uint32
	sums []int32 // of their codes
}

func (h *held) clear() { h.ids, h.sums = h.ids[:0], h.sums[:0] }

func (h *held) any() bool { return len(h.ids) > 0 }

func (h *held) take(ids []uint32, sums []int32) {
	h.ids, h.sums = append(h.ids[:0], ids...), append(h.sums[:0], sums[:len(ids)]...)
}

// heldDecide reports whether what is held may decide which node is next: whether one of them may be nearer than the one at cur, or
// there is none.
func (s *Searcher) heldDecide(list *dist.Ranked, cur int) bool {
	if cur >= list.Len() {
		return true
	}
	d, _ := list.Nodes()
	cut := s.cutOf(d[cur])
	for i, id := range s.held.ids {
		if s.codes.Passes(&cut, id, s.held.sums[i]) {
			return true
		}
	}
	return false
}

// addHeld computes the distances of what is held and adds it to the list.
func (s *Searcher) addHeld(list *dist.Ranked) (least int, certain bool) {
	ids := s.held.ids
	s.distances(ids)
	s.held.clear()
	return list.Add(s.dists[:len(ids)], ids)
}

// noCandidate is the id of no node.
const noCandidate = ^uint32(0)

// lookAhead prefetches, while the distances of one hop are computed, what the next hop will
// read if none of the n is nearer than the candidate at cur of the list, and the links of the one after.
// It returns the candidate whose rows were, or will be, prefetched.
func (s *Searcher) lookAhead(list []uint32, cur, n int) uint32 {
	if cur >= len(list) {
		s.next = 0
		return noCandidate
	}
	id := list[cur]
	s.peek(id, n)
	if after := unvisited(list, cur+1); after < len(list) {
		dist.Prefetch(s.links(list[after], 0))
	}
	return id
}

// unvisited is the first place from i on whose node was not visited.
func unvisited(list []uint32, i int) int {
	for i < len(list) && list[i]&visited != 0 {
		i++
	}
	return i
}

// take moves the nearest k of the pool to what was found.
func (s *Searcher) take(k int) {
	for _, e := range s.pool[:min(k, len(s.pool))] {
		s.found = append(s.found, near{e.d, e.id &^ visited})
	}
}
