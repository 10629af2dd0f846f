package sparse

import "kitescope/engine"

// item is a row in a queue.
type item struct {
	id    uint32
	score float32
}

// above implements operator> of knowhere's IdVal, which is true for scores that cannot be compared.
func (a item) above(b item) bool {
	less := a.score < b.score || a.score == b.score && a.id < b.id
	equal := a.id == b.id && a.score == b.score
	return !less && !equal
}

// queue keeps the best rows in a heap, the worst first. It reproduces MaxMinHeap move by move: it compares
// scores and ids when it grows and shrinks, but only scores when a row replaces the worst. The order among
// equal scores depends on these moves.
type queue struct {
	items []item // a heap, with room for the capacity
	size  int
}

func (q *queue) reset(capacity int) {
	if cap(q.items) < capacity {
		q.items = make([]item, capacity)
	}
	q.items, q.size = q.items[:capacity], 0
}

// threshold returns the worst score of a full queue, or 0 while there is room.
func (q *queue) threshold() float32 {
	if q.size < len(q.items) || q.size == 0 {
		return 0
	}
	return q.items[0].score
}

func (q *queue) push(id uint32, score float32) {
	switch {
	case q.size < len(q.items):
		q.size++
		up(q.items[:q.size], q.size-1, item{id, score})
	case q.size > 0 && score > q.items[0].score:
		q.replace(item{id, score})
	}
}

// up moves v from a hole towards the root to its place, as std::push_heap does.
func up(items []item, hole int, v item) {
	for hole > 0 {
		parent := (hole - 1) / 2
		if !items[parent].above(v) {
			break
		}
		items[hole] = items[parent]
		hole = parent
	}
	items[hole] = v
}

// replace replaces the worst row by v (sift_down).
func (q *queue) replace(v item) {
	items, i := q.items, 0
	for 2*i+1 < q.size {
		j, l, r := i, 2*i+1, 2*i+2
		if items[l].score < v.score {
			j = l
		}
		if r < q.size {
			least := items[l].score
			if v.score < least { // std::min
				least = v.score
			}
			if items[r].score < least {
				j = r
			}
		}
		if i == j {
			break
		}
		items[i] = items[j]
		i = j
	}
	items[i] = v
}

// pop removes and returns the worst row, as std::pop_heap does.
func (q *queue) pop() item {
	worst := q.items[0]
	q.size--
	popHeap(q.items[:q.size+1])
	return worst
}

// popHeap moves the first item of a heap to the end of the slice and restores the heap before it.
func popHeap(items []item) {
	n := len(items) - 1
	if n < 1 {
		return
	}
	v := items[n]
	items[n] = items[0]
	hole, child := 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if items[child].above(items[child-1]) {
			child--
		}
		items[hole] = items[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		items[hole] = items[child-1]
		hole = child - 1
	}
	up(items, hole, v)
}

// hits appends all rows to dst, best first, and empties the queue.
func (q *queue) hits(dst []engine.Hit) []engine.Hit {
	n := q.size
	first := len(dst)
	for range n {
		dst = append(dst, engine.Hit{})
	}
	for i := n - 1; i >= 0; i-- {
		worst := q.pop()
		dst[first+i] = engine.Hit{ID: int64(worst.id), Distance: worst.score}
	}
	return dst
}
