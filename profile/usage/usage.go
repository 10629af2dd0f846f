// Package usage measures the CPU and the memory of processes over time.
//
//  1. Metrics and Process are Targets: a process read from its /metrics, or from /proc of this machine. Each returns a
//     Reading.
//  2. Watch reads each Target at an interval.
//  3. A Series converts readings to Points, and counters to rates. A failed reading is a gap, not a point of zero.
package usage

import (
	"context"
	"math"
	"time"
)

// Measure is a measured quantity.
type Measure uint8

// The measures. In a Reading, counters are totals since the process began; in a Point they are rates.
const (
	CPU         Measure = iota // counts seconds of CPU; rate: cores busy
	RSS                        // resident memory in bytes
	Voluntary                  // counts context switches of threads that had to wait; rate: per second
	Involuntary                // counts context switches of threads whose time was up; rate: per second
	Measures                   // number of measures
)

// IsCounter reports whether m is a counter, not a state.
func (m Measure) IsCounter() bool { return m != RSS }

// Values holds one value for each Measure, NaN if unknown.
type Values [Measures]float64

// Unknown returns Values with all measures unknown.
func Unknown() Values {
	var v Values
	for m := range v {
		v[m] = math.NaN()
	}
	return v
}

// Known reports whether the value of m is known.
func (v *Values) Known(m Measure) bool { return !math.IsNaN(v[m]) }

// Reading is the usage of a process at one time.
type Reading struct {
	At time.Time
	// Began is the start time of the process, or zero if unknown. A different start time means a restart.
	Began  time.Time
	Values Values
}

// Target is a process that can be read.
type Target interface {
	// Name returns the display name, e.g. "querynode-7" or "pid 4711 (milvus)".
	Name() string
	// Read reads the usage within the deadline of ctx. It returns an *EndedError if the process has ended.
	Read(ctx context.Context) (Reading, error)
}

// EndedError means that a process has ended.
type EndedError struct{ What string }

func (e *EndedError) Error() string { return e.What }

// Usage is the usage of all processes.
type Usage struct {
	// Interval is the time between two readings of a process.
	Interval time.Duration
	Begin    time.Time
	End      time.Time
	// Series are the series of the processes, in the order of the targets.
	Series []*Series
}
