package flat

import (
	"math"
	"math/bits"
	"slices"
)

// minPool is the k from which on hits are collected in a pool, as faiss does (distance_compute_min_k_reservoir, faiss/utils/distances.cpp).
const minPool = 100

// pool collects entries unordered, in room for twice as many as are wanted: a heap of many entries costs several times as much. An entry
// has the key above, as bits that are ordered as keys are, and the number of a row below.
type pool []uint64

// packed returns the entry of a key, which is not NaN, and of an id of 32 bits.
func packed(key float32, id int64) uint64 {
	b := math.Float32bits(key)
	return uint64(b^(uint32(int32(b)>>31)|1<<31))<<32 | uint64(uint32(id))
}

// unpacked returns the key and the id of an entry.
func unpacked(e uint64) (key float32, id int64) {
	b := uint32(e >> 32)
	return math.Float32frombits(b ^ (uint32(int32(^b)>>31) | 1<<31)), int64(int32(e))
}

// add appends an entry. If there are 2k then, only the k best stay, and the key of the worst of them is returned.
func (p *pool) add(k int, key float32, id int64) (worst float32, full bool) {
	*p = append(*p, packed(key, id))
	if len(*p) < 2*k {
		return 0, false
	}
	p.shrink(k)
	worst, _ = unpacked((*p)[k-1])
	return worst, true
}

// shrink leaves the k best entries, the worst of them last. Partitions have no branch that depends on an entry, because it could not be
// predicted.
func (p *pool) shrink(k int) {
	a := *p
	for low, high := 0, len(a)-1; low < high; {
		middle := low + (high-low)/2
		a[middle], a[high] = a[high], a[middle]
		pivot, i := a[high], low
		rest := a[:high]
		for j := low; j < len(rest); j++ {
			e := rest[j]
			rest[i], rest[j] = e, rest[i]
			_, less := bits.Sub64(e, pivot, 0)
			i += int(less)
		}
		a[i], a[high] = pivot, a[i]
		switch {
		case i >= k:
			high = i - 1
		case i < k-1:
			low = i + 1
		default:
			low = high
		}
	}
	*p = a[:k]
}

// sort returns the k best entries, best first; equal keys are ordered by id.
func (p *pool) sort(k int) []uint64 {
	if len(*p) > k {
		p.shrink(k)
	}
	slices.Sort(*p)
	return *p
}
