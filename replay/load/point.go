package load

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

// Plan defines the load on a target.
type Plan struct {
	// Sessions send requests in a closed loop. With a Rate (requests per second) or with Timed (the log's own times,
	// Speed times as fast), the loop is open, and Sessions is the maximum number of concurrent requests.
	Sessions int
	Rate     float64 `doc:",omitzero"`
	Timed    bool
	Speed    float64 `doc:",omitzero"`
	// Poisson draws arrivals of a Rate at random, from Seed. Otherwise arrivals are evenly spaced.
	Poisson bool
	Seed    uint64
	// Warmup and Round are the durations of the warm-up and of each round. If Requests is not 0, a round has that
	// many requests instead, starting with the log's first; the log's length replays it once, and is the default if
	// Round is 0 too. With Requests, the warm-up ends after Warmup or after that many requests.
	Warmup   time.Duration
	Round    time.Duration `doc:",omitzero"`
	Requests int           `doc:",omitzero"`
	Rounds   int           // 0 means 1
	// Deadline is the maximum duration of each request, from the time it is sent; 0 means none. Total limits all
	// requests, including the warm-up; 0 means no limit. A warm-up in a closed loop takes at most a fifth of Total.
	Deadline time.Duration `doc:",omitzero"`
	Total    int           `doc:",omitzero"`
	// CPU and Switches return the usage of the process so far; nil if unknown.
	CPU      func() time.Duration
	Switches func() (voluntary, involuntary int64)
	// Began is called when the first round begins, after the warm-up, to measure the cost of the rounds. It may be
	// nil.
	Began func()
	// Progress is called about ten times a second, from one goroutine. It may be nil.
	Progress func(Progress)
	// Sink is called with each request that counts, after it was measured and outside of its latency. The goroutine
	// of the session calls it, and continues when Sink returns. Calls for the same worker, 0 to Sessions-1, are
	// never concurrent, so per-worker data needs no lock. The answer is nil if there is an error, and valid until
	// Sink returns. took is measured like latency. With SinkWarmup, Sink is called in the warm-up too.
	Sink       func(worker int, r *Request, a *Answer, took time.Duration, err error)
	SinkWarmup bool `doc:"-"`
}

// Progress is the progress of a point.
type Progress struct {
	Warming                bool
	Round, Rounds          int           // Round starts at 0
	Elapsed, RoundDuration time.Duration // of this round
	Asked, Failed          int64         // in this round
	QPS                    float64       // of the last second
	P50, P99               time.Duration // of this round
}

// Point is one load and its measurements.
type Point struct {
	Plan   `doc:"plan"`
	K      int `doc:",omitzero"`
	EF     int `doc:",omitzero"`
	NProbe int `doc:"nprobe,omitzero"`
	// Open is the number of sessions that could be opened. Notes has the reasons if it is less than Sessions, and
	// other remarks.
	Open   int     `doc:"open_sessions"`
	Recall float64 `doc:",unknown=-1"` // with this point's parameters; -1 if not compared
	// RecallLow and RecallHigh are the 95% confidence interval of Recall over queries; both are 0 if unknown.
	RecallLow, RecallHigh float64 `doc:",omitzero"`
	// Figures of all rounds. QPS counts answered queries (vectors), and is the mean of all complete rounds. QPSLow
	// and QPSHigh are its 95% confidence interval; both are 0 if there is only one round. Took is the time in which
	// Queries were answered.
	QPS, QPSLow, QPSHigh float64 `doc:",omitzero"`
	Queries              int64
	Took                 time.Duration
	Asked, Failed        int64
	// Late counts requests of an open loop that were sent late because all sessions were busy. Their latency counts
	// from the intended start. Unsent counts requests for which no session was free until the last round ended. They
	// are not in any other figure.
	Late, Unsent int64
	Errors       map[string]int64 // by text, at most 10 and OtherErrors; without errors of the warm-up
	// CPUPerQuery and the following figures are 0 if unknown. In an open loop the process also wakes for each request,
	// which takes about 50 to 100 microseconds of CPU.
	CPUPerQuery      time.Duration `doc:",omitzero"`
	SwitchesPerQuery float64       `doc:",omitzero"`
	// VoluntaryPerQuery and InvoluntaryPerQuery are the two kinds of switches: waiting, and preemption. Both are 0
	// if unknown.
	VoluntaryPerQuery, InvoluntaryPerQuery float64 `doc:",omitzero"`
	DistancesPerQuery                      float64 `doc:",omitzero"`
	Latency                                Latency `doc:",omitzero"` // of answered requests
	FailedLatency                          Latency `doc:",omitzero"` // of failed requests
	// Waited is the delay of each request of an open loop after its intended start, Late or not. It is the part of
	// latency due to timers and busy sessions.
	Waited  Latency `doc:"waited_latency,omitzero"`
	Repeats []Round `doc:"rounds"`
	// Served is the load on the cluster's processes according to their metrics; nil if they were not scraped.
	Served *ServerUsage
	// Stopped is the reason why the point is incomplete; "" if it is complete.
	Stopped string
	Notes   []string
}

// Round is one repetition. A request counts in the round in which it ended. Requests still in flight at the end of
// the last round count in that round, but not in its Queries and QPS.
type Round struct {
	Took          time.Duration
	Asked, Failed int64
	Tail          int64         // of Asked: requests that ended after the round
	Queries       int64         // answered within the round
	QPS           float64       `doc:",omitzero"`
	CPU           time.Duration `doc:",omitzero"`
	Cut           bool          // ended early: not in the point's mean and interval
	Latency       Latency       `doc:",omitzero"`
}

// Latency holds statistics of a distribution. Values are exact to 1 in 1000.
type Latency struct {
	Count                                        int64
	Mean, Min, Max, P50, P90, P95, P99, P999, SD time.Duration
	// Bars is the histogram for plots: the number of requests up to UpTo and above the previous Bar. There are at
	// most 60, of equal width on a logarithmic scale and without gaps. The first one only marks the start of the
	// second, and counts durations of 0 ns.
	Bars []Bar
}

// IsZero reports whether l has no values. It is then omitted from files.
func (l *Latency) IsZero() bool { return l.Count == 0 }

// CheckDoc returns an error for values that no histogram has, which would break plots.
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

// Bar is one bar of a histogram.
type Bar struct {
	UpTo  time.Duration
	Count int64
}

// OnFront reports for each point whether it is on the Pareto front: no other point has at least the same recall
// and QPS, and more recall or more QPS. Equal points do not dominate each other, so either all or no equal points
// are on the front. A point with unknown recall or QPS is not on the front and dominates no other. All code that
// marks, lists or plots a front uses OnFront.
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

// Front returns the Pareto front, sorted by ascending recall and therefore descending QPS.
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

// ServerUsage holds the load on the processes of a cluster during a point, by the increase of their metrics. It covers
// the time from before the opening of sessions until after the last round, including the warm-up.
type ServerUsage struct {
	Took     time.Duration // between the two scrapes
	Requests float64       `doc:",omitzero"` // searches answered by its proxies in that time, for all clients
	// Client is the CPU that this process used for the load in that time.
	Client    time.Duration `doc:",omitzero"`
	Processes []Process
	// Phases is the breakdown of the time of a mean search, parents before their parts (inspect/latency).
	Phases []Phase
}

// Process is one process of the cluster.
type Process struct {
	Role string
	Node int64 `doc:"node_id,id"`
	Name string
	// Here is true if the process runs on this machine and shares its cores with the client.
	Here  bool
	Cores float64 `doc:",omitzero"` // as reported by the process; 0 is unknown
	// CPU is its usage during the point. Idle is its usage in cores before the load of the point; -1 is unknown.
	CPU  time.Duration
	Idle float64 `doc:"idle_cores,unknown=-1"`
}

// Phase is a part of a mean search. Wait is the part of the phase that its client waits for. Nodes are the processes
// in which it happens.
type Phase struct {
	Name, Parent, Role string
	Wait               time.Duration
	Estimate           bool
	Nodes              []PhaseOf
}

// PhaseOf is the part of a process in a phase: the number of calls per search, and the time of each call with its
// bounds Low and High. Milvus up to 2.5 truncates the times that it observes to whole milliseconds.
type PhaseOf struct {
	Node            int64 `doc:"node_id,id"`
	Calls           float64
	Each, Low, High time.Duration
}

// Find returns the phase of the given name with the longest wait; nil if there is none.
func (s *ServerUsage) Find(name string) *Phase {
	var best *Phase
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Name == name && (best == nil || p.Wait > best.Wait) {
			best = p
		}
	}
	return best
}
