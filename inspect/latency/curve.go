package latency

import (
	"math"
	"sort"

	"kitescope/inspect/metrics"
)

// dist is the distribution of the durations of calls of the same kind, in milliseconds, as a Milvus
// histogram.
type dist metrics.Histogram

func (d dist) known() bool { return d.Count > 0 }

// mean returns the estimated mean of a distribution and its bounds. If observations were truncated, the
// truncated part is estimated for exponentially distributed times: half a millisecond for long calls, and
// almost nothing for calls near zero.
func (d dist) mean() (ms float64, bounds Interval) {
	if d.Count <= 0 {
		return 0, Interval{}
	}
	m := max(0, d.Sum/d.Count)
	if !d.Truncated {
		return m, Interval{m, m}
	}
	bounds = Interval{m, m + 1}
	if m == 0 {
		return 0, bounds
	}
	return min(1/math.Log1p(1/m), m+1), bounds
}

// plus adds the calls of another process.
func (d dist) plus(o dist) dist { return dist(metrics.Histogram(d).Plus(metrics.Histogram(o))) }

// quantile returns the bucket that contains a quantile of the observations, or zero without observations.
func (d dist) quantile(q float64) Interval {
	low, high, _ := metrics.Histogram(d).Quantile(q)
	return Interval{low, high}
}

// curve is the share of calls that take longer than x. It is linear between the points, 1 before the first and
// 0 after the last.
type curve struct{ x, s []float64 }

// at returns the share of calls that take longer than x.
func (c curve) at(x float64) float64 {
	n := len(c.x)
	if n == 0 || x >= c.x[n-1] {
		return 0
	}
	i := sort.SearchFloat64s(c.x, x)
	if i == 0 {
		return 1
	}
	return c.s[i-1] + (c.s[i]-c.s[i-1])*(x-c.x[i-1])/(c.x[i]-c.x[i-1])
}

func (c curve) mean() float64 {
	if len(c.x) == 0 {
		return 0
	}
	sum := c.x[0]
	for i := 1; i < len(c.x); i++ {
		sum += (c.x[i] - c.x[i-1]) * (c.s[i] + c.s[i-1]) / 2
	}
	return sum
}

// times returns the curve of calls that take f times as long.
func (c curve) times(f float64) curve {
	x := make([]float64, len(c.x))
	for i := range x {
		x[i] = c.x[i] * f
	}
	return curve{x, c.s}
}

// plus returns the curve of calls that take ms longer.
func (c curve) plus(ms float64) curve {
	x := make([]float64, len(c.x))
	for i := range x {
		x[i] = c.x[i] + ms
	}
	return curve{x, c.s}
}

// fixed returns the curve of calls that all take the same time.
func fixed(ms float64) curve { return curve{[]float64{ms, ms * (1 + 1e-9)}, []float64{1, 0}} }

// curve returns the curve of a histogram. The share of each bucket stays in its bucket. It is spread over the
// part of the bucket that preserves the mean: the lower part if the mean is low for these buckets.
func (d dist) curve() curve {
	mean, _ := d.mean()
	if d.Buckets == nil || d.Count <= 0 {
		return fixed(mean)
	}
	parts := len(d.Bounds) + 1
	low, width, share := make([]float64, 0, parts), make([]float64, 0, parts), make([]float64, 0, parts)
	least, span, from, before := 0.0, 0.0, 0.0, 0.0
	add := func(to, upTo float64) {
		if p := (upTo - before) / d.Count; p > 0 {
			low, width, share = append(low, from), append(width, to-from), append(share, p)
			least, span = least+p*from, span+p*(to-from)
		}
		from, before = to, max(before, upTo)
	}
	for i, b := range d.Bounds {
		if d.Truncated {
			b++
		}
		add(b, min(d.Buckets[i], d.Count))
	}
	add(max(2*from, d.overflowBound(least, before, from)), d.Count)
	if span <= 0 {
		return fixed(mean)
	}
	at := min(1, max(0, (mean-least)/span)) // position of the middle of a share in its bucket
	c := curve{make([]float64, 0, 2*len(low)), make([]float64, 0, 2*len(low))}
	left := 1.0
	for i := range low {
		a, b := low[i], low[i]+2*at*width[i]
		if at > 0.5 {
			a, b = low[i]+(2*at-1)*width[i], low[i]+width[i]
		}
		b = max(b, a*(1+1e-9)+1e-9)
		if n := len(c.x); n > 0 && a <= c.x[n-1] {
			a = c.x[n-1] * (1 + 1e-12)
		}
		c.x, c.s = append(c.x, a), append(c.s, left)
		left -= share[i]
		c.x, c.s = append(c.x, max(b, a*(1+1e-9)+1e-12)), append(c.s, max(0, left))
	}
	c.s[len(c.s)-1] = 0
	return c
}

// overflowBound returns an upper end for the unbounded bucket: twice the largest possible mean of its calls, which
// assumes that the other calls are as short as possible.
func (d dist) overflowBound(least, within, from float64) float64 {
	if rest := d.Count - within; rest > 0 {
		return 2 * max(from, (d.Sum-least*d.Count)/rest)
	}
	return from
}

// variance returns the variance of the times in ms².
func (c curve) variance() float64 {
	if len(c.x) == 0 {
		return 0
	}
	mean, square := c.mean(), 0.0
	for i := 1; i < len(c.x); i++ {
		a, b := c.x[i-1], c.x[i]
		square += (c.s[i-1] - c.s[i]) * (a*a + a*b + b*b) / 3
	}
	return max(0, square-mean*mean)
}

// slowestOf returns the curve of the slowest of n independent calls. For n below 1 the curve includes requests
// without a call.
func (c curve) slowestOf(n float64) curve {
	const parts = 4
	if n == 1 || len(c.x) == 0 {
		return c
	}
	points := 1 + parts*(len(c.x)-1)
	m := curve{x: append(make([]float64, 0, points), c.x[0]), s: append(make([]float64, 0, points), 1)}
	for i := 1; i < len(c.x); i++ {
		for k := 1; k <= parts; k++ {
			f := float64(k) / parts
			s := c.s[i-1] + (c.s[i]-c.s[i-1])*f
			m.x, m.s = append(m.x, c.x[i-1]+(c.x[i]-c.x[i-1])*f), append(m.s, 1-math.Pow(1-s, n))
		}
	}
	return m
}

// sumPoints is the number of points of each operand in a sum of curves.
const sumPoints = 32

// sum returns the curve of two independent calls in sequence.
func sum(a, b curve) curve {
	switch {
	case len(a.x) == 0:
		return b
	case len(b.x) == 0:
		return a
	}
	var x, y [sumPoints]float64
	a.points(&x)
	b.points(&y)
	var rows, spare [sumPoints * sumPoints]float64
	for i, p := range x {
		for k, q := range y {
			rows[i*sumPoints+k] = p + q
		}
	}
	all := mergeRows(rows[:], spare[:], sumPoints)
	c := curve{x: make([]float64, 0, sumPoints+1), s: make([]float64, 0, sumPoints+1)}
	for i := 0; i <= sumPoints; i++ {
		at := all[min(i*sumPoints, len(all)-1)]
		if n := len(c.x); n > 0 && at <= c.x[n-1] {
			at = c.x[n-1]*(1+1e-9) + 1e-12
		}
		c.x, c.s = append(c.x, at), append(c.s, 1-float64(i)/sumPoints)
	}
	return c.withMean(a.mean() + b.mean())
}

// withMean returns the curve scaled to a mean.
func (c curve) withMean(mean float64) curve {
	if m := c.mean(); m > 0 {
		return c.times(mean / m)
	}
	return c
}

// mergeRows sorts a list of sorted rows, in a fifth of the time of a general sort. spare must have the length
// of list.
func mergeRows(list, spare []float64, row int) []float64 {
	for ; row < len(list); row *= 2 {
		for at := 0; at < len(list); at += 2 * row {
			a, b := list[at:min(at+row, len(list))], list[min(at+row, len(list)):min(at+2*row, len(list))]
			for k := at; len(a)+len(b) > 0; k++ {
				if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
					spare[k], a = a[0], a[1:]
				} else {
					spare[k], b = b[0], b[1:]
				}
			}
		}
		list, spare = spare, list
	}
	return list
}

// points fills list with the times in the middle of equal shares of the calls, ascending.
func (c curve) points(list *[sumPoints]float64) {
	i := 1
	for k := range list {
		s := 1 - (float64(k)+0.5)/sumPoints
		for i < len(c.s)-1 && c.s[i] > s {
			i++
		}
		f := 0.5
		if d := c.s[i-1] - c.s[i]; d > 0 {
			f = min(1, max(0, (c.s[i-1]-s)/d))
		}
		list[k] = c.x[i-1] + (c.x[i]-c.x[i-1])*f
		if k > 0 {
			list[k] = max(list[k], list[k-1]) // rounding may break the order
		}
	}
}
