package significance

import (
	"math"
	"slices"
)

// Of n values there are n² numbers of which medians and intervals are taken, too many to list for large n. They
// are found by counting instead: how many there are up to some x takes one pass over the sorted values.

// counted is a list of numbers that is known by how many there are up to x.
type counted interface {
	upTo(x float64) int64
	// bounds are some x below or at the least number, and at or above the greatest.
	bounds() (low, high float64)
}

// ranked is the k-th number, from 1.
func ranked(list counted, k int64) float64 {
	low, high := list.bounds()
	// Halving over what a float can be, and not over the line, ends after 64 steps at the very number.
	from, to := ordered(low), ordered(high)
	for from < to {
		middle := from + (to-from)/2
		if list.upTo(unordered(middle)) >= k {
			to = middle
		} else {
			from = middle + 1
		}
	}
	return unordered(to) + 0 // and no -0
}

// medianOf is the middle number, or the mean of the two.
func medianOf(list counted) float64 {
	n := list.upTo(math.Inf(1))
	if n == 0 {
		return math.NaN()
	}
	below, above := ranked(list, (n+1)/2), ranked(list, n/2+1)
	return below/2 + above/2
}

// ordered makes of a float a whole number of the same order.
func ordered(x float64) uint64 {
	bits := math.Float64bits(x)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func unordered(n uint64) float64 {
	if n>>63 == 1 {
		return math.Float64frombits(n &^ (1 << 63))
	}
	return math.Float64frombits(^n)
}

// walsh are the averages of each two of sorted values, and of each with itself.
type walsh struct{ sorted []float64 }

func (w walsh) bounds() (low, high float64) { return w.sorted[0], w.sorted[len(w.sorted)-1] }

func (w walsh) upTo(x float64) int64 {
	var n int64
	j := len(w.sorted) - 1
	for i := range w.sorted {
		for j >= i && w.sorted[i]/2+w.sorted[j]/2 > x {
			j--
		}
		if j < i {
			break
		}
		n += int64(j - i + 1)
	}
	return n
}

// gaps are the differences of each of after from each of before, both sorted.
type gaps struct{ before, after []float64 }

func (g gaps) bounds() (low, high float64) {
	return g.after[0] - g.before[len(g.before)-1], g.after[len(g.after)-1] - g.before[0]
}

func (g gaps) upTo(x float64) int64 {
	var n int64
	j := 0
	for _, b := range g.before {
		for j < len(g.after) && g.after[j]-b <= x {
			j++
		}
		n += int64(j)
	}
	return n
}

// spreads are the distances of each two values of the same group, which are sorted.
type spreads struct{ groups [][]float64 }

func (s spreads) bounds() (low, high float64) {
	for _, g := range s.groups {
		if len(g) > 0 {
			high = max(high, g[len(g)-1]-g[0])
		}
	}
	return 0, high
}

func (s spreads) upTo(x float64) int64 {
	var n int64
	for _, g := range s.groups {
		j := 0
		for i := range g {
			for j < len(g) && g[j]-g[i] <= x {
				j++
			}
			n += int64(j - i - 1)
		}
	}
	return n
}

// Median is the middle value, or the mean of the two; NaN if there is none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
