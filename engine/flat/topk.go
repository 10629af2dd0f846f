package flat

import (
	"math"

	"kitescope/engine"
)

const (
	// neutral is the key of a vacant place: what faiss starts with (std::numeric_limits<float>::
	// max, not infinity), so that infinite distances never enter.
	neutral float32 = math.MaxFloat32
	// vacant is the id of a vacant place.
	vacant = math.MinInt64
	// minReservoir is the k from which on faiss collects in a reservoir
	// (distance_compute_min_k_reservoir, faiss/utils/distances.cpp).
	minReservoir = 100
)

// TopK collects the k best of what it is given as faiss and knowhere do, with their ties. An
// IVF search gives it one list after the other.
type TopK struct {
	similarity bool
	heapOnly   bool // no reservoir for large k
	k          int
	// inHeap: the heap is in use, else the reservoir.
	inHeap    bool
	heap      heap
	reservoir reservoir
	sorter    sorter
	worst     float32 // of keys: an entry enters if its key is smaller
	limit     limit   // the same for tiles
}

// NewTopK returns a collector: a heap for k < 100, ordered by distance and, but in knowhere 2.2, then id; a reservoir from
// 100 on (faiss/impl/ResultHandler.h, faiss/utils/Heap.h); with the ties of library l (not HNSWLib); similarity says whether
// greater distances are better.
func NewTopK(l engine.Library, similarity bool) *TopK {
	return &TopK{similarity: similarity, heap: heap{ties: l != engine.Knowhere22}}
}

// Reset empties the collector for k hits, to be collected in a heap whatever k is, as in the
// lists of an IVF index.
func (t *TopK) Reset(k int) {
	t.k, t.inHeap = k, true
	t.heap.fill(k)
	t.setWorst(neutral)
}

// reset empties the collector for k hits as IndexFlat does.
func (t *TopK) reset(k int) {
	if t.heapOnly || k < minReservoir {
		t.Reset(k)
		return
	}
	t.k, t.inHeap = k, false
	t.reservoir.reset(k)
	t.setWorst(neutral)
}

// Add offers one distance.
func (t *TopK) Add(distance float32, id int64) {
	if t.similarity {
		distance, id = -distance, ^id
	}
	if distance < t.worst {
		t.enter(distance, id)
	}
}

// enter takes an entry that beats the worst.
func (t *TopK) enter(key float32, id int64) {
	if t.inHeap {
		t.heap.replace(key, id)
		if top := t.heap.keys[0]; top != t.worst {
			t.setWorst(top)
		}
		return
	}
	t.reservoir.add(t.k, key, id)
	if t.reservoir.worst != t.worst {
		t.setWorst(t.reservoir.worst)
	}
}

func (t *TopK) setWorst(key float32) {
	t.worst = key
	t.limit.set(key, t.similarity)
}

// Hits appends the hits, best first, and leaves the collector to be Reset.
func (t *TopK) Hits(dst []engine.Hit) []engine.Hit {
	n := t.k
	if t.inHeap {
		n = t.heap.sort(n)
	} else {
		n = t.settle()
	}
	for i, key := range t.heap.keys[:n] {
		id := t.heap.ids[i]
		if t.similarity {
			key, id = -key, ^id
		}
		dst = append(dst, engine.Hit{ID: id, Distance: key})
	}
	return dst
}

// settle sorts the k best of the reservoir into the heap's slices and returns how many there
// are: pushed one by one, then replaced, then popped (ReservoirTopN::to_result). Where no two
// equal keys make that matter a sort comes to the same.
func (t *TopK) settle() int {
	r, h := &t.reservoir, &t.heap
	h.keys, h.ids = resize(h.keys, t.k), resize(h.ids, t.k)
	n := min(r.n, t.k)
	if t.sorter.sort(r, h, n) {
		return n
	}
	for i := range n {
		h.rise(i, r.keys[i], r.ids[i])
	}
	for i := n; i < r.n; i++ {
		if r.keys[i] < h.keys[0] {
			h.sink(n, r.keys[i], r.ids[i])
		}
	}
	return h.sort(n)
}
