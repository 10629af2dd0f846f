package flat

import (
	"bytes"
	"math"
	"math/rand"
	"testing"

	"kitescope/engine"
)

// TestShortcutsKeepTheMoves holds the sort of large k against faiss's heap, and groups of
// distances against one by one, where keys are equal, 0 of both signs, and in any order.
func TestShortcutsKeepTheMoves(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for round := range 400 {
		similarity, values := round&1 != 0, []int{3, 50, 1 << 20}[r.Intn(3)]
		policy := []engine.Library{engine.Faiss, engine.Knowhere22}[r.Intn(2)]
		d := make([]float32, 1+r.Intn(2500))
		for i := range d {
			d[i] = float32(r.Intn(values))
			if similarity {
				d[i] -= float32(values / 2)
				if d[i] == 0 && r.Intn(2) == 0 {
					d[i] = float32(math.Copysign(0, -1))
				}
			}
		}
		k := 1 + r.Intn(400)
		a, b := NewTopK(policy, similarity), NewTopK(policy, similarity)
		a.reset(k)
		b.reset(k)
		a.addRun(d, 0, nil)
		for i, v := range d {
			b.Add(v, int64(i))
		}
		want := slowly(b, k)
		if got := a.Hits(nil); !bytes.Equal(bitsOf(got), bitsOf(want)) {
			t.Fatalf("%v similarity %v k %d of %d: %v, want %v", policy, similarity, k, len(d), got, want)
		}
	}
}

// slowly is Hits without the sort.
func slowly(t *TopK, k int) []engine.Hit {
	if !t.inHeap {
		r, h := &t.reservoir, &t.heap
		h.keys, h.ids = resize(h.keys, k), resize(h.ids, k)
		n := min(r.n, k)
		for i := range n {
			h.rise(i, r.keys[i], r.ids[i])
		}
		for i := n; i < r.n; i++ {
			if r.keys[i] < h.keys[0] {
				h.sink(n, r.keys[i], r.ids[i])
			}
		}
		t.inHeap, t.k = true, n
	}
	return t.Hits(nil)
}
