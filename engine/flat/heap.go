package flat

// heap is faiss's binary heap of keys with ids: the worst entry on top, in two parallel
// slices. A smaller key is better; where greater distances are better, keys and ids are the
// negated ones, which turns faiss's CMin into its CMax. ties says whether equal keys are
// ordered by id (CMax::cmp2, faiss since 1.7.3 and knowhere since 2.3) or not at all
// (knowhere 2.2): then the order in which equal keys leave is that of the moves below, which
// are faiss's (faiss/utils/Heap.h), comparison by comparison.
type heap struct {
	keys []float32
	ids  []int64
	ties bool
}

// worse reports whether entry (a, i) belongs above (b, j).
func (h *heap) worse(a, b float32, i, j int64) bool {
	return a > b || (h.ties && a == b && i > j)
}

// fill makes a heap of k places that anything but NaN and infinity improves.
func (h *heap) fill(k int) {
	h.keys, h.ids = resize(h.keys, k), resize(h.ids, k)
	for i := range h.keys {
		h.keys[i], h.ids[i] = neutral, vacant
	}
}

// sink puts (key, id) where the top entry of the first n was, and moves it down.
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

// sinkByKey is sink where ids do not count. Which child is worse cannot be foreseen, so that it
// is chosen without a branch.
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

// replace drops the worst of all for a better one.
func (h *heap) replace(key float32, id int64) { h.sink(len(h.keys), key, id) }

// sort turns the first n entries from a heap into a sorted slice, best first, and returns how
// many of them are hits: places that stayed vacant are dropped.
func (h *heap) sort(n int) int {
	hits := 0
	for left := n; left > 0; left-- {
		key, id := h.keys[0], h.ids[0]
		// The last entry sinks from the top while it still stands in its old place, as in
		// faiss's heap_pop: a comparison with itself decides between equal keys.
		h.sink(left, h.keys[left-1], h.ids[left-1])
		h.keys[n-hits-1], h.ids[n-hits-1] = key, id
		if id != vacant {
			hits++
		}
	}
	copy(h.keys, h.keys[n-hits:n])
	copy(h.ids, h.ids[n-hits:n])
	return hits
}

// resize returns a slice of length n, the same memory where it suffices.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
