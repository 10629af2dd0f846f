package hnsw

// The two priority queues of hnswlib compare only distances, so the order of equal distances depends on how
// libstdc++ moves elements (bits/stl_heap.h, __push_heap and __adjust_heap, unchanged since GCC 3). These functions
// make the same moves. A build uses separate heaps of integers (build_heap.go), because it has no NaN.

// pushFar adds e to a heap that has the farthest element on top (hnswlib's top_candidates). As in hnswlib,
// candidate_set, which has the nearest on top, is a heap of negated distances.
func pushFar(h []nodeDist, e nodeDist) []nodeDist {
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

// popFar removes the farthest element.
func popFar(h []nodeDist) []nodeDist {
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
