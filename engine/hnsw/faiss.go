package hnsw

import (
	"math"
	"slices"

	"kitescope/engine/dist"
)

// searchFaiss is HNSW::search of faiss 1.15 with its bounded queue. For inner products, faiss compares
// similarities, whereas searchFaiss compares their negatives. This is equivalent, except that ties by id are
// reversed (CMin instead of CMax).
func (s *Searcher) searchFaiss(k, ef int) {
	at, d := s.descend()
	capacity := min(max(ef, k), s.n)
	// If the list is longer than ef, faiss stops at the ef-th candidate. walkFaiss implements that.
	if s.blocked.Count() == 0 && k <= ef && s.tryPool(at, d, capacity) {
		s.take(k)
		return
	}
	s.results = kHeap{s: s, k: min(k, s.n), limit: maxFloat, reverse: s.similarity()}
	s.walkFaiss(at, d, capacity, ef, &s.results)
	s.sortFaiss()
}

func (s *Searcher) similarity() bool {
	return s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine
}

// sortFaiss sorts the results in the order of heap_reorder in faiss's utils/Heap.h.
func (s *Searcher) sortFaiss() {
	reverse := s.similarity()
	slices.SortFunc(s.found, func(a, b nodeDist) int {
		if a.d < b.d || a.d == b.d && (a.id < b.id) != reverse {
			return -1
		}
		return 1
	})
}

// kHeap holds the k nearest rows of a query.
type kHeap struct {
	s       *Searcher
	k       int
	limit   float32 // distances must be below limit to be added
	all     bool    // ignore limit while there are fewer than k
	reverse bool
}

// add is HeapResultHandler::add_result. If the distance equals the worst, the earlier row stays.
func (h *kHeap) add(d float32, id uint32) {
	s := h.s
	found := s.found
	if len(found) < h.k {
		if h.all || d < h.limit {
			s.found = h.up(append(found, nodeDist{d, id}))
		}
		return
	}
	if !(d < found[0].d) {
		return
	}
	found[0] = nodeDist{d, id}
	h.down(found)
}

// worse reports whether a belongs above b in the heap, like CMax::cmp2, or like CMin::cmp2 if reverse is set.
func (h *kHeap) worse(a, b nodeDist) bool {
	return a.d > b.d || a.d == b.d && (a.id > b.id) != h.reverse
}

func (h *kHeap) up(f []nodeDist) []nodeDist {
	e, i := f[len(f)-1], len(f)-1
	for i > 0 && h.worse(e, f[(i-1)/2]) {
		f[i] = f[(i-1)/2]
		i = (i - 1) / 2
	}
	f[i] = e
	return f
}

func (h *kHeap) down(f []nodeDist) {
	e, i := f[0], 0
	for {
		child := 2*i + 1
		if child >= len(f) {
			break
		}
		if child+1 < len(f) && h.worse(f[child+1], f[child]) {
			child++
		}
		if h.worse(e, f[child]) {
			break
		}
		f[i] = f[child]
		i = child
	}
	f[i] = e
}

// walkFaiss is search_from_candidates of faiss's impl/HNSW.cpp on level 0.
func (s *Searcher) walkFaiss(at uint32, d float32, capacity, ef int, results *kHeap) {
	c := minimax{dis: s.dis[:0], ids: s.ids[:0], n: capacity, reverse: s.similarity()}
	c.push(d, int32(at))
	if !s.blocked.Has(int(at)) {
		results.add(d, at)
	}
	s.seen.Add(at)
	for c.valid > 0 {
		at, d := c.popMin()
		if c.below(d) >= ef {
			break
		}
		for i, d := range s.expand(uint32(at)) {
			id := s.fresh[i]
			if !s.blocked.Has(int(id)) {
				results.add(d, id)
			}
			c.push(d, int32(id))
		}
	}
	s.dis, s.ids = c.dis, c.ids
}

// minimax is MinimaxHeap of faiss's impl/hnsw/MinimaxHeap.h. It is a heap with the farthest element on top. The
// nearest element is removed by setting its id to -1. A removed element keeps its place and its distance, and its
// new id takes part when equal distances are compared (heap_push and heap_pop of utils/Heap.h).
type minimax struct {
	dis     []float32
	ids     []int32
	n       int // capacity
	valid   int
	reverse bool
}

func (m *minimax) worse(a, b float32, i, j int32) bool {
	return a > b || a == b && i != j && (i > j) != m.reverse
}

func (m *minimax) push(d float32, id int32) {
	if isNaN(d) {
		d = math.MaxFloat32
	}
	if len(m.dis) == m.n {
		if !(m.dis[0] > d) {
			return
		}
		if m.ids[0] != -1 {
			m.valid--
		}
		m.pop()
	}
	m.dis, m.ids = append(m.dis, d), append(m.ids, id)
	i := len(m.dis)
	for i > 1 {
		parent := i >> 1
		if !m.worse(d, m.dis[parent-1], id, m.ids[parent-1]) {
			break
		}
		m.dis[i-1], m.ids[i-1] = m.dis[parent-1], m.ids[parent-1]
		i = parent
	}
	m.dis[i-1], m.ids[i-1] = d, id
	m.valid++
}

func (m *minimax) pop() {
	k := len(m.dis)
	d, id := m.dis[k-1], m.ids[k-1]
	i := 1
	for {
		child := i << 1
		if child > k {
			break
		}
		if child != k && !m.worse(m.dis[child-1], m.dis[child], m.ids[child-1], m.ids[child]) {
			child++
		}
		if m.worse(d, m.dis[child-1], id, m.ids[child-1]) {
			break
		}
		m.dis[i-1], m.ids[i-1] = m.dis[child-1], m.ids[child-1]
		i = child
	}
	m.dis[i-1], m.ids[i-1] = d, id
	m.dis, m.ids = m.dis[:k-1], m.ids[:k-1]
}

// popMin removes and returns the nearest element. Among equally near elements, it takes the last one in the heap.
func (m *minimax) popMin() (int32, float32) {
	best, d := -1, float32(math.Inf(1))
	for i, v := range m.dis {
		if m.ids[i] != -1 && v <= d {
			best, d = i, v
		}
	}
	id := m.ids[best]
	m.ids[best] = -1
	m.valid--
	return id, d
}

// below returns the number of elements nearer than d, including removed ones.
func (m *minimax) below(d float32) int {
	n := 0
	for _, v := range m.dis {
		if v < d {
			n++
		}
	}
	return n
}
