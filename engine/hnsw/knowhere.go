package hnsw

import (
	"math"

	"kitescope/engine"
)

// Shares from which knowhere compares all rows instead of walking the graph. They are the constants of
// thirdparty/hnswlib/hnswlib/hnswalg.h, knowhere 2.2 to 2.4, with the same float arithmetic.
const (
	bruteFiltered = float32(0.93)
	bruteTopK     = float32(0.5)
)

// Values of Stats.BruteForce: the reasons for comparing all rows.
const (
	BruteForceK       = "k is at least half of the rows"
	BruteForceFilter  = "at least 93% of the rows are filtered"
	BruteForceKFilter = "k is at least half of the rows that are not filtered"
	BruteForceFew     = "the walk found fewer than k rows"
)

// searchKnowhere is HierarchicalNSW::searchKnn of knowhere's fork.
func (s *Searcher) searchKnowhere(k, ef int) {
	if why := s.bruteReason(k); why != "" {
		s.stats.BruteForce = why
		s.bruteForce(k)
		return
	}
	s.walkKnowhere(min(max(ef, k), s.n))
	if s.library >= engine.Knowhere23 && len(s.pool) < k && !s.opts.GraphOnly && s.fallsBack(k) {
		s.stats.BruteForce = BruteForceFew
		s.bruteForce(k)
		return
	}
	s.take(k)
}

// fallsBack reports whether knowhere compares all rows after a walk that found too few. From 2.5 on, it does so only
// if more rows pass the filter than the walk found (faiss_hnsw.cc, v2.5.6: bf_search_needed).
func (s *Searcher) fallsBack(k int) bool {
	found := min(len(s.pool), k)
	return !s.faissWalk || found < s.blocked.Len()-s.blocked.Count()
}

// bruteReason returns the reason why knowhere would not walk the graph, or an empty string.
func (s *Searcher) bruteReason(k int) string {
	n, out := s.n, s.blocked.Count()
	switch {
	case s.opts.GraphOnly:
		return ""
	case float32(k) >= float32(n)*bruteTopK:
		return BruteForceK
	case s.blocked.Len() == 0:
		return ""
	case float32(out) >= float32(n)*bruteFiltered:
		return BruteForceFilter
	case float32(k) >= float32(n-out)*bruteTopK:
		return BruteForceKFilter
	}
	return ""
}

// walkKnowhere enters level 0 and leaves the sorted candidates in s.pool.
func (s *Searcher) walkKnowhere(ef int) {
	at, d := s.descend()
	switch {
	case s.blocked.Count() == 0:
		s.walkPool(at, d, ef, false)
	case s.library == engine.Knowhere22:
		s.walkOneList(at, d, ef)
	default:
		s.walkTwoLists(at, d, ef)
	}
}

// admit visits the links of a node. It writes to s.fresh, in order, the neighbours that are not filtered and some
// of the filtered ones. Each filtered neighbour adds share to alpha. When alpha reaches 1, the neighbour is
// admitted and alpha is decreased by 1. After their distances are computed, admitted filtered neighbours get the
// bit End in s.fresh.
func (s *Searcher) admit(id uint32, alpha *float32, share float32) []float32 {
	n := s.visit(id, false)
	kept := s.fresh[:0]
	s.admitted = s.admitted[:0]
	for _, v := range s.fresh[:n] {
		if s.blocked.Has(int(v)) {
			*alpha += share
			if *alpha < 1 {
				continue
			}
			*alpha--
			s.admitted = append(s.admitted, uint32(len(kept)))
		}
		kept = append(kept, v)
	}
	s.distances(kept)
	for _, i := range s.admitted {
		kept[i] |= End
	}
	return s.dists[:len(kept)]
}

// walkOneList is searchBaseLayerST<true> of knowhere 2.2 with its NeighborSet. A filtered node is in the candidate
// list until its links are followed, and is then removed.
func (s *Searcher) walkOneList(at uint32, d float32, ef int) {
	const share = float32(0.15)
	list := oneList{items: s.items[:0], capacity: ef}
	e := candidate{nodeDist: nodeDist{d, at}, state: unchecked}
	if s.blocked.Has(int(at)) {
		e.d, e.state = math.MaxFloat32, passing
	}
	list.insert(e)
	s.seen.Add(at)
	var alpha float32
	for list.cur < len(list.items) {
		for i, d := range s.admit(list.pop(), &alpha, share) {
			list.insert(candidateOf(d, s.fresh[i]))
		}
	}
	s.items = list.items
	s.pool = s.pool[:0]
	for _, c := range list.items {
		s.pool = append(s.pool, c.nodeDist)
	}
}

// States of a candidate (status of knowhere's Neighbor).
const (
	checked   = iota
	unchecked // valid, links not followed yet
	passing   // filtered: walked through, never returned
)

type candidate struct {
	nodeDist
	state int32
}

func candidateOf(d float32, id uint32) candidate {
	c := candidate{nodeDist: nodeDist{d, id &^ End}, state: unchecked}
	if id&End != 0 {
		c.state = passing
	}
	return c
}

// oneList is NeighborSet of knowhere 2.2.
type oneList struct {
	items    []candidate
	capacity int
	cur      int // first that is not checked
}

func (l *oneList) insert(c candidate) {
	n := len(l.items)
	full := n == l.capacity
	if full && c.d >= l.items[n-1].d {
		return
	}
	lo, hi := 0, n
	for lo < hi {
		mid := (lo + hi) >> 1
		if l.items[mid].d > c.d {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if !full {
		l.items = append(l.items, candidate{})
	} else if lo == n {
		return // only reached with NaN
	}
	copy(l.items[lo+1:], l.items[lo:])
	l.items[lo] = c
	l.cur = min(l.cur, lo)
}

func (l *oneList) pop() uint32 {
	id := l.items[l.cur].id
	if l.items[l.cur].state == unchecked {
		l.items[l.cur].state = checked
	} else {
		l.items = append(l.items[:l.cur], l.items[l.cur+1:]...)
	}
	for l.cur < len(l.items) && l.items[l.cur].state == checked {
		l.cur++
	}
	return id
}

// walkTwoLists is searchBaseLayerST<true> of knowhere 2.3 with its NeighborSetDoublePopList. Filtered nodes are in
// a separate list. They are used only while they are nearer than the worst result.
func (s *Searcher) walkTwoLists(at uint32, d float32, ef int) {
	share := float32(float32(s.blocked.Count())/float32(s.n)) * float32(0.7)
	l := twoLists{valid: s.pool[:0], pass: s.top[:0], capacity: ef}
	if s.blocked.Has(int(at)) {
		l.insert(d, at|End)
	} else {
		l.insert(d, at)
	}
	s.seen.Add(at)
	alpha := float32(1)
	for l.more() {
		for i, d := range s.admit(l.pop(), &alpha, share) {
			l.insert(d, s.fresh[i])
		}
	}
	s.pool, s.top = l.valid, l.pass
}

// twoLists is NeighborSetDoublePopList of knowhere 2.3.12.
type twoLists struct {
	valid    []nodeDist // sorted; ids with the bit visited were followed
	pass     []nodeDist // sorted; filtered nodes that were not followed yet
	capacity int
	cur      int
}

func (l *twoLists) worst() float32 {
	if len(l.valid) < l.capacity {
		return math.MaxFloat32
	}
	return l.valid[l.capacity-1].d
}

func (l *twoLists) insert(d float32, id uint32) {
	if id&End == 0 {
		var pos int
		l.valid, pos = insertSorted(l.valid, nodeDist{d, id}, l.capacity)
		l.cur = min(l.cur, pos)
	} else if d < l.worst() {
		l.pass, _ = insertSorted(l.pass, nodeDist{d, id &^ End}, l.capacity)
	}
}

// insertSorted inserts e after equal distances and returns its index. If the index is at least capacity, e was not
// inserted.
func insertSorted(list []nodeDist, e nodeDist, capacity int) ([]nodeDist, int) {
	pos := upperBound(list, e.d)
	if pos >= capacity {
		return list, pos
	}
	if len(list) < capacity {
		list = append(list, nodeDist{})
	}
	copy(list[pos+1:], list[pos:])
	list[pos] = e
	return list, pos
}

func (l *twoLists) more() bool {
	return l.cur < len(l.valid) || len(l.pass) > 0 && l.pass[0].d < l.worst()
}

func (l *twoLists) pop() uint32 {
	if len(l.pass) > 0 && (l.cur >= len(l.valid) || l.pass[0].d < l.valid[l.cur].d) {
		id := l.pass[0].id
		copy(l.pass, l.pass[1:])
		l.pass = l.pass[:len(l.pass)-1]
		return id
	}
	id := l.valid[l.cur].id
	l.valid[l.cur].id |= visited
	l.cur = unfollowed(l.valid, l.cur+1)
	return id
}

// unfollowed returns the first index, from i on, of a node that was not visited.
func unfollowed(list []nodeDist, i int) int {
	for i < len(list) && list[i].id&visited != 0 {
		i++
	}
	return i
}

// upperBound returns the first index in a sorted list whose distance is greater than d.
func upperBound(pool []nodeDist, d float32) int {
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
