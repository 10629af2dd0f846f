// Package usage measures what processes use while something runs: CPU, memory, goroutines, garbage
// collection, context switches, and what of it falls to one query.
//
// What enters are Targets, each of which reads one process: its /metrics, or /proc of this machine.
// What leaves is a Usage, a Series of points in time for each process.
//
//  1. Metrics, Process and Tree are Targets; each answers with a Reading.
//  2. Watch reads all of them again and again, each for itself, and hands on every reading, or why there is none.
//  3. A Series turns readings into Points: counters into rates. What was not read is a gap and no point of zero, and a
//     process that began anew begins anew.
//  4. A Usage adds up, and divides by the queries that were counted meanwhile.
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
	Goroutines                 // their number
	Threads                    // their number
	GCs                        // counts garbage collections; rate: per second
	GCPause                    // counts seconds during which a collection stopped the program; rate: seconds per second
	Voluntary                  // counts context switches of threads that had to wait; rate: per second
	Involuntary                // counts context switches of threads whose time was up; rate: per second
	Heap                       // bytes of live and not yet collected objects
	Allocated                  // counts bytes that were allocated; rate: bytes per second
	Queries                    // counts what the query counter counts; rate: per second
	Measures                   // how many there are
)

// Counts reports whether a Reading has a total of it and not a state.
func (m Measure) Counts() bool {
	switch m {
	case RSS, Goroutines, Threads, Heap:
		return false
	default:
		return true
	}
}

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
	// Counter is what Queries counts, "" if nothing does; Fixed is a number of queries that was told, 0 if none was.
	Counter string
	Fixed   float64
	// Command is what ran meanwhile, nil if nothing was started.
	Command *Command
}

// Command is a program that was started to be watched.
type Command struct {
	// Name is the program's. Its arguments are not kept: they may hold secrets.
	Name string
	// ExitCode is -1 if a signal ended it; State says how it ended, in words.
	ExitCode int
	State    string
	Wall     time.Duration
	// What the kernel counted for it and for all that it waited for, as getrusage(2) tells with RUSAGE_CHILDREN:
	// exact, where samples of /proc miss what ends between them. RSS is the largest of any one process.
	User, System time.Duration
	RSS          int64
	// Voluntary and Involuntary are context switches. All four are -1 where the system does not tell.
	Voluntary, Involuntary int64
}

// PerQuery is what a query costs, over all processes.
type PerQuery struct {
	Queries float64
	// CPU is seconds, Switches are context switches of both kinds, per query. NaN where it is unknown: switches if they are
	// of any process, CPU if it is of all.
	CPU, Switches float64
	// Missing are processes whose CPU is unknown or known in part, so that the true figures are higher.
	Missing []string
}

// PerQuery divides what was used by the queries; ok is false where no query was counted.
func (u *Usage) PerQuery() (q PerQuery, ok bool) {
	q.Queries = u.Fixed
	var cpu, switches sum
	partly := false
	for _, s := range u.Series {
		if s.Apart {
			continue
		}
		if u.Fixed == 0 && s.Totals[Queries].Known() {
			q.Queries += s.Totals[Queries].Total
		}
		cpu.add(&s.Totals[CPU])
		switches.add(&s.Totals[Voluntary])
		switches.add(&s.Totals[Involuntary])
		partly = partly || !s.Totals[Voluntary].Known()
		if t := &s.Totals[CPU]; !t.Known() || t.AtLeast {
			q.Missing = append(q.Missing, s.Name)
		}
	}
	if !(q.Queries > 0) {
		return q, false
	}
	q.CPU, q.Switches = cpu.of()/q.Queries, switches.of()/q.Queries
	if partly {
		q.Switches = math.NaN()
	}
	if c := u.Command; c != nil && len(u.Series) == 1 && !u.Series[0].Apart && c.User >= 0 { // the kernel's own count is exact
		q.CPU, q.Missing = (c.User+c.System).Seconds()/q.Queries, nil
		if c.Voluntary >= 0 {
			q.Switches = float64(c.Voluntary+c.Involuntary) / q.Queries
		}
	}
	return q, true
}

// sum adds totals up, as far as they are known.
type sum struct {
	value float64
	known bool
}

func (s *sum) add(t *Total) {
	if t.Known() {
		s.value, s.known = s.value+t.Total, true
	}
}

func (s *sum) of() float64 {
	if !s.known {
		return math.NaN()
	}
	return s.value
}
