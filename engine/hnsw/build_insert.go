package hnsw

import (
	"math"
	"sync"
	"unsafe"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// worker is what one goroutine of a build works with.
type worker struct {
	*builder

	seen *dist.Seen // by one search

	pool      []uint64 // the ef nearest so far, sorted
	top, next []uint64 // the same as a heap, and a heap of the nodes to go to
	ties      int      // searches in sequence that met equal distances
	heapsOnly int      // searches to come that do not try the pool

	slots []uint32 // a copy of a list that others may write
	fresh []uint32 // neighbours met for the first time
	ahead []uint32 // room for what Peek finds
	raw   []float32
	keys  []uint32

	query  *prefilter.Query // the new node's, where there are codes
	coded  bool             // they say something of it
	cut    dist.Cut         // for cutFor
	cutFor uint32           // a key; 0 before there is one

	thinner
	chosen []uint64 // the new node's neighbours, level after level
	counts []int    // how many on each level
}

func (b *builder) newWorker() *worker {
	widest := b.M0 + 1
	w := &worker{
		builder: b,
		seen:    dist.NewSeen(b.Vectors.Rows),
		pool:    make([]uint64, 0, b.ef),
		slots:   make([]uint32, b.M0), fresh: make([]uint32, widest), ahead: make([]uint32, widest),
		raw: make([]float32, widest), keys: make([]uint32, widest),
	}
	if b.codes != nil {
		w.query = b.codes.NewQuery()
	}
	return w
}

// row is the address of a node's vector.
func (b *builder) row(id uint32) unsafe.Pointer { return unsafe.Add(b.base, uintptr(id)*b.stride) }

// list is where a node's neighbours on a level are, their keys, and how many are checked.
func (b *builder) list(id uint32, level int) (slots, keys []uint32, checked *uint16) {
	if level == 0 {
		at, end := int(id)*b.M0, int(id+1)*b.M0
		return b.Base[at:end:end], b.baseKeys[at:end:end], &b.baseChecked[id]
	}
	n := int(b.UpperAt[id]) + level - 1
	at, end := n*b.M, (n+1)*b.M
	return b.Upper[at:end:end], b.upperKeys[at:end:end], &b.upperChecked[n]
}

// lock is what guards a node's lists; nil with one thread.
func (b *builder) lock(id uint32) *sync.Mutex {
	if b.locks == nil {
		return nil
	}
	return &b.locks[id&(lockStripes-1)]
}

// neighbours is a node's list: in place with one thread, else a copy in room.
func (w *worker) neighbours(id uint32, level int, room []uint32) []uint32 {
	slots, _, _ := w.list(id, level)
	if l := w.lock(id); l != nil {
		l.Lock()
		slots = room[:copy(room, slots)]
		l.Unlock()
	}
	return slots
}

// count is how many neighbours are in slots.
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

// measure returns the keys of the distances from node id to others, valid until the next
// call. Keys are ordered as the distances; equal ones are those of equal distances.
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

// key maps a distance to an integer of the same order. NaN, which inner products of finite
// values give when they overflow, is farther than all.
func key(d float32) uint32 {
	if d != d {
		return math.MaxUint32
	}
	b := math.Float32bits(d + 0) // -0 is 0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// insert adds a node to the graph, as addPoint of hnswlib's hnswalg.h does. Its lists of all
// levels are filled before any other node links to it: what others see of it is complete, and
// nobody needs to wait for it as in hnswlib, where it is locked until the end.
func (w *worker) insert(id uint32) {
	level := int(w.Levels[id])
	w.growth.Lock()
	entry, highest := w.Entry, w.MaxLevel
	if level > highest {
		// Others wait: they shall start at the new entry point.
		defer func() {
			w.Entry, w.MaxLevel = id, level
			w.growth.Unlock()
		}()
	} else {
		w.growth.Unlock()
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

// fill writes the list of a node to which nothing links yet.
func (w *worker) fill(id uint32, level int, neighbours []uint64, checked int) {
	slots, keys, known := w.list(id, level)
	for i, e := range neighbours {
		slots[i], keys[i] = uint32(e), uint32(e>>32)
	}
	*known = uint16(checked)
}

// linkBack adds id to the lists of its neighbours on a level, and thins those that are full.
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
			w.thinList(slots, keys, checked, id, k)
		}
		if l != nil {
			l.Unlock()
		}
	}
}

// descend goes greedily from the entry point on level highest to the node nearest to id on
// level lowest+1.
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
