package hnsw

import "kitescope/engine/dist"

// visited marks the ids of nodes in a pool whose links were followed. Ids are below 2^31 (End).
const visited = 1 << 31

const (
	// maxPool is the maximum length of a sorted list. In a longer list, moving elements costs more than a heap.
	maxPool = 2048
	// manyTies is the score of a Searcher whose queries usually have equal distances.
	manyTies = 64
)

// tryPool walks level 0 with one sorted list of ef candidates. It reports whether every library would return the
// same result, which is the case if no two distances in the list were ever equal. Then two heaps, a MinimaxHeap
// and a sorted list all keep candidates in the same order. A candidate that is dropped from the list is farther
// than all candidates in it. The worst distance in the list only decreases, so no library follows the links of the
// dropped candidate. All libraries also reject the same candidates, including ties with the worst. If there was a
// tie, the caller must run the library's own walk from the start.
//
// Data with many ties (duplicates, small integers) would always be searched twice. After several such queries, the
// list is tried only occasionally.
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

// walkPool walks level 0 with a sorted list of ef candidates, and leaves the result in s.pool. It always expands
// the nearest candidate whose links were not followed, until there is none. Equal distances are in order of
// arrival, as in knowhere's NeighborSet. If distinct is set, it returns false on the first tie.
func (s *Searcher) walkPool(at uint32, d float32, ef int, distinct bool) bool {
	if distinct && (isNaN(d) || isInf(d)) {
		return false
	}
	list := s.list
	list.Reset(ef, d, at)
	s.seen.Add(at)
	s.pending.clear()
	ahead, sieved := noCandidate, false
	for cur := 0; ; {
		if s.pending.any() && s.needPending(list, cur) {
			least, certain := s.addPending(list)
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
			least, certain = s.addPending(list)
			s.pending.take(s.fresh[:n], s.codes.Sums())
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
		s.pool = append(s.pool, nodeDist{ds[i], id})
	}
	return true
}

// pendingRows holds rows that passed the codes but whose distances are not computed yet.
type pendingRows struct {
	ids  []uint32
	sums []int32 // sums of their codes
}

func (h *pendingRows) clear() { h.ids, h.sums = h.ids[:0], h.sums[:0] }

func (h *pendingRows) any() bool { return len(h.ids) > 0 }

func (h *pendingRows) take(ids []uint32, sums []int32) {
	h.ids, h.sums = append(h.ids[:0], ids...), append(h.sums[:0], sums[:len(ids)]...)
}

// needPending reports whether held rows may determine the next node. That is the case if a held row may be nearer
// than the candidate at cur, or if there is no such candidate.
func (s *Searcher) needPending(list *dist.RankedList, cur int) bool {
	if cur >= list.Len() {
		return true
	}
	d, _ := list.Nodes()
	cut := s.cutOf(d[cur])
	for i, id := range s.pending.ids {
		if s.codes.Passes(&cut, id, s.pending.sums[i]) {
			return true
		}
	}
	return false
}

// addPending computes the distances of the held rows and adds them to the list.
func (s *Searcher) addPending(list *dist.RankedList) (least int, certain bool) {
	ids := s.pending.ids
	s.distances(ids)
	s.pending.clear()
	return list.Add(s.dists[:len(ids)], ids)
}

// noCandidate is not the id of any node.
const noCandidate = ^uint32(0)

// lookAhead prefetches data while the distances of the current hop are computed: the rows that the next hop reads
// unless one of the n rows is nearer than the candidate at cur, and the links of the candidate after it. It returns
// the candidate whose rows were, or will be, prefetched.
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

// unvisited returns the first index, from i on, of a node that was not visited.
func unvisited(list []uint32, i int) int {
	for i < len(list) && list[i]&visited != 0 {
		i++
	}
	return i
}

// take appends the nearest k of the pool to s.found.
func (s *Searcher) take(k int) {
	for _, e := range s.pool[:min(k, len(s.pool))] {
		s.found = append(s.found, nodeDist{e.d, e.id &^ visited})
	}
}
