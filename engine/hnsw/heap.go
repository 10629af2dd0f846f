package hnsw

// The two priority queues of hnswlib compare distances and nothing else, so what happens to
// equal ones is decided by how libstdc++ moves elements (bits/stl_heap.h, __push_heap and
// __adjust_heap, unchanged since GCC 3). These are the same moves. A build has heaps of its own
// (build_heap.go): it has no NaN, and so compares whole numbers.

// pushFar adds to a heap with the farthest on top (hnswlib's top_candidates). Its candidate_set, with the nearest on top, is one
// of negated distances, as there.
func pushFar(h []near, e near) []near {
	h = append(h, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !(h[parent].d < e.d) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	return h
}

// popFar removes the farthest.
func popFar(h []near) []near {
	n := len(h) - 1
	e := h[n]
	h = h[:n]
	if n == 0 {
		return h
	}
	i := 0
	for child := 2; child < n; child = 2*i + 2 {
		if h[child].d < h[child-1].d {
			child--
		}
		h[i] = h[child]
		i = child
	}
	if 2*i+2 == n {
		h[i] = h[n-1]
		i = n - 1
	}
	for i > 0 {
		parent := (i - 1) / 2
		if !(h[parent].d < e.d) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	return h
}
