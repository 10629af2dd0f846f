package hnsw

// A heap of the build is a slice of entries, the distance's key in the upper half of each and
// the node in the lower; only the keys are compared. Which of several equal keys comes out
// first depends on how entries move, so they move as in libstdc++'s push_heap and pop_heap
// (bits/stl_heap.h), on which std::priority_queue and so hnswlib rest.

// entry is a node with the key by which it is ordered.
func entry(key, id uint32) uint64 { return uint64(key)<<32 | uint64(id) }

// pushEntry adds e to a heap with the greatest key at the top.
func pushEntry(h []uint64, e uint64) []uint64 {
	h = append(h, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) >> 1
		p := h[parent]
		if p>>32 >= e>>32 {
			break
		}
		h[i] = p
		i = parent
	}
	h[i] = e
	return h
}

// popEntry takes the top off a heap that is not empty and returns what is left.
func popEntry(h []uint64) []uint64 {
	n := len(h) - 1
	last := h[n]
	h = h[:n]
	if n == 0 {
		return h
	}
	// The hole goes down to a leaf by way of the greater child, then last goes up from there.
	i := 0
	for i < (n-1)>>1 {
		child := 2*i + 2
		right, left := h[child], h[child-1]
		// The left child where its key is greater, without a branch: nobody predicts it.
		less := int((right>>32 - left>>32) >> 63)
		child -= less
		h[i] = h[child]
		i = child
	}
	if n&1 == 0 && i == (n-2)>>1 {
		h[i] = h[2*i+1]
		i = 2*i + 1
	}
	for i > 0 {
		parent := (i - 1) >> 1
		p := h[parent]
		if p>>32 >= last>>32 {
			break
		}
		h[i] = p
		i = parent
	}
	h[i] = last
	return h
}
