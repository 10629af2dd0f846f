package latency

import (
	"math"
	"slices"
)

// calls is a set of parallel calls of the same kind: the mean number for a request, and the distribution of
// their duration.
type calls struct {
	n     float64
	curve curve
}

// slowestCall is the wait of a request for the slowest of several parallel calls, in milliseconds.
type slowestCall struct {
	// low is the lower bound, for calls of a request that are slow together. high is the upper bound, for calls
	// of which at most one is slow in a request. independent is the value for statistically independent calls,
	// between the bounds.
	low, independent, high float64
	// chance is the probability that the slowest call is of each kind, for independent calls. means holds the mean
	// duration of the slowest call in that case.
	chance, means []float64
}

// wait returns how long a request waits for the slowest of its calls. Kinds with at least one call for each
// request are assumed to be called by each request. Rarer calls are drawn at random, in their total number.
func wait(list []calls) slowestCall {
	var o overlay
	o.fill(list)
	return o.wait()
}

// overlay holds the distributions of several kinds of calls on one ascending time grid. It can be reused for
// another set of calls, which saves memory because each leader has its own set.
type overlay struct {
	list        []calls
	totalCalls  float64 // calls of a request
	x           []float64
	survival    [][]float64  // by kind, the share of calls that take longer than x
	exceedances []exceedance // all kinds, at each x

	points []float64 // the points of the curves
	steps  []float64 // one number for each x
}

// fill fills the overlay with a list of calls. Without calls it only stores the list.
func (o *overlay) fill(list []calls) {
	o.list, o.totalCalls = list, 0
	for _, c := range list {
		o.totalCalls += c.n
	}
	if o.totalCalls <= 0 {
		return
	}
	o.grid()
	o.survival = slices.Grow(o.survival[:0], len(list))[:len(list)]
	for k, c := range list {
		o.survival[k] = c.curve.survival(o.x, o.survival[k])
	}
	o.computeExceedances()
}

// wait returns the wait for the slowest call; see the function wait.
func (o *overlay) wait() slowestCall {
	w := slowestCall{chance: make([]float64, len(o.list)), means: make([]float64, len(o.list))}
	if o.totalCalls <= 0 {
		return w
	}
	for i := 1; i < len(o.x); i++ {
		before, now := &o.exceedances[i-1], &o.exceedances[i]
		dx := o.x[i] - o.x[i-1]
		w.low += dx * (max(before.one, before.sum/max(1, o.totalCalls)) + max(now.one, now.sum/max(1, o.totalCalls))) /
			2
		w.independent += dx * (2 - before.none - now.none) / 2
		w.high += dx * (min(1, before.sum) + min(1, now.sum)) / 2
	}
	w.addEnded(o)
	w.independent = max(w.low, min(w.independent, w.high))
	w.high = max(w.high, w.low)
	w.normalize(o.list)
	return w
}

// addEnded adds, for each step of the grid, the requests whose slowest call ends in the step. It distributes them
// to the kinds in proportion to their rates.
func (w *slowestCall) addEnded(o *overlay) {
	rates := o.zeros() // of all kinds
	for k := range o.list {
		for i := 1; i < len(o.x); i++ {
			rates[i] += o.rate(k, i)
		}
	}
	for k := range o.list {
		for i := 1; i < len(o.x); i++ {
			share := o.exceedances[i].none - o.exceedances[i-1].none
			if share <= 0 || rates[i] <= 0 {
				continue
			}
			part := share * o.rate(k, i) / rates[i]
			w.chance[k] += part
			w.means[k] += part * ((o.x[i] + o.x[i-1]) / 2)
		}
	}
}

// rate returns the number of calls of a kind that end in a step, divided by the share of calls that take less
// time.
func (o *overlay) rate(k, i int) float64 {
	before, now := o.survival[k][i-1], o.survival[k][i]
	return o.list[k].n * max(0, before-now) / max(1e-9, 1-(before+now)/2)
}

// normalize normalizes the chances to a sum of 1, and converts the sums in w.means to mean values.
func (w *slowestCall) normalize(list []calls) {
	total := 0.0
	for k, c := range w.chance {
		total += c
		if c > 0 {
			w.means[k] /= c
		} else {
			w.means[k] = list[k].curve.mean()
		}
	}
	for k := range w.chance {
		if total > 0 {
			w.chance[k] /= total
		} else {
			w.chance[k] = 1 / float64(len(w.chance))
		}
	}
}

// exceedance describes the calls that take longer than a given time.
type exceedance struct {
	sum  float64 // number of calls of a request
	one  float64 // maximum over the kinds of the probability of at least one call
	none float64 // probability of no call, if the calls are independent
}

// computeExceedances computes the levelled values of each x.
func (o *overlay) computeExceedances() {
	o.exceedances = o.exceedances[:0]
	for range o.x {
		o.exceedances = append(o.exceedances, exceedance{none: 1})
	}
	drawn, rare, sure := o.zeros(), 0.0, false
	for k, c := range o.list {
		whole, rest := math.Floor(c.n+0.03), 0.0
		if c.n > whole {
			rest = c.n - whole
		}
		rare, sure = rare+rest, sure || whole > 0
		for i, s := range o.survival[k] {
			l := &o.exceedances[i]
			l.sum += c.n * s
			l.one = max(l.one, min(1, c.n)*s)
			if whole == 1 {
				l.none *= 1 - s
			} else if whole > 1 {
				l.none *= math.Pow(1-s, whole)
			}
			drawn[i] += rest * s
		}
	}
	if rare <= 0 {
		return
	}
	for i := range o.exceedances {
		if l := &o.exceedances[i]; rare < 1 && !sure {
			l.none *= 1 - drawn[i] // the request makes at most one call
		} else {
			l.none *= math.Pow(max(0, 1-drawn[i]/rare), rare)
		}
	}
}

// gridPoints is the approximate number of grid points of a wait.
const gridPoints = 300

// zeros returns a zero for each x, in memory that the next call reuses.
func (o *overlay) zeros() []float64 {
	o.steps = slices.Grow(o.steps[:0], len(o.x))[:len(o.x)]
	clear(o.steps)
	return o.steps
}

// grid fills x with the points of all curves, and with points in between.
func (o *overlay) grid() {
	points := slices.Compact(o.sortedPoints())
	o.x = o.x[:0]
	if n := len(points); n > gridPoints {
		for i := range gridPoints {
			o.x = append(o.x, points[i*n/gridPoints])
		}
		o.x = append(o.x, points[n-1])
		return
	}
	parts := max(1, gridPoints/len(points))
	o.x = append(o.x, points[0])
	for i := 1; i < len(points); i++ {
		for k := 1; k <= parts; k++ {
			o.x = append(o.x, points[i-1]+(points[i]-points[i-1])*float64(k)/float64(parts))
		}
	}
}

// sortedPoints returns 0 and the points of all curves, sorted.
func (o *overlay) sortedPoints() []float64 {
	o.points = append(o.points[:0], 0)
	for _, c := range o.list {
		o.points = append(o.points, c.curve.x...)
	}
	slices.Sort(o.points)
	return o.points
}

// survival returns the share of calls that take longer than each of x, which must be ascending. It reuses the
// memory of s.
func (c curve) survival(x, s []float64) []float64 {
	s = s[:0]
	i := 0
	for _, at := range x {
		for i < len(c.x) && c.x[i] <= at {
			i++
		}
		share := 0.0
		switch {
		case i == 0:
			share = 1
		case i < len(c.x):
			share = c.s[i-1] + (c.s[i]-c.s[i-1])*(at-c.x[i-1])/(c.x[i]-c.x[i-1])
		}
		s = append(s, share)
	}
	return s
}

// limitedTo returns how much of a measured time is the wait for the slowest call: the wait for independent
// calls, at most room. bounds are its bounds. estimate reports whether the bounds differ by more than 2 %.
func (w slowestCall) limitedTo(room float64) (ms float64, bounds Interval, estimate bool) {
	room = max(0, room)
	bounds = Interval{min(w.low, room), min(w.high, room)}
	return min(room, w.independent), bounds, w.high > w.low*1.02
}

// scaledTo returns the chances and mean durations for a wait of ms. It scales the parts of all kinds above their
// means.
func (w slowestCall) scaledTo(ms float64, means []float64) (chance, then []float64) {
	chance, then = slices.Clone(w.chance), slices.Clone(w.means)
	now, least := 0.0, 0.0
	for k, c := range chance {
		now += c * then[k]
		least += c * min(then[k], means[k])
	}
	switch {
	case now <= 0:
	case ms >= now || least >= ms || now-least < 1e-9:
		for k := range then {
			then[k] *= ms / now
		}
	default: // calls of a request are slow together: the slowest exceeds its mean by less
		f := (ms - least) / (now - least)
		for k, m := range means {
			m = min(m, then[k])
			then[k] = m + (then[k]-m)*f
		}
	}
	return chance, then
}

// scaledToSubset is like scaledTo, but not all kinds need be called. If the wait is longer than for independent calls,
// it increases the chances of the slow kinds.
func (w slowestCall) scaledToSubset(ms float64, means []float64) (chance, then []float64) {
	if ms > w.independent {
		w.chance = slices.Clone(w.chance)
		tilt(w.chance, w.means, ms)
	}
	return w.scaledTo(ms, means)
}

// tilt increases the chances of slow kinds until the mean is ms, or half-way to the slowest kind.
func tilt(chance, then []float64, ms float64) {
	slow, now := slices.Max(then), 0.0
	for k, c := range chance {
		now += c * then[k]
	}
	if slow <= now {
		return
	}
	ms = min(ms, (now+slow)/2)
	mean := func(b float64) (m, total float64) {
		for k, c := range chance {
			f := c * math.Exp(b*(then[k]/slow-1))
			total, m = total+f, m+f*then[k]
		}
		return m / total, total
	}
	low, high := 0.0, 60.0
	for range 40 {
		b := (low + high) / 2
		if m, _ := mean(b); m < ms {
			low = b
		} else {
			high = b
		}
	}
	_, total := mean(low)
	for k := range chance {
		chance[k] *= math.Exp(low*(then[k]/slow-1)) / total
	}
}

// piece is a part of a call: its mean in milliseconds, and its variance.
type piece struct{ ms, variance float64 }

// expectedPieces returns the expected pieces of a call that takes t. The time above the mean is assigned to the pieces
// in proportion to their variance.
func expectedPieces(pieces []piece, t float64) []float64 {
	mean, variance := 0.0, 0.0
	for _, p := range pieces {
		mean, variance = mean+p.ms, variance+p.variance
	}
	out := make([]float64, len(pieces))
	for k, p := range pieces {
		switch {
		case mean <= 0 && variance <= 0:
		case t <= mean || variance <= 0:
			out[k] = p.ms * t / max(mean, 1e-12)
		default:
			out[k] = p.ms + (t-mean)*p.variance/variance
		}
	}
	return out
}
