package scann

// heap is faiss's binary heap of keys with ids, the worst on top; a smaller key is better. Equal keys leave in the order that its moves
// make (faiss/utils/Heap.h of knowhere v2.2.3), or, from knowhere 2.3 on, in that of their ids (v2.3.12).
type heap struct {
	keys []float32
	ids  []int64
	ties bool  // by id
	flip int64 // -1 where the greater id is better, as keys are negated; else 0
}

// worse reports whether entry (a, i) belongs above (b, j).
func (h *heap) worse(a, b float32, i, j int64) bool {
	return a > b || h.ties && a == b && i^h.flip > j^h.flip
}

// vacant is the id of a place without a hit.
const vacant = -1

// sink puts (key, id) where the top of the first n was, and moves it down.
func (h *heap) sink(n int, key float32, id int64) {
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if r := c + 1; r < n && !h.worse(h.keys[c], h.keys[r], h.ids[c], h.ids[r]) {
			c = r
		}
		if h.worse(key, h.keys[c], id, h.ids[c]) {
			break
		}
		h.keys[i], h.ids[i] = h.keys[c], h.ids[c]
		i = c
	}
	h.keys[i], h.ids[i] = key, id
}

// pop drops the top of the first n; the last stands in its old place while it sinks.
func (h *heap) pop(n int) { h.sink(n, h.keys[n-1], h.ids[n-1]) }

// push adds an entry to the first n-1.
func (h *heap) push(n int, key float32, id int64) {
	i := n - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.worse(key, h.keys[up], id, h.ids[up]) {
			break
		}
		h.keys[i], h.ids[i] = h.keys[up], h.ids[up]
		i = up
	}
	h.keys[i], h.ids[i] = key, id
}

// sort turns the heap into a slice, best first, with the vacant places last: their key is then neutral (heap_reorder).
func (h *heap) sort(neutral float32) {
	n, hits := len(h.keys), 0
	for left := n; left > 0; left-- {
		key, id := h.keys[0], h.ids[0]
		h.pop(left)
		h.keys[n-hits-1], h.ids[n-hits-1] = key, id
		if id != vacant {
			hits++
		}
	}
	copy(h.keys, h.keys[n-hits:])
	copy(h.ids, h.ids[n-hits:])
	for i := hits; i < n; i++ {
		h.keys[i], h.ids[i] = neutral, vacant
	}
}

// resize makes n places.
func (h *heap) resize(n int) {
	if cap(h.keys) < n {
		h.keys, h.ids = make([]float32, n), make([]int64, n)
	}
	h.keys, h.ids = h.keys[:n], h.ids[:n]
}
