package load

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations of 0 ns and more with a resolution of 1 in 1000: linear up to 1024 ns, and 1024 parts
// for each power of two above, as in HdrHistogram (Gil Tene, hdrhistogram.org). The parts of a power of two take 8
// KiB once they hold a value. The zero value is an empty histogram. It is not safe for concurrent use.
type Histogram struct {
	blocks   [blocks]*[parts]int64
	count    int64
	min, max time.Duration
	// mean and m2, the sum of squared deviations from the mean, are updated by Welford's method.
	mean, m2 float64
}

const (
	partBits = 10
	parts    = 1 << partBits
	// One block for values below parts, and one for each power of two from there to 2^62.
	blocks = 63 - partBits + 1
)

// Record counts one duration. A negative duration counts as 0.
func (h *Histogram) Record(d time.Duration) {
	d = max(0, d)
	block, part := bucket(d)
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

// Merge adds all counts of other, which is not modified.
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

// Reset removes all counts, and keeps the memory for reuse.
func (h *Histogram) Reset() {
	kept := h.blocks
	for _, b := range kept {
		if b != nil {
			clear(b[:])
		}
	}
	*h = Histogram{blocks: kept}
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() int64 { return h.count }

// Quantile returns the smallest recorded duration that a share q of all durations, from 0 to 1, does not exceed. It
// is exact to 1 in 1000. It is 0 if there are no durations.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	// Without the correction, 0.99 of 100 would be the 100th, because 0.99 is a little more than that in binary.
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

// Latency returns statistics of the distribution.
func (h *Histogram) Latency() Latency {
	if h.count == 0 {
		return Latency{}
	}
	return Latency{
		Count: h.count, Mean: time.Duration(math.Round(h.mean)), Min: h.min, Max: h.max,
		SD:  time.Duration(math.Round(math.Sqrt(h.m2 / float64(h.count)))),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P95: h.Quantile(0.95), P99: h.Quantile(0.99),
		P999: h.Quantile(0.999),
		Bars: h.bars(),
	}
}

const maxBars = 60

// bars merges the histogram into at most maxBars counts. Bars end where parts end, and at the same durations in all
// histograms with as many bars per power of two.
func (h *Histogram) bars() []Bar {
	low, high := log2(h.min), log2(h.max)
	per := 64.0 // bars per power of two
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

// barEnd returns the last duration before the part that contains 2^power.
func barEnd(power float64) time.Duration {
	at := math.Exp2(power)
	if at >= math.MaxInt64 {
		return math.MaxInt64
	}
	start, _ := bounds(bucket(time.Duration(at)))
	return start - 1
}

// bucket returns the block and the part in which a duration is counted.
func bucket(d time.Duration) (block, part int) {
	if d < parts {
		return 0, int(d)
	}
	block = bits.Len64(uint64(d)) - partBits
	return block, int(d>>(block-1)) & (parts - 1)
}

// bounds returns the smallest duration of a part, and its width.
func bounds(block, part int) (low, width time.Duration) {
	if block == 0 {
		return time.Duration(part), 1
	}
	return time.Duration(parts+part) << (block - 1), 1 << (block - 1)
}
