package hnsw

import (
	"math"
	"sync"
	"unsafe"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// worker holds the state of a goroutine of a build.
type worker struct {
	*builder

	seen *dist.VisitedSet // nodes visited by the current search

	pool      []uint64 // the ef nearest so far, sorted
	top, next []uint64 // the same as a heap, and a heap of the nodes to expand
	ties      int      // number of consecutive searches with equal distances
	heapsOnly int      // number of searches left that skip the pool

	slots []uint32 // a copy of a list that other workers may write
	fresh []uint32 // neighbours visited for the first time
	ahead []uint32 // buffer for dist.Peek
	raw   []float32
	keys  []uint32

	query  *prefilter.Query // the new node's vector, quantized; nil without codes
	coded  bool             // query is valid for the current node
	cut    dist.Cut         // threshold for codes, made for cutFor
	cutFor uint32           // a key; 0 before the first cut

	neighborSelector
	chosen []uint64 // the new node's neighbours on all levels
	counts []int    // number of neighbours on each level
}

func (b *builder) newWorker() *worker {
	widest := b.M0 + 1
	w := &worker{
		builder: b,
		seen:    dist.NewVisitedSet(b.Vectors.Rows),
		pool:    make([]uint64, 0, b.ef),
		slots:   make([]uint32, b.M0), fresh: make([]uint32, widest), ahead: make([]uint32, widest),
		raw: make([]float32, widest), keys: make([]uint32, widest),
	}
	if b.codes != nil {
		w.query = b.codes.NewQuery()
	}
	return w
}

// row returns the address of a node's vector.
func (b *builder) row(id uint32) unsafe.Pointer { return unsafe.Add(b.base, uintptr(id)*b.stride) }

// list returns the slots of a node's list on a level, their keys, and the number of checked neighbours.
func (b *builder) list(id uint32, level int) (slots, keys []uint32, checked *uint16) {
	if level == 0 {
		at, end := int(id)*b.M0, int(id+1)*b.M0
		return b.Base[at:end:end], b.baseKeys[at:end:end], &b.baseChecked[id]
	}
	n := int(b.UpperAt[id]) + level - 1
	at, end := n*b.M, (n+1)*b.M
	return b.Upper[at:end:end], b.upperKeys[at:end:end], &b.upperChecked[n]
}

// lock returns the lock that protects a node's lists, or nil with one thread.
func (b *builder) lock(id uint32) *sync.Mutex {
	if b.locks == nil {
		return nil
	}
	return &b.locks[id&(lockStripes-1)]
}

// neighbours returns a node's list. With several threads, the list is a copy in room.
func (w *worker) neighbours(id uint32, level int, room []uint32) []uint32 {
	slots, _, _ := w.list(id, level)
	if l := w.lock(id); l != nil {
		l.Lock()
		slots = room[:copy(room, slots)]
		l.Unlock()
	}
	return slots
}

// count returns the number of neighbours in slots.
func count(slots []uint32) int {
	low, high := 0, len(slots)
	for low < high {
		if mid := (low + high) >> 1; slots[mid]&End != 0 {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// measure returns the keys of the distances from node id to others. The result is valid until the next call. Keys
// are ordered like distances, and equal distances have equal keys.
func (w *worker) measure(id uint32, others []uint32) []uint32 {
	raw, keys := w.raw[:len(others)], w.keys[:len(others)]
	w.kernel.Gather(w.row(id), w.base, w.stride, others, raw)
	for i, r := range raw {
		keys[i] = key(w.offset + w.sign*r)
	}
	if w.Norms != nil {
		norm := w.Norms[id]
		for i, r := range raw {
			// calcDistance of knowhere 2.2's hnswalg.h.
			keys[i] = key(w.sign * r / float32(norm*w.Norms[others[i]]))
		}
	}
	return keys
}

// key maps a distance to an integer with the same order. NaN is greater than all distances. It occurs if the inner
// product of finite values overflows.
func key(d float32) uint32 {
	if d != d {
		return math.MaxUint32
	}
	b := math.Float32bits(d + 0) // -0 becomes 0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// insert adds a node to the graph like addPoint of hnswlib's hnswalg.h. It fills the node's lists on all levels
// before other nodes link to it. Other goroutines therefore always see a complete node and never wait for it,
// unlike in hnswlib, which locks it until the end.
func (w *worker) insert(id uint32) {
	level := int(w.Levels[id])
	w.entryMu.Lock()
	entry, highest := w.Entry, w.MaxLevel
	if level > highest {
		// Other goroutines wait, because they must start at the new entry point.
		defer func() {
			w.Entry, w.MaxLevel = id, level
			w.entryMu.Unlock()
		}()
	} else {
		w.entryMu.Unlock()
	}
	if highest < 0 {
		return
	}
	nearest := entry
	if level < highest {
		nearest = w.descend(id, entry, highest, level)
	}
	w.chosen, w.counts = w.chosen[:0], w.counts[:0]
	w.coded, w.cutFor = w.query != nil && w.query.Load(w.Vectors.Float32(int(id))), 0
	from := min(level, highest)
	for l := from; l >= 0; l-- {
		neighbours, checked := w.choose(w.search(id, nearest, l))
		w.fill(id, l, neighbours, checked)
		nearest = uint32(neighbours[len(neighbours)-1])
		w.chosen = append(w.chosen, neighbours...)
		w.counts = append(w.counts, len(neighbours))
	}
	rest := w.chosen
	for i, n := range w.counts {
		w.linkBack(id, from-i, rest[:n])
		rest = rest[n:]
	}
}

// fill writes the list of a node that no other node links to yet.
func (w *worker) fill(id uint32, level int, neighbours []uint64, checked int) {
	slots, keys, known := w.list(id, level)
	for i, e := range neighbours {
		slots[i], keys[i] = uint32(e), uint32(e>>32)
	}
	*known = uint16(checked)
}

// linkBack adds id to the lists of its neighbours on a level, and prunes full lists.
func (w *worker) linkBack(id uint32, level int, neighbours []uint64) {
	for _, e := range neighbours {
		other, k := uint32(e), uint32(e>>32)
		l := w.lock(other)
		if l != nil {
			l.Lock()
		}
		slots, keys, checked := w.list(other, level)
		if n := count(slots); n < len(slots) {
			slots[n], keys[n] = id, k
		} else {
			w.pruneList(slots, keys, checked, id, k)
		}
		if l != nil {
			l.Unlock()
		}
	}
}

// descend walks greedily from the entry point on level highest to the node that is nearest to id on level lowest+1.
func (w *worker) descend(id, entry uint32, highest, lowest int) uint32 {
	nearest := entry
	best := w.measure(id, []uint32{entry})[0]
	for level := highest; level > lowest; level-- {
		for changed := true; changed; {
			changed = false
			slots := w.neighbours(nearest, level, w.slots)
			slots = slots[:count(slots)]
			for i, k := range w.measure(id, slots) {
				if k < best {
					best, nearest, changed = k, slots[i], true
				}
			}
		}
	}
	return nearest
}
