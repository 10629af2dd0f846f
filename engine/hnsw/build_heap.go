package hnsw

// The heaps of a build are slices of entries. The upper half of an entry is the key of a distance, the lower half
// is the node. Only keys are compared. The order of entries with equal keys depends on how entries move, so they
// move as in push_heap and pop_heap of libstdc++ (bits/stl_heap.h), which std::priority_queue and therefore hnswlib
// use.

// entry returns a node with its key.
func entry(key, id uint32) uint64 { return uint64(key)<<32 | uint64(id) }

// pushEntry adds e to a heap that has the greatest key on top.
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

// popEntry removes the top of a non-empty heap and returns the heap.
func popEntry(h []uint64) []uint64 {
	n := len(h) - 1
	last := h[n]
	h = h[:n]
	if n == 0 {
		return h
	}
	// The hole moves down to a leaf along the greater children. The last entry is put there and moves up.
	i := 0
	for i < (n-1)>>1 {
		child := 2*i + 2
		right, left := h[child], h[child-1]
		// Choose the left child if its key is greater. A branch would be unpredictable.
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
