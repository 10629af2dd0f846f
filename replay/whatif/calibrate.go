package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

// Overheads are what a server takes for a request apart from searching segments as the engine does.
type Overheads struct {
	// Task is CPU time for each task of a node (RPC, plan, reduction, its part of the proxy), Segment for each segment of it.
	Task, Segment time.Duration
	// Warm is how much of the part of Task that is outside of the scheduler, and of a leader, remains where one call comes after the other; 0 is 1.
	Warm float64 `doc:",omitzero"`
	// FrontWarm is Warm for Front; 0 is Warm.
	FrontWarm float64 `doc:",omitzero"`
	// Wire is the time of one hop there and back in which no CPU of a query node is busy.
	Wire time.Duration
	// Delay is the time of a request in which nothing that we know of is busy, however many nodes it goes to.
	Delay time.Duration
	// Factor is how much CPU the server takes to search a segment in place of 1 of the engine's; 0 is 1.
	Factor float64
	// Growing is Factor for growing segments, where it was measured: with what chunks cost, or an interim index spares. 0 is Factor, and Chunk.
	Growing float64 `doc:",omitzero"`
	// Front is CPU of a request outside of query nodes: of proxies, and of client and all else where they share one machine. It has FrontCores.
	Front      time.Duration `doc:",omitzero"`
	FrontCores float64       `doc:",omitzero"`
	// Stretch is time of a request in which nothing that we know of is busy, in parts of how long it would take without: threads that wait for their
	// turn wait less for shorter work.
	Stretch float64 `doc:",omitzero"`
	// Chunk is CPU time for each chunk of a growing segment (Layout.ChunkRows) and vector: knowhere is called for each.
	Chunk time.Duration
	// From says where they are from.
	From string

	parallel int // cores of one task; 0 is all
}

func (o *Overheads) factor() float64 {
	if o.Factor > 0 {
		return o.Factor
	}
	return 1
}

// assumedOverheads are those of no measured server. Bounds are known: a standalone Milvus 2.2.16 took 4.3 ms of CPU for a search request of about ten
// vectors over some thousand rows, everything else that the process did meanwhile included (process_cpu_seconds_total and
// milvus_proxy_req_count before and after a search load; 2.3.5: 6.5 ms). What a lone request of one vector takes is less. A segment: 48 small ones on one
// query node of 2.3.5, then on three, each with a quarter of a core (docs/evidence/replay.md).
func assumedOverheads() Overheads {
	return Overheads{
		Task: 1600 * time.Microsecond, Segment: 200 * time.Microsecond, Wire: 500 * time.Microsecond, Factor: 1.2, Chunk: chunkCost, Warm: warm,
		From: "assumed",
	}
}

// Calibration is what a live run said of the server's overhead.
type Calibration struct {
	Name   string // of the target
	Cores  int    // of the machine that asked; 0 unknown
	Points []CalibrationPoint
	// Calls are loads of requests that search nothing (replay.Result.Calls), if there were any.
	Calls []CalibrationPoint
}

// CalibrationPoint is one load of the run; EF 0 is not known. Wire is 0 if the target does not tell its own time.
type CalibrationPoint struct {
	Sessions, EF    int
	Mean, P99, Wire time.Duration
	QPS             float64
	// Low and High bound QPS, 95%; both 0 unknown.
	Low, High float64
	Served    *load.Served // nil if nobody asked the processes
}

// Calibrate takes from a live run or sweep of the present cluster what its server's overhead is worked out of: latency at one
// session, and queries per second at many. An error if it is of the engine, or has no closed loop in it.
func Calibrate(base *replay.Result) (*Calibration, error) {
	if base == nil {
		return nil, errors.New("calibrate: no result")
	}
	if base.Setup.Target == "" || base.Setup.Target == "engine" {
		return nil, errors.New("calibrate: the result is from the engine; a run against a live target is needed (replay run --target)")
	}
	c := &Calibration{Name: base.Setup.Target, Cores: base.Setup.Machine.Cores}
	for i := range base.Points {
		p := &base.Points[i]
		if p.Rate != 0 || p.Timed || p.Sessions < 1 || p.Latency.Count == 0 || p.QPS <= 0 || p.Latency.Mean <= 0 {
			continue
		}
		c.Points = append(c.Points, calibrationPoint(p))
	}
	for i := range base.Calls {
		c.Calls = append(c.Calls, calibrationPoint(&base.Calls[i]))
	}
	if len(c.Points) == 0 {
		return nil, errors.New("calibrate: the result has no answered closed-loop point (replay sweep --concurrency 1,2,4,8)")
	}
	slices.SortFunc(c.Points, func(a, b CalibrationPoint) int {
		return cmp.Or(cmp.Compare(a.Sessions, b.Sessions), cmp.Compare(a.EF, b.EF))
	})
	return c, nil
}

func calibrationPoint(p *load.Point) CalibrationPoint {
	return CalibrationPoint{Sessions: p.Sessions, EF: p.EF, Mean: p.Latency.Mean, P99: p.Latency.P99, QPS: p.QPS, Wire: p.Wire.Mean, Low: p.QPSLow, High: p.QPSHigh, Served: p.Served}
}

// What a server's overhead and factor are before anything was measured, and by what power of e they may be off: overhead is known worse.
const (
	priorOverhead       = float64(3 * time.Millisecond)
	priorOverheadSpread = 1.2
	priorFactor         = 1.2
	priorFactorSpread   = 0.35
)

// mostWire is the most that a hop is taken to last, in nanoseconds, of the time that no CPU explains: nodes of a cluster are near each other, and
// what a request waits for beside that (timestamps, throttled cores) does not grow with the nodes that it goes to.
const mostWire = float64(time.Millisecond)

// overheads works out what a request takes from latency at the fewest sessions = overhead + factor * engine, where the priors say how
// the two share it; then from queries per second at most: no node has more CPU than cores, which bounds how much of the overhead is CPU.
// Tasks of a request run side by side, as far as a node has cores for them.
func (c *Calibration) overheads(d *demand, ef int) (Overheads, error) {
	points := c.at(ef)
	if len(points) == 0 {
		return Overheads{}, fmt.Errorf("calibrate by %s: it has no point at ef %d", c.Name, ef)
	}
	first := points[0]
	if first.Sessions > 2 {
		return Overheads{}, fmt.Errorf("calibrate by %s: its lowest concurrency is %d sessions; a point with 1 session is needed", c.Name, first.Sessions)
	}
	lone := float64(first.Mean - min(d.known, first.Mean*9/10))
	requests := most(points) / d.nq
	factor := max(0.05, split(lone, float64(d.engine), d.factor(requests)))
	over := max(0, lone-factor*float64(d.engine))
	wait := d.wait()
	task := min(over/wait, d.task(requests, factor)) // more the cores have no time for
	if !saturated(points) {
		task = min(task, over/2/d.tasks())
	}
	if first.Wire > 0 {
		task = min(task, max(0, over-float64(first.Wire))/wait)
	}
	// One layout does not tell a task's own part from that of its segments: they share it as they are assumed to.
	o := assumedOverheads()
	alone := task / (1 + d.segmentsOfTask()*float64(o.Segment)/float64(o.Task))
	wire := min((over-task*wait)/max(1, d.hops), mostWire)
	return Overheads{
		Task: time.Duration(alone), Segment: time.Duration(alone * float64(o.Segment) / float64(o.Task)), Chunk: chunkCost, Factor: factor,
		Wire: time.Duration(wire), Delay: time.Duration(over - task*wait - wire*max(1, d.hops)),
		From: fmt.Sprintf("%s: %v at %d session(s), max %.0f queries/s", c.Name, first.Mean.Round(10*time.Microsecond), first.Sessions, most(points)),
	}, nil
}

// at are the points of one ef, or those that do not tell.
func (c *Calibration) at(ef int) (list []CalibrationPoint) {
	for _, p := range c.Points {
		if p.EF == ef || p.EF == 0 {
			list = append(list, p)
		}
	}
	return list
}

func most(points []CalibrationPoint) (qps float64) {
	for _, p := range points {
		qps = max(qps, p.QPS)
	}
	return qps
}

// saturated reports whether cores can be taken to be at work all the time: twice the sessions did not give a fifth more queries.
func saturated(points []CalibrationPoint) bool {
	last := points[len(points)-1]
	return slices.ContainsFunc(points[:len(points)-1], func(p CalibrationPoint) bool { return 2*p.Sessions <= last.Sessions && p.QPS*1.2 >= last.QPS })
}

// split finds the factor for which overhead and factor together are the least surprising, of all pairs that make the latency.
func split(lone, engine, limit float64) float64 {
	best, factor := math.Inf(1), min(priorFactor, limit)
	for f := 0.2; f <= 10; f *= 1.01 {
		over := lone - f*engine
		if over < 0.01*lone || f > limit {
			continue
		}
		a, b := math.Log(over/priorOverhead)/priorOverheadSpread, math.Log(f/priorFactor)/priorFactorSpread
		if s := a*a + b*b; s < best {
			best, factor = s, f
		}
	}
	return factor
}
