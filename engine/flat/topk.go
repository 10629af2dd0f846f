package flat

import (
	"math"
	"slices"

	"kitescope/engine"
)

const (
	// vacantKey is the key of a vacant entry. faiss starts with std::numeric_limits<float>::max, so infinite
	// distances never enter.
	vacantKey float32 = math.MaxFloat32
	// vacantID is the id of a vacant entry.
	vacantID = math.MinInt64
)

// TopK collects the k best hits. An IVF search adds one list after the other.
type TopK struct {
	similarity bool
	oneMinus   bool // distances of hits are 1 minus the similarity, as in hnswlib
	heapOnly   bool // use no pool for large k
	k          int
	pooled     bool // the pool is in use instead of the heap
	heap       heap
	pool       pool
	worst      float32 // worst key: an entry enters if its key is smaller
	limit      limit   // worst, for comparing whole groups
}

// NewTopK returns a TopK for raw distances. If similarity is set, greater distances are better. Equal distances are
// ordered by id, except in knowhere 2.2, where the order is that of faiss's heap (faiss/utils/Heap.h). From k = 100
// on, if several hits tie with the last one, the ones that stay may differ from the library's.
func NewTopK(l engine.Library, similarity bool) *TopK {
	return &TopK{
		similarity: similarity, oneMinus: similarity && l == engine.HNSWLib, heap: heap{ties: l != engine.Knowhere22},
	}
}

// Reset empties the collector for k hits. They are collected in a heap for every k, as in a search of inverted
// lists.
func (t *TopK) Reset(k int) {
	t.k, t.pooled = k, false
	t.heap.fill(k)
	t.setWorst(vacantKey)
}

// reset empties the collector for k hits, as IndexFlat does: they are collected in a pool if k is large.
func (t *TopK) reset(k int) {
	if t.heapOnly || k < minPool {
		t.Reset(k)
		return
	}
	t.k, t.pooled = k, true
	t.pool = slices.Grow(t.pool[:0], 2*k)
	t.setWorst(vacantKey)
}

// Add adds one distance if it is better than the worst hit.
func (t *TopK) Add(distance float32, id int64) {
	if t.similarity {
		distance, id = -distance, ^id
	}
	if distance < t.worst {
		t.enter(distance, id)
	}
}

// enter adds an entry that is better than the worst.
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

// Hits appends the hits to dst, best first. Call Reset before using the collector again.
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

// Marked reports whether id is marked in the words of a filter. Ids beyond the words are unmarked.
func Marked(excluded []uint64, id int64) bool {
	w := uint64(id) >> 6
	return w < uint64(len(excluded)) && excluded[w]>>(id&63)&1 != 0
}
