package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

// Calibration is a live run of the present cluster.
type Calibration struct {
	Name   string // of the target
	Cores  int    // of the machine that the client ran on; 0 unknown
	Points []CalibrationPoint
	// Calls are loads of the same queries with a filter that no row passes (replay.Result.Calls): what is left of a request then is calls.
	Calls []CalibrationPoint
}

// CalibrationPoint is one load of the run; EF 0 is unknown.
type CalibrationPoint struct {
	Sessions, EF int
	Mean, P99    time.Duration
	QPS          float64
	// Low and High bound QPS, 95%; both 0 unknown.
	Low, High float64
	Served    *load.Served // nil if nobody asked the processes
}

// Calibrate takes the loads of a live run or sweep of the present cluster. It returns an error if the result is of the engine, or has no closed
// loop in it.
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
	return CalibrationPoint{
		Sessions: p.Sessions, EF: p.EF, Mean: p.Latency.Mean, P99: p.Latency.P99, QPS: p.QPS, Low: p.QPSLow, High: p.QPSHigh, Served: p.Served,
	}
}

// at are the points of one ef, or those whose ef is unknown.
func (c *Calibration) at(ef int) (list []CalibrationPoint) {
	for _, p := range c.Points {
		if p.EF == ef || p.EF == 0 {
			list = append(list, p)
		}
	}
	return list
}

// account is what a request cost the cluster at one load, by the metrics of its processes. Times are in seconds of CPU.
type account struct {
	cpu         float64 // of query nodes, without what they use anyway
	rate        float64 // requests per second
	consistency float64 // what a request waits until shards have consumed up to its timestamp
	searched    float64 // how long segments were searched, at least
	front       float64 // of proxies; of the client and all others too if all share one machine
	cores       float64 // that these have
}

const (
	roleQueryNode    = "querynode"
	roleProxy        = "proxy"
	phaseSealed      = "kernel_sealed" // as inspect/latency calls them
	phaseGrowing     = "kernel_growing"
	phaseConsistency = "consistency_wait"
)

// accountOf reads the metrics of a load. limits are the cores of query nodes by id, machine those of the machine that the client ran on. It
// returns nil where a query node did not report its CPU.
func accountOf(s *load.Served, limits map[int64]float64, machine int) *account {
	if s == nil || !(s.Requests > 0) || s.Took <= 0 {
		return nil
	}
	a := &account{rate: s.Requests / s.Took.Seconds()}
	var others, proxies, idle, nodeCores float64
	nodes, here := 0, true
	for i := range s.Processes {
		p := &s.Processes[i]
		here = here && p.Here
		each := max(0, p.CPU.Seconds()-max(0, p.Idle)*s.Took.Seconds()) / s.Requests
		if limit, serves := limits[p.Node]; serves && p.Role == roleQueryNode {
			a.cpu += each
			nodes++
			nodeCores += limit
			continue
		}
		others, idle = others+each, idle+max(0, p.Idle)
		if p.Role == roleProxy {
			proxies, a.cores = proxies+each, a.cores+p.Cores
		}
	}
	if nodes < len(limits) || a.cpu <= 0 {
		return nil
	}
	a.front = proxies
	if here && machine > 0 {
		// All others share what query nodes leave of the machine, at least a quarter.
		a.front = others + s.Client.Seconds()/s.Requests
		a.cores = max(float64(machine)-min(nodeCores, float64(machine))-idle, float64(machine)/4)
	}
	if p := s.Find(phaseConsistency); p != nil {
		a.consistency = p.Wait.Seconds()
	}
	for _, name := range []string{phaseSealed, phaseGrowing} {
		if p := s.Find(name); p != nil {
			for _, n := range p.Nodes {
				a.searched += n.Calls * n.Low.Seconds()
			}
		}
	}
	return a
}

// accounts are those of the points whose processes were asked, nil for the others.
func (c *Calibration) accounts(p *priced, points []CalibrationPoint) []*account {
	limits := map[int64]float64{}
	for i := range p.Nodes {
		limits[p.Nodes[i].ID] = coresOf(&p.Nodes[i])
	}
	list := make([]*account, len(points))
	for i := range points {
		list[i] = accountOf(points[i].Served, limits, cmp.Or(c.Cores, runtime.NumCPU()))
	}
	return list
}

// calls are what a lone call takes, on query nodes and outside of them, and the part of that which is left where calls come in quick succession.
type calls struct {
	task, warm       float64
	front, frontWarm float64
	// measured says that the cluster was asked what no row matches. searched: it was, and searched all the same.
	measured, searched bool
}

// calls reads the loads in which no row matched: what they take falls with the rate in a straight line over warmth.
func (c *Calibration) calls(p *priced, w *work, searched float64) calls {
	k := calls{task: assumedTask.Seconds(), warm: assumedWarm, frontWarm: assumedWarm}
	var x, y, frontX, frontY []float64
	for _, a := range c.accounts(p, c.Calls) {
		if a == nil {
			continue
		}
		// Milvus calls no kernel where no row passes (ExecPlanNodeVisitor.cpp, bitset_holder.all()). One that does tells nothing of calls.
		if a.searched > max(1e-3, searched/2) {
			k.searched = true
			return k
		}
		x, y = append(x, warmth(0, w.gap(a.rate))), append(y, a.cpu/w.calls)
		frontX, frontY = append(frontX, warmth(0, 1/a.rate)), append(frontY, a.front)
	}
	if len(y) == 0 {
		return k
	}
	k.measured = true
	k.task, k.warm = fitWarmth(x, y)
	k.front, k.frontWarm = fitWarmth(frontX, frontY)
	return k
}

// fitWarmth finds what a lone call takes and the part that is left without pauses. One load alone does not tell them apart.
func fitWarmth(x, y []float64) (lone, warm float64) {
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		n, sx, sy, sxx, sxy = n+1, sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	warm = assumedWarm
	if det := n*sxx - sx*sx; n > 1 && det > 1e-3 {
		left, falls := (sxx*sy-sx*sxy)/det, (n*sxy-sx*sy)/det
		if left+falls > 0 {
			warm = min(1, max(0.05, left/(left+falls)))
		}
	}
	shape := 0.0
	for i := range x {
		shape += warm + (1-warm)*x[i]
	}
	return sy / shape, warm
}

// How far off what calls take may be where it was measured, with queries that matched nothing at another time, and where it is assumed.
const (
	measuredCallsError = 0.12
	assumedCallsError  = 0.35
)

// readings are the ways to read what the cluster reported at a point: the likeliest first. What a request takes beyond calls goes to comparing
// vectors and to segments as it is assumed to, all by one factor; in the others the smaller of the two is doubled and halved, and calls take more and less.
func (c *Calibration) readings(w *work, k calls, a *account) (list []Overheads) {
	taken := w.calls * k.task * warmth(k.warm, w.gap(a.rate))
	front := k.front
	if !k.measured {
		front = a.front / warmth(k.frontWarm, 1/a.rate)
	}
	add := func(calls, smaller float64) {
		o := Overheads{
			Task: seconds(k.task * calls), Warm: k.warm, Front: seconds(front), FrontCores: a.cores, FrontWarm: k.frontWarm,
			From: fmt.Sprintf("%s, by the metrics of its processes at %.3g requests per second", c.Name, a.rate),
		}
		rest := a.cpu - calls*taken
		if rest < 0.1*a.cpu {
			return
		}
		search := rest * w.search / max(1e-12, w.search+w.segments)
		if segments := rest - search; search < segments {
			search = min(rest, smaller*search)
		} else {
			search = rest - min(rest, smaller*segments)
		}
		by := search / max(1e-12, w.search)
		o.Factor, o.Chunk = assumedFactor*by, scaled(assumedChunk, by)
		if w.segments > 0 {
			o.Segment = scaled(assumedSegment, (rest-search)/w.segments)
		}
		list = append(list, o)
	}
	off := measuredCallsError
	calls := 1.0
	if !k.measured {
		off = assumedCallsError
		calls = min(1, 0.5*a.cpu/taken)
	}
	add(calls, 1)
	add(calls, 2)
	add(calls, 0.5)
	add(calls*math.Exp(-off), 1)
	add(calls*math.Exp(off), 1)
	return list
}

// withoutMetrics are readings of a cluster whose processes were not asked. Where twice the sessions gave hardly more queries the busiest node had no
// time left, which tells how much CPU a request takes; else a lone request cannot have taken longer than it did.
func (c *Calibration) withoutMetrics(p *priced, w *work, points []CalibrationPoint, nq int) []Overheads {
	o := assumedOverheads()
	o.Delay = 0
	first, last := points[0], points[len(points)-1]
	best := last.QPS
	for _, point := range points {
		best = max(best, point.QPS)
	}
	saturated := slices.ContainsFunc(points, func(p CalibrationPoint) bool { return 2*p.Sessions <= last.Sessions && p.QPS*1.2 >= last.QPS })
	by := 1.0
	for _, warm := range []float64{assumedWarm, 1} { // calls that get no cheaper, where a lone request took less than cheaper ones would
		o.Warm = warm
		x, _ := p.cluster(&o)
		fits := first.Mean.Seconds() / max(1e-9, x.lone())
		if by = min(1, fits); !saturated {
			break
		}
		able, _ := x.capacity(nq, warmth(warm, w.gap(best/float64(nq))))
		if by = able * float64(nq) / best; by <= fits {
			break
		}
	}
	from := fmt.Sprintf("%s: %v at %d session(s), max %.0f queries/s", c.Name, first.Mean.Round(10*time.Microsecond), first.Sessions, best)
	var list []Overheads
	for _, y := range []struct{ calls, compare float64 }{{1, 1}, {1.5, 0.7}, {0.5, 1.3}} {
		r := o
		r.Task, r.Segment, r.Chunk, r.Factor = scaled(o.Task, by*y.calls), scaled(o.Segment, by*y.calls), scaled(o.Chunk, by*y.compare), o.Factor*by*y.compare
		r.From = from
		list = append(list, r)
	}
	return list
}

// calibrated are the readings at each point of the live run.
type calibrated struct {
	sessions int
	readings []Overheads
	live     CheckPoint
	low      float64 // of the measured queries per second
	high     float64
}

// calibrate reads a live run.
func (c *Calibration) calibrate(ctx context.Context, base *priced, l Load, ef int) (list []calibrated, notes []string, err error) {
	points := c.at(ef)
	if len(points) == 0 {
		return nil, nil, fmt.Errorf("calibrate by %s: it has no point at ef %d", c.Name, ef)
	}
	if points[0].Sessions > 2 {
		return nil, nil, fmt.Errorf("calibrate by %s: its lowest concurrency is %d sessions; a point with 1 session is needed", c.Name, points[0].Sessions)
	}
	w := base.work()
	accounts := c.accounts(base, points)
	known := slices.IndexFunc(accounts, func(a *account) bool { return a != nil })
	var k calls
	if known >= 0 {
		k = c.calls(base, &w, accounts[known].searched)
	}
	for i, p := range points {
		x := calibrated{sessions: p.Sessions, low: p.Low, high: p.High}
		if a := accounts[i]; a != nil {
			x.readings = c.readings(&w, k, a)
		}
		switch {
		case len(x.readings) > 0:
		case len(list) > 0:
			x.readings = list[len(list)-1].readings
		default:
			x.readings = c.withoutMetrics(base, &w, points, l.NQ)
		}
		x.readings = slices.Clone(x.readings)
		list = append(list, x)
	}
	consistency := 0.0
	if known >= 0 {
		consistency = accounts[known].consistency
	}
	if err := waits(ctx, base, l, list, points[0], consistency); err != nil {
		return nil, nil, err
	}
	for i, p := range points {
		o, err := simulateIn(ctx, base, &list[i].readings[0], Load{Sessions: p.Sessions, NQ: l.NQ, K: l.K, Seed: l.Seed})
		if err != nil {
			return nil, nil, err
		}
		list[i].live = CheckPoint{
			Sessions: p.Sessions, MeasuredQPS: p.QPS, PredictedQPS: o.QPS, MeasuredMean: p.Mean, PredictedMean: o.Mean, MeasuredP99: p.P99, PredictedP99: o.P99,
		}
	}
	switch {
	case k.searched:
		notes = append(notes, "where queries matched no row the cluster searched all the same: what calls cost is assumed")
	case known >= 0 && !k.measured:
		notes = append(notes, "the live run did not ask what no row matches: what calls cost is assumed")
	}
	return list, notes, nil
}

// waits gives readings what is left of a lone request when all that is known to be busy is simulated. The wait for consistency stays what it is. Of
// the rest nobody knows whether it stays, as the wait for a timestamp does, or goes with the work, as that of a throttled CPU: half of it does in
// all readings but two.
func waits(ctx context.Context, base *priced, l Load, list []calibrated, first CalibrationPoint, consistency float64) error {
	o := list[0].readings[0]
	o.Delay = 0
	out, err := simulateIn(ctx, base, &o, Load{Sessions: first.Sessions, NQ: l.NQ, K: l.K, Seed: l.Seed})
	if err != nil {
		return err
	}
	rest := max(0, first.Mean.Seconds()-out.Mean.Seconds())
	stays := min(rest, consistency)
	cluster, _ := base.cluster(&o)
	lone := max(1e-9, cluster.lone())
	with := func(o Overheads, follows float64) Overheads {
		o.Delay = seconds(stays + (1-follows)*(rest-stays))
		o.follows = follows * (rest - stays) / lone
		return o
	}
	for i := range list {
		x := &list[i]
		stay, follow := with(x.readings[0], 0), with(x.readings[0], 1)
		for j := range x.readings {
			x.readings[j] = with(x.readings[j], 0.5)
		}
		x.readings = append(x.readings, stay, follow)
	}
	return nil
}

func simulateIn(ctx context.Context, p *priced, o *Overheads, l Load) (*Outcome, error) {
	c, _ := p.cluster(o)
	return c.simulate(ctx, l)
}
