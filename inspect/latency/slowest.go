package latency

import (
	"math"
	"slices"
)

// calls are calls of one kind that a request makes at once: how many on average, and how long one takes.
type calls struct {
	n     float64
	curve curve
}

// slowest is how long a request waits that makes several calls at once and waits for all.
type slowest struct {
	// low bounds it from below: as if calls of one request were slow together. high bounds it from above: as if never two
	// were slow in one request. independent is in between: calls know nothing of each other.
	low, independent, high float64
	// chance is how often each kind of call is the slowest, of independent calls, and then is how long it takes then.
	chance, then []float64
}

// wait says how long a request waits for the slowest of its calls. Calls of a kind that is made once or more for each request
// are taken as made for each; those that are made less often as drawn, as many as they are together.
func wait(list []calls) slowest {
	w := slowest{chance: make([]float64, len(list)), then: make([]float64, len(list))}
	all := 0.0
	for _, c := range list {
		all += c.n
	}
	if all <= 0 {
		return w
	}
	x := gridOf(list)
	longer := make([][]float64, len(list)) // share of a kind's calls that take longer than x
	for k, c := range list {
		longer[k] = c.curve.over(x)
	}
	before := level(list, longer, 0)
	for i := 1; i < len(x); i++ {
		now := level(list, longer, i)
		dx := x[i] - x[i-1]
		w.low += dx * (max(before.one, before.sum/max(1, all)) + max(now.one, now.sum/max(1, all))) / 2
		w.independent += dx * (2 - before.none - now.none) / 2
		w.high += dx * (min(1, before.sum) + min(1, now.sum)) / 2
		w.ended(list, longer, i, max(0, now.none-before.none), (x[i]+x[i-1])/2)
		before = now
	}
	w.independent = max(w.low, min(w.independent, w.high))
	w.high = max(w.high, w.low)
	w.settle(list)
	return w
}

// ended counts a share of requests whose slowest call ended in a step of the grid, by the kind of call.
func (w *slowest) ended(list []calls, longer [][]float64, i int, share, at float64) {
	if share <= 0 {
		return
	}
	total := 0.0
	rate := func(k int) float64 {
		s := longer[k]
		return list[k].n * max(0, s[i-1]-s[i]) / max(1e-9, 1-(s[i-1]+s[i])/2)
	}
	for k := range list {
		total += rate(k)
	}
	if total <= 0 {
		return
	}
	for k := range list {
		part := share * rate(k) / total
		w.chance[k] += part
		w.then[k] += part * at
	}
}

// settle makes chances add up to 1, and times means.
func (w *slowest) settle(list []calls) {
	total := 0.0
	for k, c := range w.chance {
		total += c
		if c > 0 {
			w.then[k] /= c
		} else {
			w.then[k] = list[k].curve.mean()
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

// levelled is what of calls takes longer than a time.
type levelled struct {
	sum  float64 // calls of a request
	one  float64 // the likeliest kind: that at least one of it does
	none float64 // that none does, if they are independent
}

func level(list []calls, longer [][]float64, i int) levelled {
	l := levelled{none: 1}
	drawn, rare, sure := 0.0, 0.0, false
	for k, c := range list {
		s := longer[k][i]
		l.sum += c.n * s
		l.one = max(l.one, min(1, c.n)*s)
		whole := math.Floor(c.n + 0.03)
		if whole == 1 {
			l.none *= 1 - s
		} else if whole > 1 {
			l.none *= math.Pow(1-s, whole)
		}
		sure = sure || whole > 0
		if r := c.n - whole; r > 0 {
			drawn, rare = drawn+r*s, rare+r
		}
	}
	switch {
	case rare <= 0:
	case rare < 1 && !sure:
		l.none *= 1 - drawn // the request makes one call, or none
	default:
		l.none *= math.Pow(max(0, 1-drawn/rare), rare)
	}
	return l
}

// gridPoints is how many points a wait is worked out with, about.
const gridPoints = 300

// gridOf has points of all curves, and some between.
func gridOf(list []calls) []float64 {
	points := []float64{0}
	for _, c := range list {
		points = append(points, c.curve.x...)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	if n := len(points); n > gridPoints {
		some := make([]float64, 0, gridPoints+1)
		for i := range gridPoints {
			some = append(some, points[i*n/gridPoints])
		}
		return append(some, points[n-1])
	}
	parts := max(1, gridPoints/len(points))
	grid := points[:1:1]
	for i := 1; i < len(points); i++ {
		for k := 1; k <= parts; k++ {
			grid = append(grid, points[i-1]+(points[i]-points[i-1])*float64(k)/float64(parts))
		}
	}
	return grid
}

// over is the share of calls that take longer than each of x, which ascends.
func (c curve) over(x []float64) []float64 {
	s := make([]float64, len(x))
	i := 0
	for k, at := range x {
		for i < len(c.x) && c.x[i] <= at {
			i++
		}
		switch {
		case i == 0:
			s[k] = 1
		case i < len(c.x):
			s[k] = c.s[i-1] + (c.s[i]-c.s[i-1])*(at-c.x[i-1])/(c.x[i]-c.x[i-1])
		}
	}
	return s
}

// explained is how much of a time that was measured is the wait for the slowest of calls: up to what independent calls would
// take. bounds are what it can be; estimate is false if there is nothing to guess.
func (w slowest) explained(room float64) (ms float64, bounds Interval, estimate bool) {
	room = max(0, room)
	bounds = Interval{min(w.low, room), min(w.high, room)}
	return min(room, w.independent), bounds, w.high > w.low*1.02
}

// toward is the wait as it is where it takes ms: all kinds take more, or less, of what they take above their means.
func (w slowest) toward(ms float64, means []float64) (chance, then []float64) {
	chance, then = slices.Clone(w.chance), slices.Clone(w.then)
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
	default: // calls of one request are slow together: the slowest takes less above its mean
		f := (ms - least) / (now - least)
		for k, m := range means {
			m = min(m, then[k])
			then[k] = m + (then[k]-m)*f
		}
	}
	return chance, then
}

// among is like toward where it is not known that all of the kinds are asked: where it takes longer than independent calls would,
// it is more often the slow kinds that were.
func (w slowest) among(ms float64, means []float64) (chance, then []float64) {
	if ms > w.independent {
		w.chance = slices.Clone(w.chance)
		tilt(w.chance, w.then, ms)
	}
	return w.toward(ms, means)
}

// tilt makes slow kinds likelier until the mean is ms, or half-way to nothing but the slowest.
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

// piece is a part of a call: its mean, and how much it varies.
type piece struct{ ms, variance float64 }

// given says how long the pieces of a call are where it takes t: what it takes longer than usual is of the pieces that vary.
func given(pieces []piece, t float64) []float64 {
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
