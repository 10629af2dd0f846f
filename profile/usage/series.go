package usage

import (
	"math"
	"time"
)

// MaxPoints is how many points a Series keeps: of a longer watch two become one, again and again.
const MaxPoints = 2048

// Point is what a process used between two readings.
type Point struct {
	// At is the end of it and Over how long it is: 0 for the first reading, which has no rates.
	At   time.Time
	Over time.Duration
	// Values are rates and states, NaN where unknown.
	Values Values
	// Gap says why there is no reading, "" if there is one.
	Gap string
	// Restarted says that the process began anew since the point before, so that rates are unknown.
	Restarted bool
}

// Total is what a measure came to, over all points.
type Total struct {
	// Min, Max and Mean are of rates and states, NaN if there was none; the mean is weighted by time.
	Min, Max, Mean float64
	// Total is of those that count: how much was added up.
	Total float64
	// AtLeast says that some of it was not seen: what the process did before it began anew.
	AtLeast bool

	weight float64 // seconds that Mean is of
	seen   bool
}

// Known reports whether there was any value.
func (t *Total) Known() bool { return t.seen }

// Series is what one process used.
type Series struct {
	Name   string
	Points []Point
	Totals [Measures]Total
	// Readings, Gaps and Restarts are counted, thinned out or not.
	Readings, Gaps, Restarts int
	// Merged is how many intervals a point stands for: 1 unless it was watched for long.
	Merged int
	// Ended says that the process has, "" while it runs. LastGap is the last reason why it did not answer.
	Ended, LastGap string

	last    Reading // the last one that succeeded
	max     int
	pending []Point // fewer than Merged, on their way to be one
}

// NewSeries makes an empty Series that keeps at most limit points, MaxPoints if it is 0.
func NewSeries(name string, limit int) *Series {
	if limit <= 0 {
		limit = MaxPoints
	}
	s := &Series{Name: name, Merged: 1, max: max(2, limit)}
	s.last.Values = Unknown()
	for m := range s.Totals {
		s.Totals[m] = Total{Min: math.NaN(), Max: math.NaN(), Mean: math.NaN()}
	}
	return s
}

// Add takes what a target answered, and returns the Point that it makes.
func (s *Series) Add(r Reading) Point {
	s.Readings++
	p := Point{At: r.At, Values: Unknown()}
	first := s.last.At.IsZero()
	if !first {
		p.Over = r.At.Sub(s.last.At)
		p.Restarted = s.restarted(&r)
	}
	if p.Restarted {
		s.Restarts++
	}
	for m := range Measures {
		s.measure(&p, &r, m, first)
	}
	s.last = r
	s.push(p)
	return p
}

// measure works out one value of a point, and adds it up.
func (s *Series) measure(p *Point, r *Reading, m Measure, first bool) {
	now, before := r.Values[m], s.last.Values[m]
	if math.IsNaN(now) {
		return
	}
	t := &s.Totals[m]
	seconds := p.Over.Seconds()
	switch {
	case !m.Counts():
		p.Values[m] = now
		t.take(now, seconds)
		return
	case first:
		return
	case p.Restarted: // what the new process did is seen, the end of the old one is not
		t.Total, t.AtLeast, t.seen = t.Total+now, true, true
		return
	case math.IsNaN(before):
		return
	}
	t.Total += now - before
	t.seen = true
	if seconds > 0 {
		p.Values[m] = (now - before) / seconds
		t.take(p.Values[m], seconds)
	}
}

// take adds a value that held for some seconds. The first state holds for none, and counts as an extreme only.
func (t *Total) take(v, seconds float64) {
	t.seen = true
	if math.IsNaN(t.Min) {
		t.Min, t.Max, t.Mean = v, v, v
	}
	t.Min, t.Max = min(t.Min, v), max(t.Max, v)
	if seconds > 0 {
		t.weight += seconds
		if t.weight == seconds {
			t.Mean = v
		} else {
			t.Mean += (v - t.Mean) * seconds / t.weight
		}
	}
}

// restarted reports whether a process began anew: it says so, or something that only grows has shrunk.
func (s *Series) restarted(r *Reading) bool {
	const clock = time.Second // process_start_time_seconds and jiffies wobble with the clock
	if a, b := s.last.Began, r.Began; !a.IsZero() && !b.IsZero() && b.Sub(a).Abs() > clock {
		return true
	}
	for m := range Measures {
		if m.Counts() && r.Values[m] < s.last.Values[m] { // false if either is NaN
			return true
		}
	}
	return false
}

// Fail takes a reading that did not succeed, and returns the Point that says so.
func (s *Series) Fail(at time.Time, why string) Point {
	s.Gaps++
	s.LastGap = why
	p := Point{At: at, Values: Unknown(), Gap: why}
	s.push(p)
	return p
}

// push keeps a point. When there are too many, two of them become one.
func (s *Series) push(p Point) {
	s.pending = append(s.pending, p)
	if len(s.pending) < s.Merged {
		return
	}
	s.Points = append(s.Points, merge(s.pending))
	s.pending = s.pending[:0]
	if len(s.Points) < s.max {
		return
	}
	half := s.Points[:0]
	for i := 0; i+1 < len(s.Points); i += 2 {
		half = append(half, merge(s.Points[i:i+2]))
	}
	if len(s.Points)%2 == 1 {
		s.pending = append(s.pending, s.Points[len(s.Points)-1])
	}
	s.Points = half
	s.Merged *= 2
}

// Flush keeps what was waiting to be merged. It is called when nothing more will come.
func (s *Series) Flush() {
	if len(s.pending) > 0 {
		s.Points = append(s.Points, merge(s.pending))
		s.pending = nil
	}
}

// merge makes one point of several: rates are weighted by time, and where one of them is a gap, the others speak.
func merge(points []Point) Point {
	last := points[len(points)-1]
	if len(points) == 1 {
		return last
	}
	p := Point{At: last.At, Values: Unknown()}
	var weights, sums Values
	readings := 0
	for i := range points {
		x := &points[i]
		p.Restarted = p.Restarted || x.Restarted
		if x.Gap != "" {
			p.Gap = x.Gap
			continue
		}
		readings++
		p.Over += x.Over
		w := max(x.Over.Seconds(), 1e-9) // the first reading of all holds for no time
		for m := range x.Values {
			if x.Values.Known(Measure(m)) {
				sums[m] += w * x.Values[m]
				weights[m] += w
			}
		}
	}
	for m := range p.Values {
		if weights[m] > 0 {
			p.Values[m] = sums[m] / weights[m]
		}
	}
	if readings > 0 {
		p.Gap = ""
	}
	return p
}
