package hnsw

import (
	"math"

	"kitescope/engine/dist"
)

// followed marks nodes in the pool whose links were followed. Node ids are below 2^31.
const followed = End

// search finds the ef nodes nearest to id on a level, as searchBaseLayer of hnswlib's hnswalg.h does. If it returns
// true, they are in w.pool, sorted. Otherwise they are in w.top, in the heap order of hnswlib.
//
// A sorted pool takes half the time of two heaps. It visits and keeps the same nodes unless two distances in it are
// equal. After a tie, the search starts again with heaps. If ties are frequent, the pool is tried less and less
// often.
func (w *worker) search(id, entryPoint uint32, level int) (sorted bool) {
	switch {
	case w.heapsOnly > 0:
		w.heapsOnly--
	case w.searchPool(id, entryPoint, level):
		w.ties = 0
		return true
	default:
		w.ties = min(w.ties+1, 8)
		w.heapsOnly = 1<<w.ties - 2
	}
	w.searchHeaps(id, entryPoint, level)
	return false
}

// start visits the entry point and returns the key of its distance to id.
func (w *worker) start(id, entryPoint uint32) uint32 {
	w.seen.Clear()
	w.seen.Add(entryPoint)
	w.fresh[0] = entryPoint
	return w.measure(id, w.fresh[:1])[0]
}

// visit returns the neighbours of a node that this search has not visited before. The result is valid until the
// next call. Unless fetched is set, it prefetches their vectors.
func (w *worker) visit(node uint32, level int, fetched bool) []uint32 {
	at := w.prefetchTarget()
	if fetched {
		at.lines = 0
	}
	n := dist.Visit(w.neighbours(node, level, w.slots), w.seen, at.base, at.stride, at.lines, w.fresh)
	return w.fresh[:n]
}

// noLookahead is not the id of any node. It means that nothing was prefetched ahead.
const noLookahead uint32 = math.MaxUint32

// lookAhead prefetches data while the distances of the current hop are computed: the vectors that the next hop
// reads unless a nearer node is found, and the links of the node after it. It returns the node whose neighbours'
// vectors were prefetched.
func (w *worker) lookAhead(pool []uint64, next, level int) uint32 {
	if next >= len(pool) {
		return noLookahead
	}
	node := uint32(pool[next])
	at := w.prefetchTarget()
	dist.Peek(w.neighbours(node, level, w.slots), w.seen, at.base, at.stride, at.lines, w.ahead)
	if after := nextUnfollowed(pool, next+1); after < len(pool) {
		w.prefetch(uint32(pool[after]), level)
	}
	return node
}

// prefetch prefetches a node's list.
func (w *worker) prefetch(node uint32, level int) {
	slots, _, _ := w.list(node, level)
	dist.Prefetch(slots)
}

// nextUnfollowed returns the first index, from at on, of a node whose links were not followed.
func nextUnfollowed(pool []uint64, at int) int {
	for at < len(pool) && pool[at]&followed != 0 {
		at++
	}
	return at
}

// searchPool searches with one sorted pool. It returns false at the first tie.
//
// Without ties, the result is the same as with two heaps. A node that is dropped from the pool is farther than all
// nodes in it. The farthest node in the pool only gets nearer, so hnswlib does not follow the links of the dropped
// node either. Both admit the same nodes.
func (w *worker) searchPool(id, entryPoint uint32, level int) bool {
	ef, ahead := w.EFConstruction, noLookahead
	pool := w.pool[:0]
	pool = append(pool, entry(w.start(id, entryPoint), entryPoint))
	defer func() { w.pool = pool }()
	for next := 0; next < len(pool); {
		node := uint32(pool[next])
		pool[next] |= followed
		next = nextUnfollowed(pool, next+1)
		fresh := w.visit(node, level, node == ahead)
		ahead = w.lookAhead(pool, next, level)
		if w.coded && len(pool) == ef {
			fresh = w.pick(id, fresh, uint32(pool[ef-1]>>32))
		}
		for i, k := range w.measure(id, fresh) {
			if len(pool) == ef && k >= uint32(pool[ef-1]>>32) {
				continue
			}
			e := entry(k, fresh[i])
			to := placeOf(pool, e)
			if to > 0 && pool[to-1]>>32 == e>>32 || to < len(pool) && pool[to]>>32 == e>>32 {
				return false
			}
			if len(pool) < ef {
				pool = append(pool, 0)
			}
			copy(pool[to+1:], pool[to:len(pool)-1])
			pool[to] = e
			if to <= next {
				next = to
				w.prefetch(fresh[i], level)
			}
		}
	}
	return true
}

// placeOf returns the index of the first entry in a sorted pool that is at least e.
func placeOf(pool []uint64, e uint64) int {
	at, n := 0, len(pool)
	for n > 1 {
		half := n >> 1
		next := at + half
		if pool[next-1] < e {
			at = next
		}
		n -= half
	}
	if n == 1 && pool[at] < e {
		at++
	}
	return at
}

// searchHeaps searches with two heaps.
func (w *worker) searchHeaps(id, entryPoint uint32, level int) {
	bound := w.start(id, entryPoint)
	top, next := w.top[:0], w.next[:0]
	top = append(top, entry(bound, entryPoint))
	// This heap compares complements of keys, so that the nearest node is on top.
	next = append(next, entry(^bound, entryPoint))
	for len(next) > 0 {
		nearest := next[0]
		if ^uint32(nearest>>32) > bound && len(top) == w.EFConstruction {
			break
		}
		next = popEntry(next)
		fresh := w.visit(uint32(nearest), level, false)
		if len(next) > 0 {
			w.prefetch(uint32(next[0]), level)
		}
		if w.coded && len(top) >= w.EFConstruction {
			fresh = w.pick(id, fresh, bound)
		}
		for i, k := range w.measure(id, fresh) {
			if len(top) >= w.EFConstruction && k >= bound {
				continue
			}
			next = pushEntry(next, entry(^k, fresh[i]))
			top = pushEntry(top, entry(k, fresh[i]))
			if len(top) > w.EFConstruction {
				top = popEntry(top)
			}
			bound = uint32(top[0] >> 32)
		}
	}
	w.top, w.next = top, next
}
