package metrics

import (
	"math"
	"slices"
)

// Histogram holds the observations of a histogram or summary over a Window.
type Histogram struct {
	// Sum is in the unit of the metric, or in milliseconds for times. It is NaN if unknown.
	Sum, Count float64
	// Bounds are the upper bounds of the buckets, ascending. Buckets are the cumulative counts up to each
	// bound, at most Count. Both are nil if unknown for any of the series that were added up.
	Bounds, Buckets []float64
	// Truncated is true if each observation was truncated to whole milliseconds, as Milvus does up to about 2.5. It
	// is detected: all sums are whole numbers then. True values are up to 1 ms larger than observed ones.
	Truncated bool
}

// Mean returns an interval that contains the mean of the observations. ok is false if there are none or their
// sum is unknown.
func (h Histogram) Mean() (low, high float64, ok bool) {
	if !(h.Count > 0) || math.IsNaN(h.Sum) {
		return 0, 0, false
	}
	low = h.Sum / h.Count
	if high = low; h.Truncated {
		high++
	}
	return low, high, true
}

// Quantile returns the bucket that contains the q-quantile (q from 0 to 1) of the observations, from low
// (exclusive) to high (inclusive). low is 0 or less in the first bucket. high is +Inf beyond the last bound. ok
// is false if there are no observations or no buckets. Truncated milliseconds are not corrected.
func (h Histogram) Quantile(q float64) (low, high float64, ok bool) {
	if !(h.Count > 0) || len(h.Buckets) == 0 || !(q >= 0 && q <= 1) {
		return 0, 0, false
	}
	// rank is 1-based. Counts may be fractions where counters are exported as rates.
	rank := max(math.Ceil(q*h.Count), math.Min(1, h.Count))
	i, _ := slices.BinarySearch(h.Buckets, rank)
	if i > 0 {
		low = h.Bounds[i-1]
	}
	if i == len(h.Bounds) {
		return low, math.Inf(1), true
	}
	return min(low, h.Bounds[i]), h.Bounds[i], true
}

// Plus returns the sum of two histograms. The sum has no buckets if the bounds differ.
func (h Histogram) Plus(o Histogram) Histogram {
	switch {
	case o.Count == 0:
		return h.withBuckets(o)
	case h.Count == 0:
		return o.withBuckets(h)
	}
	sum := Histogram{Sum: h.Sum + o.Sum, Count: h.Count + o.Count, Truncated: h.Truncated || o.Truncated}
	if len(h.Buckets) == 0 || len(h.Buckets) != len(o.Buckets) || !slices.Equal(h.Bounds, o.Bounds) {
		return sum
	}
	sum.Bounds, sum.Buckets = h.Bounds, slices.Clone(h.Buckets)
	for i, v := range o.Buckets {
		sum.Buckets[i] += v
	}
	return sum
}

// withBuckets returns h. If h is empty, Truncated is combined, and missing bounds and buckets are taken from o.
func (h Histogram) withBuckets(o Histogram) Histogram {
	if h.Count == 0 && h.Bounds == nil {
		h.Bounds, h.Buckets = o.Bounds, o.Buckets
	}
	if h.Count == 0 {
		h.Truncated = h.Truncated || o.Truncated
	}
	return h
}

// scale returns h with its sum and bounds multiplied by a factor.
func (h Histogram) scale(by float64) Histogram {
	h.Sum *= by
	bounds := make([]float64, len(h.Bounds))
	for i, b := range h.Bounds {
		bounds[i] = b * by
	}
	if h.Bounds != nil {
		h.Bounds = bounds
	}
	return h
}
