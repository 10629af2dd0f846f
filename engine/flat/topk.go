package flat

import (
	"math"
	"slices"

	"kitescope/engine"
)

const (
	// neutral is the key of a vacant place, which faiss starts with (std::numeric_limits<float>::max): infinite distances never enter.
	neutral float32 = math.MaxFloat32
	// vacant is the id of a vacant place.
	vacant = math.MinInt64
)

// TopK collects the k best hits that it is offered. An IVF search offers it one list after the other.
type TopK struct {
	similarity bool
	oneMinus   bool // distances of hits are 1 less the similarity, as hnswlib has them
	heapOnly   bool // no pool for large k
	k          int
	pooled     bool // the pool is in use, else the heap
	heap       heap
	pool       pool
	worst      float32 // of keys: an entry enters if its key is smaller
	limit      limit   // the same for tiles
}

// NewTopK returns a collector of raw distances; greater ones are better if similarity is set. Equal ones are ordered by id, except in
// knowhere 2.2, whose order is that of faiss's heap (faiss/utils/Heap.h). From k = 100 on, of several hits as far as the last, others may
// stay than in a library.
func NewTopK(l engine.Library, similarity bool) *TopK {
	return &TopK{similarity: similarity, oneMinus: similarity && l == engine.HNSWLib, heap: heap{ties: l != engine.Knowhere22}}
}

// Reset empties the collector for k hits, to be collected in a heap whatever k is, as in the lists of an IVF index.
func (t *TopK) Reset(k int) {
	t.k, t.pooled = k, false
	t.heap.fill(k)
	t.setWorst(neutral)
}

// reset empties the collector for k hits as IndexFlat does.
func (t *TopK) reset(k int) {
	if t.heapOnly || k < minPool {
		t.Reset(k)
		return
	}
	t.k, t.pooled = k, true
	t.pool = slices.Grow(t.pool[:0], 2*k)
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
	if t.pooled {
		if worst, full := t.pool.add(t.k, key, id); full {
			t.setWorst(worst)
		}
		return
	}
	t.heap.replace(key, id)
	if top := t.heap.keys[0]; top != t.worst {
		t.setWorst(top)
	}
}

func (t *TopK) setWorst(key float32) {
	t.worst = key
	t.limit.set(key, t.similarity)
}

// Hits appends the hits, best first, and leaves the collector to be Reset.
func (t *TopK) Hits(dst []engine.Hit) []engine.Hit {
	if t.pooled {
		for _, e := range t.pool.sort(t.k) {
			dst = append(dst, t.hit(unpacked(e)))
		}
		return dst
	}
	n := t.heap.sort(t.k)
	for i, key := range t.heap.keys[:n] {
		dst = append(dst, t.hit(key, t.heap.ids[i]))
	}
	return dst
}

// hit returns the hit of an entry.
func (t *TopK) hit(key float32, id int64) engine.Hit {
	if t.similarity {
		key, id = -key, ^id
	}
	if t.oneMinus {
		key = 1 - key
	}
	return engine.Hit{ID: id, Distance: key}
}

// Marked reports whether an id is marked in the words of a filter; one beyond them is not.
func Marked(left []uint64, id int64) bool {
	w := uint64(id) >> 6
	return w < uint64(len(left)) && left[w]>>(id&63)&1 != 0
}
