package flat

import "math"

// reservoir is what faiss collects hits in for k of 100 and more: entries that beat a
// threshold, unordered, in twice the room that is needed. When that is full a new threshold is
// chosen and what does not beat it leaves (faiss/impl/ResultHandler.h: ReservoirTopN,
// faiss/utils/partitioning.cpp: partition_fuzzy_median3; the same in knowhere). Which of
// several entries at the threshold stay depends on these very steps.
type reservoir struct {
	keys  []float32
	ids   []int64
	n     int
	worst float32 // an entry enters if its key is smaller
}

// reset makes room for k hits.
func (r *reservoir) reset(k int) {
	size := (2*k + 15) &^ 15
	r.keys, r.ids = resize(r.keys, size), resize(r.ids, size)
	r.n, r.worst = 0, neutral
}

// add takes an entry whose key is smaller than worst.
func (r *reservoir) add(k int, key float32, id int64) {
	if r.n == len(r.keys) {
		r.shrink(k)
	}
	// As in faiss the entry that made the reservoir shrink stays, though it may no longer beat
	// the threshold.
	r.keys[r.n], r.ids[r.n] = key, id
	r.n++
}

// shrink leaves at least k and at most (size+k)/2 entries, in their order.
func (r *reservoir) shrink(k int) {
	most := (len(r.keys) + k) / 2
	low, high := -neutral, neutral
	threshold := median3(r.keys[0], r.keys[r.n/2], r.keys[r.n-1])
	less, stay := 0, 0
	// 200 is faiss's bound too; a median of three needs about ten rounds.
	for range 200 {
		var equal int
		less, equal = r.count(threshold)
		if less <= k && less+equal >= k {
			stay = k
			break
		}
		if less > k && less <= most {
			stay = less
			break
		}
		if less <= k {
			low = threshold
		} else {
			high = threshold
		}
		next := r.sample(low, high)
		if next == low {
			break // nothing lies between
		}
		threshold = next
	}
	atThreshold := stay - less
	if atThreshold < 0 { // more than most are equal to the lower bound
		threshold = math.Nextafter32(threshold, float32(math.Inf(-1)))
		stay, atThreshold = k, k
	}
	r.compress(threshold, atThreshold)
	r.n, r.worst = stay, threshold
}

// count is how many keys are smaller than the threshold and how many are equal.
func (r *reservoir) count(threshold float32) (less, equal int) {
	if threshold == 0 { // equal to -0, whose bits are not
		for _, key := range r.keys[:r.n] {
			if key < 0 {
				less++
			} else if key == 0 {
				equal++
			}
		}
		return less, equal
	}
	// Without branches: which way a key lies cannot be foreseen.
	t, most := int64(ordered(threshold)), 0
	for _, key := range r.keys[:r.n] {
		d := int64(ordered(key)) - t
		less += int(uint64(d) >> 63)
		most += int(uint64(d-1) >> 63)
	}
	return less, most - less
}

// compress drops what is above the threshold, and all but the first equal of those at it.
func (r *reservoir) compress(threshold float32, equal int) {
	to := 0
	for i, key := range r.keys[:r.n] {
		// Written in any case, for the same reason; what is dropped is overwritten.
		r.keys[to], r.ids[to] = key, r.ids[i]
		if key == threshold {
			if equal > 0 {
				equal--
				to++
			}
			continue
		}
		to += int(uint64(int64(ordered(key))-int64(ordered(threshold))) >> 63)
	}
}

// ordered are the bits of a float, no NaN, as an integer of the same order; only -0 is less
// than 0.
func ordered(x float32) int32 {
	b := int32(math.Float32bits(x))
	return b ^ b>>31&math.MaxInt32
}

// sample is a median of three keys between low and high, low if there is none.
func (r *reservoir) sample(low, high float32) float32 {
	const prime = 6700417
	var three [3]float32
	found := 0
	at, step := 0, prime%r.n
	for range r.n {
		if v := r.keys[at]; v > low && v < high {
			three[found] = v
			if found++; found == len(three) {
				return median3(three[0], three[1], three[2])
			}
		}
		if at += step; at >= r.n {
			at -= r.n
		}
	}
	if found > 0 {
		return three[0]
	}
	return low
}

func median3(a, b, c float32) float32 {
	if a > b {
		a, b = b, a
	}
	switch {
	case c > b:
		return b
	case c > a:
		return c
	default:
		return a
	}
}
