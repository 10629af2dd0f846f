package sparse

import "kitescope/engine"

// item is a row that a queue keeps.
type item struct {
	id    uint32
	score float32
}

// above is operator> of knowhere's IdVal, which is true of what compares with nothing.
func (a item) above(b item) bool {
	less := a.score < b.score || a.score == b.score && a.id < b.id
	equal := a.id == b.id && a.score == b.score
	return !less && !equal
}

// queue keeps the best rows, the worst of them first: MaxMinHeap, move by move. It compares ids with scores where it grows and
// shrinks, and scores alone where a row takes the place of the worst, so that the order among equal scores is that of the moves.
type queue struct {
	items []item // of a heap, with room for all
	size  int
}

func (q *queue) reset(capacity int) {
	if cap(q.items) < capacity {
		q.items = make([]item, capacity)
	}
	q.items, q.size = q.items[:capacity], 0
}

// threshold is the worst score of a full queue; 0 while there is room.
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

// up is std::push_heap's walk from a hole to where v belongs.
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

// replace puts v in place of the worst (sift_down).
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

// pop takes the worst out, as std::pop_heap does.
func (q *queue) pop() item {
	worst := q.items[0]
	q.size--
	popHeap(q.items[:q.size+1])
	return worst
}

// popHeap moves the first of a heap behind it.
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

// hits appends all rows, best first, and empties the queue.
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
