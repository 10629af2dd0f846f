package flat

import (
	"math"
	"math/bits"
	"slices"
)

// minPool is the minimum k for which hits are collected in a pool, as in faiss (distance_compute_min_k_reservoir,
// faiss/utils/distances.cpp).
const minPool = 100

// pool holds up to 2k unordered entries, because a large heap takes several times as long. The upper half of an
// entry holds the key, encoded so that its bits are ordered like the keys. The lower half holds the row number.
type pool []uint64

// packed returns the entry of a key, which must not be NaN, and a 32-bit id.
func packed(key float32, id int64) uint64 {
	b := math.Float32bits(key)
	return uint64(b^(uint32(int32(b)>>31)|1<<31))<<32 | uint64(uint32(id))
}

// unpacked returns the key and the id of an entry.
func unpacked(e uint64) (key float32, id int64) {
	b := uint32(e >> 32)
	return math.Float32frombits(b ^ (uint32(int32(^b)>>31) | 1<<31)), int64(int32(e))
}

// add appends an entry. If the pool then holds 2k entries, add drops all but the k best and returns the key of the
// worst remaining entry.
func (p *pool) add(k int, key float32, id int64) (worst float32, full bool) {
	*p = append(*p, packed(key, id))
	if len(*p) < 2*k {
		return 0, false
	}
	p.shrink(k)
	worst, _ = unpacked((*p)[k-1])
	return worst, true
}

// shrink drops all but the k best entries and moves the worst remaining entry to the end. Its partitioning does
// not branch on entries, because such a branch is unpredictable.
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

// sort returns the k best entries, best first. Equal keys are ordered by id.
func (p *pool) sort(k int) []uint64 {
	if len(*p) > k {
		p.shrink(k)
	}
	slices.Sort(*p)
	return *p
}
