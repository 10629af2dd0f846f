package load

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations from 0 ns to all that there are, exactly to 1 in 1000: linear up to 1024 ns, beyond that each
// power of two in 1024 parts, as in HdrHistogram (Gil Tene, hdrhistogram.org). Parts take memory, 8 KiB for a
// power of two, once something falls into them. The zero value is empty and ready; it is for one goroutine at a time.
type Histogram struct {
	blocks   [blocks]*[parts]int64
	count    int64
	min, max time.Duration
	// mean and m2, the sum of squared deviations from it, are Welford's.
	mean, m2 float64
}

const (
	partBits = 10
	parts    = 1 << partBits
	// One block for what is below parts, one for each power of two from there to 2^62.
	blocks = 63 - partBits + 1
)

// Record counts one duration; one below 0 is 0.
func (h *Histogram) Record(d time.Duration) {
	d = max(0, d)
	block, part := place(d)
	if h.blocks[block] == nil {
		h.blocks[block] = new([parts]int64)
	}
	h.blocks[block][part]++
	if h.count == 0 {
		h.min, h.max = d, d
	}
	h.count++
	h.min, h.max = min(h.min, d), max(h.max, d)
	delta := float64(d) - h.mean
	h.mean += delta / float64(h.count)
	h.m2 += delta * (float64(d) - h.mean)
}

// Merge counts all that other counted, which stays as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	for i, from := range &other.blocks {
		if from == nil {
			continue
		}
		if h.blocks[i] == nil {
			h.blocks[i] = new([parts]int64)
		}
		for j, n := range from {
			h.blocks[i][j] += n
		}
	}
	if h.count == 0 {
		h.min = other.min
	}
	delta, share := other.mean-h.mean, float64(other.count)/float64(h.count+other.count)
	h.m2 += other.m2 + delta*delta*float64(h.count)*share
	h.mean += delta * share
	h.count += other.count
	h.min, h.max = min(h.min, other.min), max(h.max, other.max)
}

// Reset forgets all, and keeps the memory for what comes next.
func (h *Histogram) Reset() {
	kept := h.blocks
	for _, b := range kept {
		if b != nil {
			clear(b[:])
		}
	}
	*h = Histogram{blocks: kept}
}

// Count is how many durations there are.
func (h *Histogram) Count() int64 { return h.count }

// Quantile is the duration that a share q, 0 to 1, of all does not exceed: the least such one that was recorded, to 1 in 1000. 0
// if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	// Without the correction 0.99 of 100 would be the 100th: 0.99 is a little more than that in binary.
	wanted := int64(math.Ceil(q*float64(h.count) - 1e-9*float64(h.count)))
	wanted = min(max(wanted, 1), h.count)
	if wanted == h.count {
		return h.max
	}
	var seen int64
	for i, b := range &h.blocks {
		if b == nil {
			continue
		}
		for j, n := range b {
			if seen += n; seen >= wanted {
				low, width := bounds(i, j)
				return min(max(low+(width-1)/2, h.min), h.max)
			}
		}
	}
	return h.max
}

// Latency is the distribution in figures.
func (h *Histogram) Latency() Latency {
	if h.count == 0 {
		return Latency{}
	}
	return Latency{
		Count: h.count, Mean: time.Duration(math.Round(h.mean)), Min: h.min, Max: h.max,
		SD:  time.Duration(math.Round(math.Sqrt(h.m2 / float64(h.count)))),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P95: h.Quantile(0.95), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Bars: h.bars(),
	}
}

const maxBars = 60

// bars are the histogram in at most maxBars counts. They end where parts do, and at the same durations in each histogram with as
// many to a power of two.
func (h *Histogram) bars() []Bar {
	low, high := log2(h.min), log2(h.max)
	per := 64.0 // bars to a power of two
	for math.Floor(high*per)-math.Floor(low*per)+3 > maxBars {
		per /= 2
	}
	first, last := math.Floor(low*per), math.Floor(high*per)+1
	var all []Bar
	for step := first; step <= last; step++ {
		if up := barEnd(step / per); len(all) == 0 || up > all[len(all)-1].UpTo {
			all = append(all, Bar{UpTo: up})
		}
	}
	all[len(all)-1].UpTo = max(all[len(all)-1].UpTo, h.max)
	all[0].UpTo = max(0, min(all[0].UpTo, h.min-1))
	at := 0
	for i, b := range &h.blocks {
		if b == nil {
			continue
		}
		for j, n := range b {
			if n == 0 {
				continue
			}
			start, _ := bounds(i, j)
			for at < len(all)-1 && all[at].UpTo < start {
				at++
			}
			all[at].Count += n
		}
	}
	return all
}

func log2(d time.Duration) float64 { return math.Log2(float64(max(1, d))) }

// barEnd is the last duration before the part in which 2^power falls.
func barEnd(power float64) time.Duration {
	at := math.Exp2(power)
	if at >= math.MaxInt64 {
		return math.MaxInt64
	}
	start, _ := bounds(place(time.Duration(at)))
	return start - 1
}

// place is where a duration is counted.
func place(d time.Duration) (block, part int) {
	if d < parts {
		return 0, int(d)
	}
	block = bits.Len64(uint64(d)) - partBits
	return block, int(d>>(block-1)) & (parts - 1)
}

// bounds are the least duration of a part, and how many it has.
func bounds(block, part int) (low, width time.Duration) {
	if block == 0 {
		return time.Duration(part), 1
	}
	return time.Duration(parts+part) << (block - 1), 1 << (block - 1)
}
