package hnsw

import (
	"math"

	"kitescope/engine/dist"
)

// met marks, in the pool, nodes whose links were followed. Ids are below 2^31.
const met = End

// search finds the ef nodes nearest to id on a level, those that searchBaseLayer of hnswlib's
// hnswalg.h finds. It leaves them in w.pool, sorted, or in w.top as the heap that hnswlib has.
//
// A sorted pool is half the work of two heaps, and meets and keeps the same nodes as long as
// no two distances in it are equal. After a tie the search starts anew with
// heaps; and where ties are many, the pool is tried ever more seldom.
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

// start meets the entry point and returns the key of its distance to id.
func (w *worker) start(id, entryPoint uint32) uint32 {
	w.seen.Clear()
	w.seen.Add(entryPoint)
	w.fresh[0] = entryPoint
	return w.measure(id, w.fresh[:1])[0]
}

// visit returns the neighbours of a node that this search meets for the first time, valid
// until the next call, and prefetches their vectors unless that was done ahead.
func (w *worker) visit(node uint32, level int, fetched bool) []uint32 {
	at := w.fetched()
	if fetched {
		at.lines = 0
	}
	n := dist.Visit(w.neighbours(node, level, w.slots), w.seen, at.base, at.stride, at.lines, w.fresh)
	return w.fresh[:n]
}

// notAhead is no node's id: nothing was prefetched ahead.
const notAhead uint32 = math.MaxUint32

// lookAhead prefetches, while the distances of one hop are computed, what the next hop reads
// if none of them is nearer than the node at next, and the links of the one after it. It
// returns the node whose neighbours' vectors were prefetched.
func (w *worker) lookAhead(pool []uint64, next, level int) uint32 {
	if next >= len(pool) {
		return notAhead
	}
	node := uint32(pool[next])
	at := w.fetched()
	dist.Peek(w.neighbours(node, level, w.slots), w.seen, at.base, at.stride, at.lines, w.ahead)
	if after := unmet(pool, next+1); after < len(pool) {
		w.prefetch(uint32(pool[after]), level)
	}
	return node
}

// prefetch asks for a node's list.
func (w *worker) prefetch(node uint32, level int) {
	slots, _, _ := w.list(node, level)
	dist.Prefetch(slots)
}

// unmet is the first place from at on of a node whose links were not followed.
func unmet(pool []uint64, at int) int {
	for at < len(pool) && pool[at]&met != 0 {
		at++
	}
	return at
}

// searchPool is the search with one sorted pool. It gives up, and returns false, at a tie.
//
// Without ties the outcome is that of two heaps: a node that leaves the pool is farther than
// all in it, the farthest in it only gets nearer, and so hnswlib does not follow that node's
// links either; and what one lets in the other does.
func (w *worker) searchPool(id, entryPoint uint32, level int) bool {
	ef, ahead := w.EFConstruction, notAhead
	pool := w.pool[:0]
	pool = append(pool, entry(w.start(id, entryPoint), entryPoint))
	defer func() { w.pool = pool }()
	for next := 0; next < len(pool); {
		node := uint32(pool[next])
		pool[next] |= met
		next = unmet(pool, next+1)
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

// placeOf is the first place in a sorted pool of an entry not below e.
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

// searchHeaps is the search with two heaps.
func (w *worker) searchHeaps(id, entryPoint uint32, level int) {
	bound := w.start(id, entryPoint)
	top, next := w.top[:0], w.next[:0]
	top = append(top, entry(bound, entryPoint))
	// In this heap the complements of the keys are compared, so that the nearest is on top.
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
