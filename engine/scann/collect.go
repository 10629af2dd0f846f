package scann

import "math"

// maxHeap is up to how many hits a heap collects, from there on a reservoir (search_dispatch_implem, faiss/IndexIVFPQFastScan.cpp).
const maxHeap = 20

// collector keeps the best of sums of 16 bits as faiss's result handlers do (faiss/impl/simd_result_handlers.h): one, a heap, or a
// reservoir.
type collector struct {
	similarity bool
	k          int
	heap       heap // of one place for k 1
	reservoir  reservoir
}

// reset empties the collector for k hits.
func (c *collector) reset(k int) {
	c.k = k
	if k > maxHeap {
		c.reservoir.reset(k, c.similarity)
		return
	}
	c.heap.resize(k)
	for i := range c.heap.keys {
		c.heap.keys[i], c.heap.ids[i] = c.key(c.neutral()), vacant
	}
}

// neutral is a sum that none is worse than.
func (c *collector) neutral() uint16 {
	if c.similarity {
		return 0
	}
	return math.MaxUint16
}

// key is a sum of which smaller ones are better.
func (c *collector) key(sum uint16) float32 {
	if c.similarity {
		return -float32(sum)
	}
	return float32(sum)
}

// threshold is the sum of the worst hit, or about it.
func (c *collector) threshold() uint16 {
	if c.k > maxHeap {
		return c.reservoir.threshold
	}
	if c.similarity {
		return uint16(-c.heap.keys[0])
	}
	return uint16(c.heap.keys[0])
}

// better reports whether a sum is better than another.
func (c *collector) better(sum, than uint16) bool { return c.key(sum) < c.key(than) }

// add offers a sum, and reports whether it entered a heap.
func (c *collector) add(sum uint16, id int64) bool {
	switch {
	case c.k > maxHeap:
		c.reservoir.add(sum, id)
		return false
	case !(c.heap.keys[0] > c.key(sum)):
		return false
	case c.k == 1:
		c.heap.keys[0], c.heap.ids[0] = c.key(sum), id
	case c.heap.ties:
		c.heap.sink(c.k, c.key(sum), id)
	default:
		c.heap.pop(c.k)
		c.heap.push(c.k, c.key(sum), id)
	}
	return true
}

// hits writes the k best to distances and ids, best first, and vacant ids where there are fewer: a sum is multiplied and added to with one
// rounding, that of nothing too. What a reservoir lacks is infinitely far.
func (c *collector) hits(distances []float32, ids []int64, distance func(sum float32) float32) {
	if c.k > maxHeap {
		c.reservoir.hits(distances, ids, distance)
		return
	}
	if c.k > 1 {
		c.heap.sort(c.key(c.neutral()))
	}
	for i, key := range c.heap.keys {
		if c.similarity {
			key = -key
		}
		if c.k == 1 && c.heap.ties { // kept in 16 bits with a sign from 2.3 on (SingleResultHandler), though compared without
			key = float32(int16(uint16(key)))
		}
		distances[i], ids[i] = distance(key), c.heap.ids[i]
	}
}
