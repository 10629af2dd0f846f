package whatif

import (
	"math"
	"runtime"
	"time"

	"kitescope/replay/load"
	"kitescope/replay/simulate"
)

// account is what one request costs the present cluster, as its own processes told at one load of a live run (load.Served). Times are in
// nanoseconds of a request, all query nodes together.
type account struct {
	cpu             float64 // of query nodes, without what they use anyway
	rate            float64 // requests in a second
	sealed, growing kernels
	consistency     float64 // what a request waits until shards have consumed up to its timestamp
	// front is the CPU of all else that a request needs, of proxies and, where all runs on one machine, of the client and of all others; it has
	// so many cores.
	front, cores float64
}

// kernels are how long the segments of a request are searched, one after the other; Milvus tells it within bounds. Zero is unknown.
type kernels struct{ low, high float64 }

// phases that the account is made of, as inspect/latency calls them.
const (
	phaseSealed, phaseGrowing = "kernel_sealed", "kernel_growing"
	phaseConsistency          = "consistency_wait"
	roleQueryNode             = "querynode"
	roleProxy                 = "proxy"
)

// accountOf reads what a cluster's processes told at a load. limits are the cores of its query nodes, by id, here those of the machine that asked.
// It is nil where they did not tell what query nodes used.
func accountOf(s *load.Served, limits map[int64]float64, here int) *account {
	if s == nil || !(s.Requests > 0) || s.Took <= 0 {
		return nil
	}
	a := &account{rate: s.Requests / s.Took.Seconds()}
	var others, proxies, proxyCores, idle, nodeCores float64
	nodes, all := 0, true
	for i := range s.Processes {
		p := &s.Processes[i]
		all = all && p.Here
		each := max(0, float64(p.CPU)-max(0, p.Idle)*float64(s.Took)) / s.Requests
		limit, serves := limits[p.Node]
		if serves = serves && p.Role == roleQueryNode; serves {
			a.cpu += each
			nodes++
			nodeCores += limit
			continue
		}
		others, idle = others+each, idle+max(0, p.Idle)
		if p.Role == roleProxy {
			proxies, proxyCores = proxies+each, proxyCores+p.Cores
		}
	}
	if nodes < len(limits) || a.cpu <= 0 {
		return nil
	}
	a.front, a.cores = proxies, proxyCores
	if all && here > 0 {
		// What query nodes leave of the machine is for all others, and no less than a part of it.
		a.front = others + float64(s.Client)/s.Requests
		a.cores = max(float64(here)-min(nodeCores, float64(here))-idle, float64(here)/4)
	}
	a.sealed, a.growing = kernelsOf(s.Find(phaseSealed)), kernelsOf(s.Find(phaseGrowing))
	if p := s.Find(phaseConsistency); p != nil {
		a.consistency = float64(p.Wait)
	}
	return a
}

func kernelsOf(p *load.Phase) (k kernels) {
	if p == nil {
		return k
	}
	for _, n := range p.Nodes {
		k.low += n.Calls * float64(n.Low)
		k.high += n.Calls * float64(n.High)
	}
	return k
}

// share is one way in which the CPU of a request can be split: sealed segments take factor times what they take the engine, growing ones so much in
// all, and the rest is overhead.
type share struct {
	factor, growing, overhead float64
	perSegment                float64 // the share of the overhead that segments have
	surprise                  float64
}

// How far things may be off before they were measured, by what power of e: what tasks and segments take beside kernels, and kernels of growing segments.
const (
	taskSpread    = 0.35
	segmentSpread = 0.7
	growingSpread = 0.5
	// callsSpread is how far off what calls take is where it was measured: with no rows, in another minute.
	callsSpread = 0.12
	// likely is how much more surprising than the best a split may be to be among those that could be true: nine in ten, of two unknowns (chi-squared).
	likely = 4.6
)

// splits are all splits of an account's CPU that could be true, the likeliest first, the others in no order; none if the account makes no sense, with what calls cost.
func (d *demand) splits(a *account, c *calls) []share {
	var sealed, growing, chunks, tasks, segments float64
	free := 1.0
	for i := range d.nodes {
		n := &d.nodes[i]
		sealed, growing, chunks = sealed+n.cpu-n.growing, growing+n.growing, chunks+n.known
		tasks, segments = tasks+n.calls(1), segments+n.segments
		if n.cores > 0 && n.largest > 0 {
			free = max(free, min(n.cpu/n.largest, 2*math.Ceil(n.cores))/n.cores)
		}
	}
	task, segment := c.task*d.warmed(a, c.warm), c.segment
	prior := share{factor: priorFactor, growing: priorFactor*growing + chunks}
	best := share{surprise: math.Inf(1)}
	var all []share
	for _, factor := range around(priorFactor, sealed > 0, 1.02) {
		for _, grows := range around(prior.growing, growing > 0, 1.04) {
			s := share{factor: factor, growing: grows, overhead: a.cpu - factor*sealed - grows}
			if s.overhead < 0.02*a.cpu {
				continue
			}
			if c.measured {
				s.perSegment, s.surprise = c.split(s.overhead, tasks*task, segments)
			} else {
				s.perSegment, s.surprise = splitOverhead(s.overhead, tasks*task, segments*segment)
			}
			if sealed > 0 {
				s.surprise += square(math.Log(factor/priorFactor) / priorFactorSpread)
			}
			if growing > 0 {
				s.surprise += square(math.Log(grows/prior.growing) / growingSpread)
			}
			s.surprise += a.stretched(factor*sealed+grows+s.perSegment*s.overhead, 1.3*free) // a segment is timed with what calling it takes
			if s.surprise < best.surprise {
				best = s
			}
			all = append(all, s)
		}
	}
	if math.IsInf(best.surprise, 1) {
		return nil
	}
	list := []share{best}
	for _, s := range all {
		if s.surprise <= best.surprise+likely {
			list = append(list, s)
		}
	}
	return list
}

// splitOverhead finds the share that segments have of an overhead, of all shares the least surprising.
func splitOverhead(overhead, tasks, segments float64) (share, surprise float64) {
	surprise = math.Inf(1)
	for s := 0.02; s < 0.99; s += 0.02 {
		x := square(math.Log(overhead*(1-s)/max(tasks, 1))/taskSpread) + square(math.Log(overhead*s/max(segments, 1))/segmentSpread)
		if x < surprise {
			share, surprise = s, x
		}
	}
	return share, surprise
}

// warmed is how much of a task's own CPU was left at that load, on average, as calls came one after the other.
func (d *demand) warmed(a *account, warm float64) float64 {
	sum, calls := 0.0, 0.0
	for i := range d.nodes {
		n := &d.nodes[i]
		if come := (n.passed + n.leads) * a.rate; come > 0 {
			sum += n.calls(simulate.Warmth(warm, 1/come))
			calls += n.calls(1)
		}
	}
	if calls == 0 {
		return 1
	}
	return sum / calls
}

// around are values about a likely one, from a tenth to ten times, in steps of a factor; one 0 if there is nothing to find.
func around(likely float64, there bool, step float64) (list []float64) {
	if !there || likely <= 0 {
		return []float64{0}
	}
	for f := 0.1; f <= 10; f *= step {
		list = append(list, f*likely)
	}
	return list
}

// stretched is how surprising it is that kernels of so much CPU last as long as Milvus says they do: as long or longer, as threads share the cores,
// up to free times without surprise.
func (a *account) stretched(cpu, free float64) float64 {
	const (
		shorter = 0.1 // a kernel does not last shorter than its CPU
		longer  = 0.3
	)
	low, high := a.sealed.low+a.growing.low, a.sealed.high+a.growing.high
	switch {
	case high <= 0 || cpu <= 0:
		return 0
	case high < cpu:
		return square(math.Log(high/cpu) / shorter)
	case low > free*cpu:
		return square(math.Log(low/cpu/free) / longer)
	}
	return 0
}

func square(x float64) float64 { return x * x }

// machineCores are those of the machine that the live run was made on; of one that does not say, this one's.
func machineCores(cores int) int {
	if cores > 0 {
		return cores
	}
	return runtime.NumCPU()
}

// overheads of one split.
func (d *demand) overheads(a *account, c *calls, s share) Overheads {
	var tasks, segments, growing float64
	for i := range d.nodes {
		tasks += d.nodes[i].calls(1)
		segments += d.nodes[i].segments
		growing += d.nodes[i].growing
	}
	o := Overheads{Factor: s.factor, Warm: c.warm, Front: time.Duration(a.front / simulate.Warmth(c.frontWarm, 1/a.rate)), FrontCores: a.cores, FrontWarm: c.frontWarm}
	if o.Factor == 0 {
		o.Factor = priorFactor
	}
	if tasks > 0 {
		o.Task = time.Duration(s.overhead * (1 - s.perSegment) / tasks / d.warmed(a, c.warm))
	}
	if segments > 0 {
		o.Segment = time.Duration(s.overhead * s.perSegment / segments)
	}
	if growing > 0 {
		o.Growing = s.growing / growing
	}
	return o
}

// views are the ways in which an account can be read that matter most for what a change gives: the likeliest first, then those with the dearest and the
// cheapest kernels, growing segments and overheads, and with more and less of the overhead in tasks.
func (d *demand) views(a *account, c *calls) []Overheads {
	list := d.splits(a, c)
	if len(list) == 0 {
		return nil
	}
	views := []Overheads{d.overheads(a, c, list[0])}
	for _, of := range []func(s *share) float64{
		func(s *share) float64 { return s.factor }, func(s *share) float64 { return s.growing }, func(s *share) float64 { return s.overhead },
	} {
		least, most := &list[0], &list[0]
		for i := range list {
			if of(&list[i]) < of(least) {
				least = &list[i]
			}
			if of(&list[i]) > of(most) {
				most = &list[i]
			}
		}
		if least != most {
			views = append(views, d.overheads(a, c, *least), d.overheads(a, c, *most))
		}
	}
	for _, by := range []float64{math.Exp(-taskSpread), math.Exp(taskSpread)} {
		s := list[0]
		s.perSegment = max(0, 1-by*(1-s.perSegment))
		views = append(views, d.overheads(a, c, s))
	}
	return views
}
