package flat

// heap is faiss's binary heap of keys and ids, with the worst entry on top, in two parallel slices. Smaller keys
// are better. If greater distances are better, keys and ids are negated, which turns faiss's CMin into its CMax. If
// ties is set, equal keys are ordered by id (CMax::cmp2, faiss since 1.7.3 and knowhere since 2.3). Otherwise
// (knowhere 2.2), equal keys leave in the order that results from the moves of the heap, which repeat those of
// faiss (faiss/utils/Heap.h) comparison by comparison.
type heap struct {
	keys []float32
	ids  []int64
	ties bool
}

// worse reports whether entry (a, i) belongs above entry (b, j).
func (h *heap) worse(a, b float32, i, j int64) bool {
	return a > b || (h.ties && a == b && i > j)
}

// fill resets the heap to k vacant entries. Any key except NaN and infinity is better than them.
func (h *heap) fill(k int) {
	h.keys, h.ids = resize(h.keys, k), resize(h.ids, k)
	for i := range h.keys {
		h.keys[i], h.ids[i] = vacantKey, vacantID
	}
}

// sink replaces the top of the first n entries by (key, id), and moves it down.
func (h *heap) sink(n int, key float32, id int64) {
	if !h.ties {
		h.sinkByKey(n, key, id)
		return
	}
	keys, ids := h.keys[:n], h.ids[:n]
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if r := c + 1; r < n && !h.worse(keys[c], keys[r], ids[c], ids[r]) {
			c = r
		}
		if h.worse(key, keys[c], id, ids[c]) {
			break
		}
		keys[i], ids[i] = keys[c], ids[c]
		i = c
	}
	keys[i], ids[i] = key, id
}

// sinkByKey is sink without ordering by id. It chooses the worse child without a branch, because such a branch is
// unpredictable.
func (h *heap) sinkByKey(n int, key float32, id int64) {
	keys, ids := h.keys[:n], h.ids[:n]
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		worst := keys[c]
		if r := c + 1; r < n {
			right := keys[r]
			if !(worst > right) {
				c = r
			}
			worst = keys[c]
		}
		if key > worst {
			break
		}
		keys[i], ids[i] = keys[c], ids[c]
		i = c
	}
	keys[i], ids[i] = key, id
}

// replace replaces the worst entry by a better one.
func (h *heap) replace(key float32, id int64) { h.sink(len(h.keys), key, id) }

// sort turns the heap of the first n entries into a sorted slice, best first. It drops vacant entries and returns
// the number of hits.
func (h *heap) sort(n int) int {
	hits := 0
	for left := n; left > 0; left-- {
		key, id := h.keys[0], h.ids[0]
		// The last entry sinks from the top while its old copy is still in place, as in faiss's heap_pop. So it is
		// compared with itself, which affects the order of equal keys.
		h.sink(left, h.keys[left-1], h.ids[left-1])
		h.keys[n-hits-1], h.ids[n-hits-1] = key, id
		if id != vacantID {
			hits++
		}
	}
	copy(h.keys, h.keys[n-hits:n])
	copy(h.ids, h.ids[n-hits:n])
	return hits
}

// resize returns a slice of length n. It reuses the memory of s if that is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
