package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

// Overheads holds the cost of a request on a server in addition to the searches that the engine makes here.
type Overheads struct {
	// Task is the CPU of a call: one call for each shard leader, and one for each other node that has segments of
	// the shard.
	Task time.Duration
	// Segment is the CPU of each segment in addition to comparing vectors. Chunk is the CPU of each chunk of a
	// growing segment (Layout.ChunkRows).
	Segment, Chunk time.Duration
	// Factor is the ratio of the server's CPU for comparing vectors to the engine's CPU on this machine.
	Factor float64
	// Delay is the time of a request during which no CPU of the cluster is busy.
	Delay time.Duration
	// Front is the CPU of a request outside of query nodes: of proxies and, if they share the machine, of the
	// client and all other processes. FrontCores is the number of cores for it.
	Front      time.Duration `doc:",omitzero"`
	FrontCores float64       `doc:",omitzero"`
	From       string        // source of the figures

	// workFactor is a further delay, as a multiple of the work of a request.
	workFactor float64
}

// Overheads of Milvus 2.3.5 (docs/evidence/replay.md). A call takes 0.7 to 1.4 ms, and less if there are more
// calls. indexedFactor corrects the ratio of the server's CPU to the engine's, which is larger for graphs and
// lists than for comparing rows one by one: the engine measures the same rows repeatedly and finds them in a
// cache.
const (
	assumedTask    = 900 * time.Microsecond
	assumedSegment = 200 * time.Microsecond
	assumedChunk   = 20 * time.Microsecond
	assumedFactor  = 1.2
	assumedDelay   = time.Millisecond
	indexedFactor  = 2.5
)

func assumedOverheads() Overheads {
	return Overheads{
		Task: assumedTask, Segment: assumedSegment, Chunk: assumedChunk, Factor: assumedFactor, Delay: assumedDelay,
		From: "assumed",
	}
}

// assumedEstimates returns the assumed overheads, followed by variations that cover their uncertainty.
func assumedEstimates() []Overheads {
	list := []Overheads{assumedOverheads()}
	for _, by := range []struct{ calls, factor float64 }{{0.3, 1}, {3, 1}, {1, 0.75}, {1, 1.4}} {
		o := assumedOverheads()
		o.Task, o.Segment = scaled(o.Task, by.calls), scaled(o.Segment, by.calls)
		o.Factor *= by.factor
		list = append(list, o)
	}
	return list
}

func scaled(d time.Duration, by float64) time.Duration {
	return time.Duration(min(float64(d)*by, maxCost))
}

func (o *Overheads) text() string {
	fine := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("%v CPU per call, %v per segment, %.2g times the engine's CPU to compare vectors",
		fine(o.Task), o.Segment.Round(time.Microsecond), o.Factor)
	if o.Front > 0 {
		text += fmt.Sprintf(", %v outside of query nodes on %.2g cores", fine(o.Front), o.FrontCores)
	}
	if o.Delay > 0 {
		text += fmt.Sprintf(", %v waiting", fine(o.Delay))
	}
	if o.workFactor > 0 {
		text += fmt.Sprintf(", plus %.0f%% waiting in proportion to the work", 100*o.workFactor)
	}
	return text
}

// search returns the CPU that a server takes to search segment i for one vector, in seconds.
func (p *pricedVariant) search(i int, o *Overheads) float64 {
	s := &p.Segments[i]
	compare := o.Factor * p.costs[i].Mean.Seconds()
	switch {
	case s.State == replay.Indexed && (s.Index.Type == typeHNSW || s.Index.Type == typeIVF):
		compare *= indexedFactor
	case s.State == replay.Growing && p.ChunkRows > 0:
		compare += math.Ceil(float64(rowsOf(s, p.typicalRows()))/float64(p.ChunkRows)) * o.Chunk.Seconds()
	}
	return min(compare, maxCost/1e9)
}

// cluster returns the queueing model of a layout. It omits segments that no node serves; the notes count them.
func (p *pricedVariant) cluster(o *Overheads) (*cluster, []string) {
	c := &cluster{proxies: server{cores: o.FrontCores}, proxy: o.Front.Seconds(), wait: o.Delay.Seconds()}
	var notes []string
	at, guessed := map[int64]int{}, 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		at[n.ID] = len(c.nodes)
		if n.Cores <= 0 {
			guessed++
		}
		c.nodes = append(c.nodes,
			server{id: n.ID, name: cmp.Or(n.Name, strconv.FormatInt(n.ID, 10)), cores: coresOf(n)})
	}
	if guessed > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d nodes do not report their cores: assuming %d; set them with cores=N",
				guessed, len(p.Nodes), assumedCores))
	}
	unserved, mean, sd := 0, 0.0, 0.0
	for r := range p.Replicas {
		shards, n := p.shards(c, r, at, o)
		unserved += n
		if len(shards) > 0 {
			c.replicas = append(c.replicas, shards)
		}
	}
	if unserved > 0 {
		notes = append(notes, fmt.Sprintf("%d segments are not served by any node: they cost nothing here", unserved))
	}
	for i := range p.costs {
		mean, sd = mean+p.costs[i].Mean.Seconds(), sd+p.costs[i].SD.Seconds()
	}
	if mean > 0 {
		c.spread = sd / mean
	}
	if o.workFactor > 0 && len(c.replicas) > 0 {
		c.wait += o.workFactor * c.soloTime()
	}
	return c, notes
}

// shards returns the shards of a replica by channel, and the number of its unserved segments.
func (p *pricedVariant) shards(c *cluster, replica int, at map[int64]int, o *Overheads) (list []shard, unserved int) {
	type place struct{ channel, node int }
	channels, costs := map[string]int{}, map[place][]float64{}
	for i := range p.Segments {
		s := &p.Segments[i]
		node, known := at[s.On[replica]]
		if !known {
			unserved++
			continue
		}
		n, seen := channels[s.Channel]
		if !seen {
			n = len(list)
			channels[s.Channel] = n
			leader, ok := at[p.Replicas[replica].Leaders[s.Channel]]
			if !ok {
				leader = node
			}
			list = append(list, shard{leader: leader, call: o.Task.Seconds()})
		}
		c.nodes[node].segments++
		k := place{n, node}
		costs[k] = append(costs[k], p.search(i, o)+o.Segment.Seconds())
	}
	for _, k := range slices.SortedFunc(maps.Keys(costs), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.node, b.node))
	}) {
		list[k.channel].parts = append(list[k.channel].parts, part{k.node, pack(costs[k], c.nodes[k.node].cores)})
	}
	return list, unserved
}

// soloTime returns the mean time of a request without concurrent requests, in seconds, without the wait.
func (c *cluster) soloTime() float64 {
	alone := *c
	alone.wait, alone.spread = 0, 0
	o, err := alone.simulate(context.Background(), Load{Sessions: 1, Requests: int64(10 * len(c.replicas))})
	if err != nil {
		return 0
	}
	return o.Mean.Seconds()
}

// Calibration is a live run of the present cluster.
type Calibration struct {
	Name   string // of the target
	Cores  int    // of the machine of the client; 0 is unknown
	Points []load.Point
}

// Calibrate selects the closed-loop points of a live run or sweep of the present cluster. It returns an error if
// the result is from the engine or has no such point.
func Calibrate(base *replay.Result) (*Calibration, error) {
	if base.Setup.Target == "" || base.Setup.Target == "engine" {
		return nil,
			errors.New("calibrate: the result is from the engine; a run against a live target is needed (replay run " +
				"--target)")
	}
	c := &Calibration{Name: base.Setup.Target, Cores: base.Setup.Machine.Cores}
	for _, p := range base.Points {
		if p.Rate == 0 && !p.Timed && p.Sessions > 0 && p.Latency.Count > 0 && p.QPS > 0 && p.Latency.Mean > 0 {
			c.Points = append(c.Points, p)
		}
	}
	if len(c.Points) == 0 {
		return nil,
			errors.New("calibrate: the result has no answered closed-loop point (replay sweep --concurrency 1,2,4,8)")
	}
	slices.SortStableFunc(c.Points, func(a, b load.Point) int { return cmp.Compare(a.Sessions, b.Sessions) })
	return c, nil
}

// requestCost is the cost of a request at one load according to the metrics of the processes, in seconds of CPU.
type requestCost struct {
	cpu         float64 // of query nodes, without their CPU when idle
	consistency float64 // wait until shards have consumed up to the timestamp of the request, in seconds
	front       float64 // of proxies; also of the client and all other processes if all share one machine
	cores       float64 // cores for front
}

const (
	roleQueryNode    = "querynode"
	roleProxy        = "proxy"
	phaseConsistency = "consistency_wait" // name of the phase in inspect/latency
)

// requestCostOf reads the metrics of a load. limits holds the cores of each query node by id, and machine is the
// number of cores of the client's machine. It returns nil if a query node did not report its CPU.
func requestCostOf(s *load.ServerUsage, limits map[int64]float64, machine int) *requestCost {
	if s == nil || !(s.Requests > 0) || s.Took <= 0 {
		return nil
	}
	a := &requestCost{}
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
		// The other processes share the cores that query nodes leave free, at least a quarter of the machine.
		a.front = others + s.Client.Seconds()/s.Requests
		a.cores = max(float64(machine)-min(nodeCores, float64(machine))-idle, float64(machine)/4)
	}
	if p := s.Find(phaseConsistency); p != nil {
		a.consistency = p.Wait.Seconds()
	}
	return a
}

// work is the load of a request on the present cluster, averaged over replicas: its calls, and the CPU of query
// nodes in seconds with the assumed overheads.
type work struct{ calls, search, segments float64 }

func (p *pricedVariant) work() work {
	o := assumedOverheads()
	c, _ := p.cluster(&o)
	var w work
	share := 1 / float64(max(1, len(c.replicas)))
	for _, replica := range c.replicas {
		for i := range replica {
			w.calls += share
			for _, part := range replica[i].parts {
				if part.node != replica[i].leader {
					w.calls += share
				}
			}
		}
	}
	for i := range p.Segments {
		for _, n := range p.Segments[i].On {
			if n != 0 {
				w.search += share * p.search(i, &o)
				w.segments += share * o.Segment.Seconds()
			}
		}
	}
	return w
}

// estimates returns possible splits of the CPU of a load, the most likely first. Calls take the assumed CPU, but at
// most half of the total. The rest is divided between comparing vectors and segments in the assumed proportion.
// The other estimates double and halve the smaller part, and give calls half as much and 1.5 times as much.
func (c *Calibration) estimates(w *work, a *requestCost) (list []Overheads) {
	taken := w.calls * assumedTask.Seconds()
	likely := min(1, 0.5*a.cpu/taken)
	for _, by := range []struct{ calls, smaller float64 }{{1, 1}, {1, 2}, {1, 0.5}, {0.5, 1}, {1.5, 1}} {
		calls := likely * by.calls
		rest := a.cpu - calls*taken
		search := rest * w.search / max(1e-12, w.search+w.segments)
		if segments := rest - search; search < segments {
			search = min(rest, by.smaller*search)
		} else {
			search = rest - min(rest, by.smaller*segments)
		}
		factor := search / max(1e-12, w.search)
		o := Overheads{
			Task: scaled(assumedTask, calls), Factor: assumedFactor * factor, Chunk: scaled(assumedChunk, factor),
			Front: seconds(a.front), FrontCores: a.cores, From: c.Name + ", by the metrics of its processes",
		}
		if w.segments > 0 {
			o.Segment = scaled(assumedSegment, (rest-search)/w.segments)
		}
		list = append(list, o)
	}
	return list
}

// estimatesWithoutMetrics returns readings of a cluster without metrics of its processes. It scales all assumed
// overheads by one factor. If doubling the sessions added at most 20 % of queries, the busiest node is at its capacity.
// Otherwise a lone request takes at most its measured time.
func (c *Calibration) estimatesWithoutMetrics(p *pricedVariant, points []load.Point, nq int) []Overheads {
	o := assumedOverheads()
	x, _ := p.cluster(&o)
	first, last := points[0], points[len(points)-1]
	best := slices.MaxFunc(points, func(a, b load.Point) int { return cmp.Compare(a.QPS, b.QPS) }).QPS
	by := min(1, first.Latency.Mean.Seconds()/max(1e-9, x.soloTime()))
	if slices.ContainsFunc(points, func(p load.Point) bool {
		return 2*p.Sessions <= last.Sessions && p.QPS*1.2 >= last.QPS
	}) {
		able, _ := x.capacity(nq)
		by = able * float64(nq) / best
	}
	var list []Overheads
	for _, y := range []struct{ calls, compare float64 }{{1, 1}, {1.5, 0.7}, {0.5, 1.3}} {
		list = append(list, Overheads{
			Task: scaled(o.Task, by*y.calls), Segment: scaled(o.Segment, by*y.calls),
			Chunk:  scaled(o.Chunk, by*y.compare),
			Factor: o.Factor * by * y.compare,
			From: fmt.Sprintf("%s: %v at %d session(s), max %.0f queries/s",
				c.Name, first.Latency.Mean.Round(10*time.Microsecond), first.Sessions, best),
		})
	}
	return list
}

// calibratedLoad holds the estimates of a load of the live run.
type calibratedLoad struct {
	sessions  int // 0 without a live run
	estimates []Overheads
	live      CheckPoint
	// low and high are bounds of the measured queries per second.
	low, high float64
}

// calibrate returns the readings of each load of the live run at the given ef. It returns an error if there is no
// such point, or if the lowest has more than 2 sessions.
func (c *Calibration) calibrate(ctx context.Context, base *pricedVariant, l Load, ef int) ([]calibratedLoad, error) {
	points := slices.DeleteFunc(slices.Clone(c.Points), func(p load.Point) bool { return p.EF != ef && p.EF != 0 })
	if len(points) == 0 {
		return nil, fmt.Errorf("calibrate by %s: it has no point at ef %d", c.Name, ef)
	}
	if points[0].Sessions > 2 {
		return nil,
			fmt.Errorf("calibrate by %s: its lowest concurrency is %d sessions; a point with 1 session is needed",
				c.Name, points[0].Sessions)
	}
	limits := map[int64]float64{}
	for i := range base.Nodes {
		limits[base.Nodes[i].ID] = coresOf(&base.Nodes[i])
	}
	w := base.work()
	var list []calibratedLoad
	consistency := 0.0
	for i, p := range points {
		x := calibratedLoad{sessions: p.Sessions, low: p.QPSLow, high: p.QPSHigh}
		switch a := requestCostOf(p.Served, limits, cmp.Or(c.Cores, runtime.NumCPU())); {
		case a != nil:
			x.estimates = c.estimates(&w, a)
			consistency = cmp.Or(consistency, a.consistency)
		case i > 0:
			x.estimates = slices.Clone(list[i-1].estimates)
		default:
			x.estimates = c.estimatesWithoutMetrics(base, points, l.NQ)
		}
		list = append(list, x)
	}
	l = Load{NQ: l.NQ, K: l.K, Seed: l.Seed, Sessions: points[0].Sessions}
	if err := setDelays(ctx, base, l, list, points[0].Latency.Mean, consistency); err != nil {
		return nil, err
	}
	for i, p := range points {
		l.Sessions = p.Sessions
		o, err := simulateIn(ctx, base, &list[i].estimates[0], l)
		if err != nil {
			return nil, err
		}
		list[i].live = CheckPoint{
			Sessions: p.Sessions, MeasuredQPS: p.QPS, PredictedQPS: o.QPS, MeasuredMean: p.Latency.Mean,
			PredictedMean: o.Mean,
			MeasuredP99:   p.Latency.P99, PredictedP99: o.P99,
		}
	}
	return list, nil
}

// setDelays distributes the time of a lone request that the simulated work does not explain. The wait for consistency
// is constant. The rest may be constant, e.g. a wait for a timestamp, or proportional to the work, e.g. the wait of
// a throttled CPU. Every reading makes half of the rest proportional. Two readings are added: one makes the rest
// constant, the other makes it proportional.
func setDelays(
	ctx context.Context, base *pricedVariant, l Load, list []calibratedLoad, mean time.Duration, consistency float64,
) error {
	o := list[0].estimates[0]
	o.Delay = 0
	out, err := simulateIn(ctx, base, &o, l)
	if err != nil {
		return err
	}
	rest := max(0, (mean - out.Mean).Seconds())
	stays := min(rest, consistency)
	cluster, _ := base.cluster(&o)
	lone := max(1e-9, cluster.soloTime())
	with := func(o Overheads, follows float64) Overheads {
		o.Delay = seconds(stays + (1-follows)*(rest-stays))
		o.workFactor = follows * (rest - stays) / lone
		return o
	}
	for i := range list {
		x := &list[i]
		stay, follow := with(x.estimates[0], 0), with(x.estimates[0], 1)
		for j := range x.estimates {
			x.estimates[j] = with(x.estimates[j], 0.5)
		}
		x.estimates = append(x.estimates, stay, follow)
	}
	return nil
}

func simulateIn(ctx context.Context, p *pricedVariant, o *Overheads, l Load) (*Outcome, error) {
	c, _ := p.cluster(o)
	return c.simulate(ctx, l)
}
