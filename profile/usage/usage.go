// Package usage measures the CPU and the memory of processes over time.
//
//  1. Metrics and Process are Targets: a process read by its /metrics, or by /proc of this machine. Each returns a Reading.
//  2. Watch reads each of them at an interval.
//  3. A Series turns readings into Points: counters into rates. A failed reading is a gap, not a point of zero.
package usage

import (
	"context"
	"math"
	"time"
)

// Measure is one thing that is measured.
type Measure uint8

// The measures. Of a Reading, those that count are totals since the process began; of a Point they are rates.
const (
	CPU         Measure = iota // counts seconds of CPU; rate: cores busy
	RSS                        // resident memory in bytes
	Voluntary                  // counts context switches of threads that had to wait; rate: per second
	Involuntary                // counts context switches of threads whose time was up; rate: per second
	Measures                   // how many there are
)

// Counts reports whether a Reading has a total of it and not a state.
func (m Measure) Counts() bool { return m != RSS }

// Values are one value for each Measure, NaN where it is unknown.
type Values [Measures]float64

// Unknown are Values of which none is known.
func Unknown() Values {
	var v Values
	for m := range v {
		v[m] = math.NaN()
	}
	return v
}

// Known reports whether a measure is.
func (v *Values) Known(m Measure) bool { return !math.IsNaN(v[m]) }

// Reading is what a process said, once.
type Reading struct {
	At time.Time
	// Began is when the process did, zero if it does not tell: another one says that it was started again.
	Began  time.Time
	Values Values
}

// Target is a process that can be read.
type Target interface {
	// Name is what a person calls it: "querynode-7", "pid 4711 (milvus)".
	Name() string
	// Read reads it once, within the deadline of ctx. An *EndedError says that there is nothing to read any more.
	Read(ctx context.Context) (Reading, error)
}

// EndedError says that a process has ended.
type EndedError struct{ What string }

func (e *EndedError) Error() string { return e.What }

// Usage is what all processes used.
type Usage struct {
	// Interval is how often each was read.
	Interval time.Duration
	Begin    time.Time
	End      time.Time
	// Series are those of the processes, in the order of the targets.
	Series []*Series
}
