package metrics

import (
	"math"
	"slices"
)

// Histogram is how often something was observed in a Window, and how much it was together.
type Histogram struct {
	// Sum is in the metric's unit, times in milliseconds; NaN if it is not told.
	Sum, Count float64
	// Bounds are the upper bounds of the buckets, ascending, and Buckets how many were observed up to each: cumulative, at most
	// Count. Both are nil if they are not told, or not of all that was added up.
	Bounds, Buckets []float64
	// Whole is that each observation was cut to whole milliseconds, as Milvus does up to about 2.5: the text itself tells, as all
	// sums are whole numbers then. What was observed is up to 1 ms less than it was.
	Whole bool
}

// Mean is the interval that holds the mean of what was observed. ok is false if nothing was, or its sum is not told.
func (h Histogram) Mean() (low, high float64, ok bool) {
	if !(h.Count > 0) || math.IsNaN(h.Sum) {
		return 0, 0, false
	}
	low = h.Sum / h.Count
	if high = low; h.Whole {
		high++
	}
	return low, high, true
}

// Quantile is the bucket that holds what a share q (0 to 1) of the observations is at most: above low (or 0, or less), up to high, which
// is +Inf beyond the last bound. ok is false if nothing was observed, or the buckets are not told. Whole milliseconds are as observed.
func (h Histogram) Quantile(q float64) (low, high float64, ok bool) {
	if !(h.Count > 0) || len(h.Buckets) == 0 || !(q >= 0 && q <= 1) {
		return 0, 0, false
	}
	// The observation that it is, counted from 1. A count may be a fraction where counters are told as rates.
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

// Plus adds what was observed elsewhere. Buckets of other bounds cannot be added: they are not told of the sum then.
func (h Histogram) Plus(o Histogram) Histogram {
	switch {
	case o.Count == 0:
		return h.orBuckets(o)
	case h.Count == 0:
		return o.orBuckets(h)
	}
	sum := Histogram{Sum: h.Sum + o.Sum, Count: h.Count + o.Count, Whole: h.Whole || o.Whole}
	if len(h.Buckets) == 0 || len(h.Buckets) != len(o.Buckets) || !slices.Equal(h.Bounds, o.Bounds) {
		return sum
	}
	sum.Bounds, sum.Buckets = h.Bounds, slices.Clone(h.Buckets)
	for i, v := range o.Buckets {
		sum.Buckets[i] += v
	}
	return sum
}

// orBuckets keeps the bounds of an empty part where there is no other.
func (h Histogram) orBuckets(o Histogram) Histogram {
	if h.Count == 0 && h.Bounds == nil {
		h.Bounds, h.Buckets = o.Bounds, o.Buckets
	}
	if h.Count == 0 {
		h.Whole = h.Whole || o.Whole
	}
	return h
}

// scaled has all values times a factor.
func (h Histogram) scaled(by float64) Histogram {
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
