package usage

import (
	"math"
	"time"
)

// maxPoints is how many points a Series keeps. If there are more, every second one is dropped.
const maxPoints = 2048

// Point is the usage of a process between two readings.
type Point struct {
	// At is the end of the interval. Interval is its length; 0 for the first reading, which has no rates.
	At       time.Time
	Interval time.Duration
	// Values are rates and states, NaN if unknown.
	Values Values
	// Gap is the reason for a missing reading, or "" if the reading succeeded.
	Gap string
	// Restarted reports whether the process was restarted since the previous point, so that rates are unknown.
	Restarted bool
}

// Total summarizes a measure over all points.
type Total struct {
	// Min, Max and Mean apply to rates and states, NaN without a value. The mean is weighted by time.
	Min, Max, Mean float64
	// Total is the sum of a counter. AtLeast reports that a part is missing: usage right before a restart.
	Total   float64
	AtLeast bool

	seconds float64 // the weight of Mean
}

// Known reports whether there was any value.
func (t *Total) Known() bool { return !math.IsNaN(t.Mean) || t.Total > 0 }

// Series is the usage of a process.
type Series struct {
	Name   string
	Points []Point
	Totals [Measures]Total
	// Readings, Gaps and Restarts count all points, including dropped ones.
	Readings, Gaps, Restarts int
	// Every is the distance between kept points: 1, then 2, 4 and so on.
	Every int
	// Ended is the reason why the process ended, or "" while it runs. LastGap is the reason for the last gap.
	Ended, LastGap string

	last Reading // the last one that succeeded
}

// NewSeries returns an empty Series.
func NewSeries(name string) *Series {
	s := &Series{Name: name, Every: 1}
	s.last.Values = Unknown()
	for m := range s.Totals {
		s.Totals[m] = Total{Min: math.NaN(), Max: math.NaN(), Mean: math.NaN()}
	}
	return s
}

// Add adds a reading, and returns its Point.
func (s *Series) Add(r Reading) Point {
	p := Point{At: r.At, Values: Unknown()}
	if !s.last.At.IsZero() {
		p.Interval = r.At.Sub(s.last.At)
		p.Restarted = s.restarted(&r)
	}
	if p.Restarted {
		s.Restarts++
	}
	seconds := p.Interval.Seconds()
	for m := range Measures {
		now, before := r.Values[m], s.last.Values[m]
		t := &s.Totals[m]
		switch {
		case math.IsNaN(now):
		case !m.IsCounter():
			p.Values[m] = now
			t.add(now, seconds)
		case p.Restarted:
			t.Total, t.AtLeast = t.Total+now, true
		case !math.IsNaN(before) && seconds > 0:
			t.Total += now - before
			p.Values[m] = (now - before) / seconds
			t.add(p.Values[m], seconds)
		}
	}
	s.last = r
	s.push(p)
	s.Readings++
	return p
}

// add adds a value that held for the given seconds.
func (t *Total) add(v, seconds float64) {
	if math.IsNaN(t.Mean) {
		t.Min, t.Max, t.Mean = v, v, v
	}
	t.Min, t.Max = min(t.Min, v), max(t.Max, v)
	if t.seconds += seconds; seconds > 0 {
		t.Mean += (v - t.Mean) * seconds / t.seconds
	}
}

// restarted reports whether the process was restarted since the last reading: its start time differs by more
// than a second, or a counter decreased.
func (s *Series) restarted(r *Reading) bool {
	const tolerance = time.Second // process_start_time_seconds and jiffies move with the clock
	if a, b := s.last.Began, r.Began; !a.IsZero() && !b.IsZero() && b.Sub(a).Abs() > tolerance {
		return true
	}
	for m := range Measures {
		if m.IsCounter() && r.Values[m] < s.last.Values[m] { // false if either is NaN
			return true
		}
	}
	return false
}

// Fail adds a failed reading, and returns its Point.
func (s *Series) Fail(at time.Time, why string) Point {
	p := Point{At: at, Values: Unknown(), Gap: why}
	s.LastGap = why
	s.push(p)
	s.Gaps++
	return p
}

// push keeps one of Every points.
func (s *Series) push(p Point) {
	if (s.Readings+s.Gaps)%s.Every != 0 {
		return
	}
	s.Points = append(s.Points, p)
	if len(s.Points) < maxPoints {
		return
	}
	for i := range maxPoints / 2 {
		s.Points[i] = s.Points[2*i]
	}
	s.Points = s.Points[:maxPoints/2]
	s.Every *= 2
}
