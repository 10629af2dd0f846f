package load

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

// Plan is how a load is put on a target.
type Plan struct {
	// Sessions ask in a closed loop. With a Rate (requests per second) or Timed (the log's own times, Speed times as fast) the
	// loop is open, and Sessions is how many may be under way at once.
	Sessions int
	Rate     float64 `doc:",omitzero"`
	Timed    bool
	Speed    float64 `doc:",omitzero"`
	// Poisson draws arrivals of a Rate at random, with Seed; else they are evenly spaced.
	Poisson bool
	Seed    uint64
	// Warmup and each Round take so long, or so many requests if Requests is not 0 (all of the log once: its length; also if
	// Round is 0 too). A round of so many begins at the log's first; a warm-up takes Warmup, and with Requests no more than those.
	Warmup   time.Duration
	Round    time.Duration `doc:",omitzero"`
	Requests int           `doc:",omitzero"`
	Rounds   int           // 1 if 0
	// Deadline of each request, from when it is sent; Total bounds what is asked in all, the warm-up included, which sessions without a rate
	// end after a fifth of it. 0 for none.
	Deadline time.Duration `doc:",omitzero"`
	Total    int           `doc:",omitzero"`
	// CPU and Switches are what the process used so far; nil where nobody knows.
	CPU      func() time.Duration
	Switches func() (voluntary, involuntary int64)
	// Began is called when the first round begins, after the warm-up: for who counts what the rounds cost. nil for none.
	Began func()
	// Progress is called about ten times a second, from one goroutine; nil for none.
	Progress func(Progress)
	// Sink is called with each request that counts, after it was measured and not in its latency: by the goroutine of its
	// session, which goes on when Sink returns. Two calls for the same worker, 0 to Sessions-1, are never under way at once, so
	// what is kept by worker needs no lock. The answer is nil with an error, and valid until Sink returns; took counts as
	// latency does. SinkWarmup has it called in the warm-up too.
	Sink       func(worker int, r *Request, a *Answer, took time.Duration, err error)
	SinkWarmup bool `doc:"-"`
}

// Progress is how far a point is.
type Progress struct {
	Warming       bool
	Round, Rounds int           // the first is 0
	Elapsed, Of   time.Duration // of this round
	Asked, Failed int64         // in this round
	QPS           float64       // of the last second
	P50, P99      time.Duration // of this round
}

// Point is one load and what it measured.
type Point struct {
	Plan   `doc:"plan"`
	K      int `doc:",omitzero"`
	EF     int `doc:",omitzero"`
	NProbe int `doc:"nprobe,omitzero"`
	// Open is how many sessions could be opened; Notes say why it is less than Sessions, and what else is to be known.
	Open   int     `doc:"open_sessions"`
	Recall float64 `doc:",unknown=-1"` // of this point's parameters, -1 not compared
	// RecallLow and RecallHigh bound it, 95% over queries; both 0 unknown.
	RecallLow, RecallHigh float64 `doc:",omitzero"`
	// All rounds together. QPS counts answered queries (vectors), the mean of all whole rounds; the interval is of that mean,
	// 95%, and Low = High = 0 of one round. Queries were answered in Took.
	QPS, QPSLow, QPSHigh float64 `doc:",omitzero"`
	Queries              int64
	Took                 time.Duration
	Asked, Failed        int64
	// Late counts requests of an open loop that could not be sent when they should, as all sessions were busy: their latency
	// counts from then. Unsent are those that no session was free for until the last round ended: they are in no other figure.
	Late, Unsent int64
	Errors       map[string]int64 // by text, at most 10, and OtherErrors; those of the warm-up are not in it
	// CPUPerQuery and the rest are 0 where nobody knows. In an open loop the process also wakes for each request, which is
	// some 50 to 100 microseconds of its CPU.
	CPUPerQuery      time.Duration `doc:",omitzero"`
	SwitchesPerQuery float64       `doc:",omitzero"`
	// VoluntaryPerQuery and InvoluntaryPerQuery are its two kinds: waiting, and being put off a core. Both are 0 where nobody knows.
	VoluntaryPerQuery, InvoluntaryPerQuery float64 `doc:",omitzero"`
	DistancesPerQuery                      float64 `doc:",omitzero"`
	Latency                                Latency `doc:",omitzero"` // of what was answered
	FailedLatency                          Latency `doc:",omitzero"` // of what was not
	// Waited is how long after the time it was meant for each request of an open loop was sent, Late or not: what timers
	// and sessions that were busy add to latency.
	Waited  Latency `doc:"waited_latency,omitzero"`
	Repeats []Round `doc:"rounds"`
	// Served is what a cluster's processes told of their part; nil where nobody asked them.
	Served *Served
	// Stopped says why the point is not whole; "" if it is.
	Stopped string
	Notes   []string
}

// Round is one repetition. A request counts in the round in which it ended; those that were under way when the last round
// ended count in that, but for its Queries and QPS.
type Round struct {
	Took          time.Duration
	Asked, Failed int64
	Tail          int64         // of Asked, those that ended after the round
	Queries       int64         // answered within the round
	QPS           float64       `doc:",omitzero"`
	CPU           time.Duration `doc:",omitzero"`
	Cut           bool          // it ended before its time: it is not in the point's mean and interval
	Latency       Latency       `doc:",omitzero"`
}

// Latency is a distribution in figures. Values are exact to 1 in 1000.
type Latency struct {
	Count                                        int64
	Mean, Min, Max, P50, P90, P95, P99, P999, SD time.Duration
	// Bars are the histogram for plots: counts of requests up to UpTo, over the Bar before. At most 60, evenly wide on a
	// logarithmic scale, without gaps; the first only says where the second begins, and counts what took 0 ns.
	Bars []Bar
}

// IsZero reports whether it is of nothing: it is not saved then.
func (l *Latency) IsZero() bool { return l.Count == 0 }

// CheckDoc refuses what no histogram says, and what a plot would stumble over.
func (l *Latency) CheckDoc() error {
	wrong := l.Count < 0 || min(l.Mean, l.Min, l.Max, l.P50, l.P90, l.P95, l.P99, l.P999, l.SD) < 0
	for i, b := range l.Bars {
		wrong = wrong || b.Count < 0 || b.UpTo < 0 || i > 0 && b.UpTo <= l.Bars[i-1].UpTo
	}
	if wrong {
		return errors.New("expected counts and times of 0 or more, and bars in order")
	}
	return nil
}

// Bar is a part of a histogram.
type Bar struct {
	UpTo  time.Duration
	Count int64
}

// OnFront reports of each point whether it is on the Pareto front: no other has at least the same recall and QPS, and more of one.
// Points that are equal in both beat each other in nothing, so either all of them are on it or none. A point whose recall or
// QPS nobody knows is not on it and beats nobody. Whatever marks, lists or draws a front asks this.
func OnFront(points []Point) []bool {
	front := make([]bool, len(points))
	known := func(p *Point) bool { return p.Recall >= 0 && p.QPS > 0 && !math.IsInf(p.QPS, 1) }
	for i := range points {
		p := &points[i]
		front[i] = known(p) && !slices.ContainsFunc(points, func(q Point) bool {
			return known(&q) && q.Recall >= p.Recall && q.QPS >= p.QPS && (q.Recall > p.Recall || q.QPS > p.QPS)
		})
	}
	return front
}

// Front is the Pareto front, sorted by recall, so that QPS falls: what can be had.
func Front(points []Point) []Point {
	var front []Point
	for i, on := range OnFront(points) {
		if on {
			front = append(front, points[i])
		}
	}
	slices.SortStableFunc(front, func(a, b Point) int { return cmp.Compare(a.Recall, b.Recall) })
	return front
}

// Served is what the processes of a cluster told of their part in a point: what came to their metrics from before its sessions were
// opened until after its last round, the warm-up included.
type Served struct {
	Took     time.Duration // between the two scrapes
	Requests float64       `doc:",omitzero"` // searches that its proxies answered meanwhile, whoever asked
	// Client is the CPU that this process used meanwhile, asking.
	Client    time.Duration `doc:",omitzero"`
	Processes []Process
	// Phases are where the time of a mean search went, parents before their parts (inspect/latency).
	Phases []Phase
}

// Process is one process of the cluster.
type Process struct {
	Role string
	Node int64 `doc:"node_id,id"`
	Name string
	// Here is that it runs on this machine, and shares its cores with the client.
	Here  bool
	Cores float64 `doc:",omitzero"` // that it says it has; 0 unknown
	// CPU is what it used in the time of the point. Idle is how much of a core it used before, when nobody asked for the point; -1 unknown.
	CPU  time.Duration
	Idle float64 `doc:"idle_cores,unknown=-1"`
}

// Phase is a part of a mean search: Wait of it is what its client waits for. Nodes are the processes that it happens in.
type Phase struct {
	Name, Parent, Role string
	Wait               time.Duration
	Estimate           bool
	Nodes              []PhaseOf
}

// PhaseOf is one process's part in a phase: so many calls for one search, each of which takes so long, at least Low and at most High: up to 2.5
// Milvus cuts what it observes to whole milliseconds.
type PhaseOf struct {
	Node            int64 `doc:"node_id,id"`
	Calls           float64
	Each, Low, High time.Duration
}

// Find is the phase of that name that is waited for longest, nil if there is none.
func (s *Served) Find(name string) *Phase {
	var best *Phase
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Name == name && (best == nil || p.Wait > best.Wait) {
			best = p
		}
	}
	return best
}
