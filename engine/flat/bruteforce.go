package flat

import "kitescope/engine"

// bruteForce is the queue of hnswlib's BruteforceSearch (bruteforce.h, 0.8.0): a max-heap of
// pairs of distance and label. The first k rows enter whatever their distance; a later one if
// it is not farther than the worst, even when a filter left the queue short of k: so filtered
// searches may return fewer hits than there are rows left, and do here too.
type bruteForce struct {
	labels     []int64
	similarity bool // raw sums are inner products: the distance is 1 minus them

	k         int
	queue     []entry
	unordered bool // NaN is in the queue: its top says nothing of the others
}

type entry struct {
	distance float32
	label    int64
	row      int64
}

// less is std::pair's operator<, under which NaN is equal to everything.
func (e entry) less(f entry) bool {
	return e.distance < f.distance || (!(f.distance < e.distance) && e.label < f.label)
}

func (b *bruteForce) reset(k int) { b.k, b.queue, b.unordered = k, b.queue[:0], false }

// addRun offers the raw distances of the consecutive rows from first on, but for those in left.
func (b *bruteForce) addRun(d []float32, first int, left []uint64) {
	for i, v := range d {
		row := int64(first + i)
		if left == nil || left[row>>6]>>(row&63)&1 == 0 {
			b.add(v, row)
		}
	}
}

// addChosen offers the raw distances of the rows first+chosen[i].
func (b *bruteForce) addChosen(d []float32, first int, chosen []uint32) {
	for i, v := range d {
		b.add(v, int64(first)+int64(chosen[i]))
	}
}

func (b *bruteForce) add(raw float32, row int64) {
	e := entry{raw, row, row}
	if b.similarity {
		e.distance = 1 - raw
	}
	if row >= int64(b.k) {
		last := neutral
		if len(b.queue) > 0 {
			last = b.queue[0].distance
		}
		if !(e.distance <= last) {
			return
		}
	}
	if b.labels != nil {
		e.label = b.labels[row]
	}
	b.unordered = b.unordered || e.distance != e.distance
	b.push(e)
	if len(b.queue) > b.k {
		b.pop()
	}
}

// push is std::push_heap of libstdc++.
func (b *bruteForce) push(e entry) {
	b.queue = append(b.queue, e)
	b.rise(len(b.queue)-1, 0, e)
}

func (b *bruteForce) rise(hole, top int, e entry) {
	for hole > top {
		up := (hole - 1) / 2
		if !b.queue[up].less(e) {
			break
		}
		b.queue[hole] = b.queue[up]
		hole = up
	}
	b.queue[hole] = e
}

// pop is std::pop_heap of libstdc++: the hole sinks to a leaf and the last entry rises from it.
// With NaN in the queue the result depends on that.
func (b *bruteForce) pop() entry {
	top, n := b.queue[0], len(b.queue)-1
	last := b.queue[n]
	b.queue = b.queue[:n]
	if n == 0 {
		return top
	}
	hole, child := 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if b.queue[child].less(b.queue[child-1]) {
			child--
		}
		b.queue[hole] = b.queue[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		b.queue[hole] = b.queue[child-1]
		hole = child - 1
	}
	b.rise(hole, 0, last)
	return top
}

// Hits appends the hits, nearest first.
func (b *bruteForce) Hits(dst []engine.Hit) []engine.Hit {
	at, n := len(dst), len(b.queue)
	for range n {
		dst = append(dst, engine.Hit{})
	}
	for i := n - 1; i >= 0; i-- {
		e := b.pop()
		dst[at+i] = engine.Hit{ID: e.row, Distance: e.distance}
	}
	return dst
}
