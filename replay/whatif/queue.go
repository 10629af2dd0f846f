package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Load is the load on a simulated cluster.
type Load struct {
	Rate     float64 // requests per second, arriving at random; or
	Sessions int     // concurrent sessions; each sends its next request after the response
	NQ, K    int     // vectors per request, results per vector
	Seed     uint64
	// Requests is the number of requests to simulate after the warm-up; 0 selects enough for stable figures.
	Requests int64
}

// Outcome is the performance of a simulated cluster.
type Outcome struct {
	QPS                 float64 // vectors per second
	Mean, P50, P95, P99 time.Duration
	Nodes               []NodeOutcome
	ProxyUse            float64
	Bound               string // the limit: "node querynode-3's cores", "proxies", "sessions", "the rate"
	Saturated           bool   // more requests arrive than the cluster can process
}

// NodeOutcome is the load of a node.
type NodeOutcome struct {
	ID       int64
	Name     string
	Use      float64 // share of its cores in use, 0 to 1
	Segments int
}

// cluster is the queueing model. A request passes the proxies, which take some CPU, and goes to one replica;
// replicas take turns. The leader of each shard takes the CPU of a call and searches its own segments. Each other
// node that has segments of the shard takes the CPU of a call and searches its segments. The cores of a node
// process all this first come, first served. The slowest part determines the end of the request. Times are in
// seconds.
type cluster struct {
	nodes    []server
	proxies  server // not simulated if it has 0 cores
	proxy    float64
	replicas [][]shard
	wait     float64 // time of a request during which no CPU of the cluster is busy
	spread   float64 // standard deviation of the cost of a query, relative to its mean
}

// server is a number of cores behind one queue.
type server struct {
	id       int64
	name     string
	cores    float64
	segments int
}

// shard is one channel of a replica. The leader's own part comes first, if it has one.
type shard struct {
	leader int
	call   float64
	parts  []part
}

// part is the work of a node for a shard. Each job runs on one core.
type part struct {
	node int
	jobs []float64
}

// pack packs the segments of a node into jobs, at most one for each core: the largest segment first, each into
// the shortest job. This approximates threads that take the next segment when they finish one.
func pack(costs []float64, cores float64) []float64 {
	jobs := make([]float64, min(len(costs), int(math.Ceil(cores))))
	slices.SortFunc(costs, func(a, b float64) int { return cmp.Compare(b, a) })
	for _, c := range costs {
		jobs[0] += c
		siftDown(jobs, func(a, b float64) bool { return a < b })
	}
	return jobs
}

// cpu returns the CPU that a request of nq vectors takes on each node, averaged over replicas. All vectors share
// one call.
func (c *cluster) cpu(nq int) []float64 {
	list := make([]float64, len(c.nodes))
	share := 1 / float64(max(1, len(c.replicas)))
	for _, replica := range c.replicas {
		for i := range replica {
			s := &replica[i]
			list[s.leader] += share * s.call
			for _, p := range s.parts {
				if p.node != s.leader {
					list[p.node] += share * s.call
				}
				for _, j := range p.jobs {
					list[p.node] += share * j * float64(nq)
				}
			}
		}
	}
	return list
}

// capacity returns the maximum number of requests per second and the index of the node that limits it; -1 is the
// proxies.
func (c *cluster) capacity(nq int) (maxRate float64, limit int) {
	maxRate, limit = math.Inf(1), -1
	if c.proxies.cores > 0 && c.proxy > 0 {
		maxRate = c.proxies.cores / c.proxy
	}
	for i, need := range c.cpu(nq) {
		if m := c.nodes[i].cores / need; m < maxRate {
			maxRate, limit = m, i
		}
	}
	return maxRate, limit
}

// jobs returns the number of jobs of a request, in the replica where it is largest.
func (c *cluster) jobs() int64 {
	most := 1
	for _, replica := range c.replicas {
		n := 0
		for i := range replica {
			n++
			for _, p := range replica[i].parts {
				n += 1 + len(p.jobs)
			}
		}
		most = max(most, n)
	}
	return int64(most)
}

// Bounds of a simulation: concurrent jobs of all sessions, and total jobs.
const (
	maxConcurrentJobs = 2_000_000
	maxJobs           = 10_000_000
)

// stage is the stage of a request at an event.
type stage uint8

const (
	arrives  stage = iota // at the proxies
	leads                 // at the leaders of its shards
	called                // at a node other than the leader
	searches              // a node begins the segments of a part
	answered
)

type event struct {
	at          float64
	request     int32
	shard, part int32
	stage       stage
}

// station is the state of a server in a simulation.
type station struct {
	free  []float64 // time at which each core is free, a heap
	speed float64   // per core; a fraction of a core is a slower core
	busy  float64
}

func newStation(s *server) station {
	n := max(1, math.Ceil(s.cores))
	return station{free: make([]float64, int(n)), speed: s.cores / n}
}

// serve queues a job that arrives at the given time and returns the time of its end.
func (s *station) serve(at, seconds float64) float64 {
	ends := max(at, s.free[0]) + seconds/s.speed
	s.free[0] = ends
	siftDown(s.free, func(a, b float64) bool { return a < b })
	s.busy += seconds
	return ends
}

// inFlight is a request in progress.
type inFlight struct {
	begun, ends float64
	cost        float64 // of this query, relative to the mean
	left        int32   // parts left
	replica     int32
}

// simulation is the state of a simulated cluster.
type simulation struct {
	*cluster
	load        Load
	random      *rand.Rand
	events      []event // a heap
	stations    []station
	front       station
	requests    []inFlight
	unused      []int32
	nextReplica int32
	active      int
	sigma       float64
}

// simulate simulates a load. It is deterministic: equal arguments give equal outcomes. It returns an error if the
// load or the cluster cannot be simulated.
func (c *cluster) simulate(ctx context.Context, l Load) (*Outcome, error) {
	l.NQ = max(1, l.NQ)
	switch {
	case (l.Rate > 0) == (l.Sessions > 0):
		return nil, errors.New("simulate a load: it needs either a rate or sessions")
	case len(c.replicas) == 0:
		return nil, errors.New("no node serves any segment")
	case int64(l.Sessions)*c.jobs() > maxConcurrentJobs:
		return nil,
			fmt.Errorf("simulate a load: %d sessions with %d jobs per request exceed %d jobs at once: use fewer "+
				"sessions, or a rate", l.Sessions, c.jobs(), maxConcurrentJobs)
	}
	if l.Requests == 0 {
		l.Requests = max(int64(1000+4*l.Sessions), min(10_000+10*int64(l.Sessions), maxJobs/c.jobs()))
	}
	s := &simulation{cluster: c, load: l, random: rand.New(rand.NewPCG(l.Seed, 1))} //nolint:gosec // not secret
	s.sigma = math.Sqrt(math.Log1p(c.spread * c.spread))
	for i := range c.nodes {
		s.stations = append(s.stations, newStation(&c.nodes[i]))
	}
	if c.proxies.cores > 0 {
		s.front = newStation(&c.proxies)
	}
	if l.Rate > 0 {
		s.push(event{at: s.random.ExpFloat64() / l.Rate})
	}
	for i := range l.Sessions {
		s.push(event{at: float64(i) * 1e-4})
	}
	return s.run(ctx)
}

func (s *simulation) run(ctx context.Context) (*Outcome, error) {
	warmUp := s.load.Requests/5 + int64(s.load.Sessions)
	var latencies []float64
	began, now := 0.0, 0.0
	overrun := false
	for n := 0; int64(len(latencies)) < s.load.Requests && !overrun; n++ {
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := s.pop()
		now = e.at
		if e.stage != answered {
			s.step(e)
			overrun = s.load.Rate > 0 && int64(s.active)*s.jobs() > maxConcurrentJobs
			continue
		}
		r := &s.requests[e.request]
		s.active--
		s.unused = append(s.unused, e.request)
		if s.load.Sessions > 0 {
			s.push(event{at: now})
		}
		switch {
		case warmUp > 1:
			warmUp--
		case warmUp == 1:
			warmUp--
			began = now
			for i := range s.stations {
				s.stations[i].busy = 0
			}
			s.front.busy = 0
		default:
			latencies = append(latencies, now-r.begun)
		}
	}
	return s.outcome(latencies, now-began, overrun), nil
}

// step advances a request by one stage.
func (s *simulation) step(e event) {
	if e.stage == arrives {
		s.arrive(e.at)
		return
	}
	r := &s.requests[e.request]
	shards := s.replicas[r.replica]
	switch e.stage {
	case leads:
		for i := range shards {
			s.lead(e, i)
		}
	case called:
		x := &shards[e.shard]
		e.at, e.stage = s.stations[x.parts[e.part].node].serve(e.at, x.call), searches
		s.push(e)
	default:
		p := &shards[e.shard].parts[e.part]
		for range s.load.NQ {
			for _, job := range p.jobs {
				r.ends = max(r.ends, s.stations[p.node].serve(e.at, job*r.cost))
			}
		}
		s.finishPart(e.request)
	}
}

// lead schedules the parts of a shard.
func (s *simulation) lead(e event, i int) {
	x := &s.replicas[s.requests[e.request].replica][i]
	at := s.stations[x.leader].serve(e.at, x.call)
	if len(x.parts) == 0 {
		r := &s.requests[e.request]
		r.ends = max(r.ends, at)
		s.finishPart(e.request)
	}
	for j, p := range x.parts {
		next := event{at: at, request: e.request, shard: int32(i), part: int32(j), stage: called}
		if p.node == x.leader {
			next.stage = searches
		}
		s.push(next)
	}
}

// finishPart marks a part of a request as done, and schedules the response after the last one.
func (s *simulation) finishPart(request int32) {
	r := &s.requests[request]
	if r.left--; r.left == 0 {
		s.push(event{at: r.ends + s.wait, request: request, stage: answered})
	}
}

func (s *simulation) arrive(at float64) {
	if s.load.Rate > 0 {
		s.push(event{at: at + s.random.ExpFloat64()/s.load.Rate})
	}
	r := inFlight{begun: at, ends: at, cost: 1, replica: s.nextReplica}
	s.nextReplica = (s.nextReplica + 1) % int32(len(s.replicas))
	for i := range s.replicas[r.replica] {
		r.left += int32(max(1, len(s.replicas[r.replica][i].parts)))
	}
	if s.sigma > 0 {
		r.cost = math.Exp(s.sigma*s.random.NormFloat64() - s.sigma*s.sigma/2)
	}
	s.active++
	var id int32
	if n := len(s.unused); n > 0 {
		id, s.unused = s.unused[n-1], s.unused[:n-1]
		s.requests[id] = r
	} else {
		id = int32(len(s.requests))
		s.requests = append(s.requests, r)
	}
	if s.proxies.cores > 0 && s.proxy > 0 {
		at = s.front.serve(at, s.proxy)
	}
	s.push(event{at: at, request: id, stage: leads})
}

func (s *simulation) outcome(latencies []float64, took float64, overrun bool) *Outcome {
	took = max(took, 1e-9)
	o := &Outcome{QPS: float64(len(latencies)*s.load.NQ) / took}
	if len(latencies) > 0 {
		mean, _ := meanAndSD(latencies)
		slices.Sort(latencies)
		at := func(q float64) time.Duration { return seconds(latencies[int(q*float64(len(latencies)-1))]) }
		o.Mean, o.P50, o.P95, o.P99 = seconds(mean), at(0.5), at(0.95), at(0.99)
	}
	most, limit := s.capacity(s.load.NQ)
	o.Saturated = s.load.Rate > 0 && (overrun || s.load.Rate > most)
	o.Bound = "sessions"
	if s.load.Rate > 0 {
		o.Bound = "the rate"
	}
	const full = 0.95
	if s.proxies.cores > 0 {
		o.ProxyUse = min(1, s.front.busy/took/s.proxies.cores)
	}
	if o.ProxyUse >= full || o.Saturated && limit < 0 {
		o.Bound = "proxies"
	}
	busiest := full
	for i := range s.nodes {
		n := &s.nodes[i]
		x := NodeOutcome{ID: n.id, Name: n.name, Use: min(1, s.stations[i].busy/took/n.cores), Segments: n.segments}
		if x.Use >= busiest || o.Saturated && i == limit {
			busiest, o.Bound = x.Use, "node "+n.name+"'s cores"
		}
		o.Nodes = append(o.Nodes, x)
	}
	return o
}

func meanAndSD(list []float64) (mean, sd float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		sd += (x - mean) * (x - mean) / float64(len(list))
	}
	return mean, math.Sqrt(sd)
}

// seconds converts s seconds to a Duration.
func seconds(s float64) time.Duration { return time.Duration(math.Round(min(s*1e9, math.MaxInt64/2))) }

func (s *simulation) push(e event) {
	s.events = append(s.events, e)
	i := len(s.events) - 1
	for up := (i - 1) / 2; i > 0 && s.events[i].at < s.events[up].at; up = (i - 1) / 2 {
		s.events[i], s.events[up] = s.events[up], s.events[i]
		i = up
	}
}

func (s *simulation) pop() event {
	e, last := s.events[0], len(s.events)-1
	s.events[0] = s.events[last]
	s.events = s.events[:last]
	siftDown(s.events, func(a, b event) bool { return a.at < b.at })
	return e
}

// siftDown restores the order of a heap whose first element increased.
func siftDown[T any](heap []T, less func(a, b T) bool) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if less(heap[child], heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
