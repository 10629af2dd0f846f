package scann

import "math"

// reservoir keeps what is better than a threshold, and when it is full all but about the best k of it, which moves the threshold
// (ReservoirTopN, faiss/impl/simd_result_handlers.h; faiss/utils/partitioning_avx2.cpp).
type reservoir struct {
	similarity bool
	k          int
	sums       []uint16
	ids        []int64
	n          int // of sums and ids that are filled
	threshold  uint16
	order      []int
}

func (r *reservoir) reset(k int, similarity bool) {
	capacity := (2*k + 15) &^ 15
	if len(r.sums) != capacity {
		r.sums, r.ids = make([]uint16, capacity), make([]int64, capacity)
	}
	r.similarity, r.k, r.n, r.threshold = similarity, k, 0, math.MaxUint16
	if similarity {
		r.threshold = 0
	}
}

// better reports whether a sum is better than another.
func (r *reservoir) better(sum, than uint16) bool {
	if r.similarity {
		return sum > than
	}
	return sum < than
}

func (r *reservoir) add(sum uint16, id int64) {
	if !r.better(sum, r.threshold) {
		return
	}
	if r.n == len(r.sums) {
		r.shrink(r.k, (len(r.sums)+r.k)/2)
	}
	r.sums[r.n], r.ids[r.n] = sum, id
	r.n++
}

// shrink leaves the best few, from least to most of them, and sets the threshold (simd_partition_fuzzy_with_bounds).
func (r *reservoir) shrink(least, most int) {
	sums := r.sums[:r.n]
	if most >= r.n {
		r.n = most // never: there are more than most when it is called
		return
	}
	low, high := uint16(math.MaxUint16), uint16(0)
	for _, s := range sums {
		low, high = min(low, s), max(high, s)
	}
	if low == high {
		r.n, r.threshold = least, low
		return
	}
	s0, s1 := int(low), int(high)+1
	threshold, better, keep := 0, 0, 0
	for range 200 {
		threshold = (s0 + s1) / 2
		var equal int
		better, equal = r.count(sums, uint16(threshold))
		if better <= least && better+equal >= least {
			keep = least
			break
		}
		if better > least && better <= most {
			keep = better
			break
		}
		if (better <= least) != r.similarity {
			s0 = threshold
		} else {
			s1 = threshold
		}
	}
	equal := keep - better
	if equal < 0 { // more than most are at the bound
		equal = least
		if r.similarity {
			threshold++
		} else {
			threshold--
		}
	}
	r.compress(uint16(threshold), equal)
	r.threshold = uint16(threshold)
}

// count is how many are better than a threshold, and equal to it.
func (r *reservoir) count(sums []uint16, threshold uint16) (better, equal int) {
	for _, s := range sums {
		switch {
		case r.better(s, threshold):
			better++
		case s == threshold:
			equal++
		}
	}
	return better, equal
}

// compress keeps all that are better and the first few that are equal, in their order.
func (r *reservoir) compress(threshold uint16, equal int) {
	n := 0
	for i, s := range r.sums[:r.n] {
		if !r.better(s, threshold) {
			if s != threshold || equal == 0 {
				continue
			}
			equal--
		}
		r.sums[n], r.ids[n] = s, r.ids[i]
		n++
	}
	r.n = n
}

// hits writes the best, best first. Those with the same sum are in the order in which std::sort of libstdc++ leaves them.
func (r *reservoir) hits(distances []float32, ids []int64, distance func(sum float32) float32) {
	if r.n > r.k {
		r.shrink(r.k, r.k)
	}
	r.order = r.order[:0]
	for i := range r.n {
		r.order = append(r.order, i)
	}
	introsort(r.order, func(a, b int) bool { return r.better(r.sums[a], r.sums[b]) })
	for i, at := range r.order {
		distances[i], ids[i] = distance(float32(r.sums[at])), r.ids[at]
	}
	none := float32(math.MaxFloat32)
	if r.similarity {
		none = -none
	}
	for i := r.n; i < r.k; i++ {
		distances[i], ids[i] = none, vacant
	}
}
