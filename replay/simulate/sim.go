package simulate

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"kitescope/replay/schedule"
)

// never is later than all that happens.
var never = math.Inf(1)

const (
	// workBits are those of a task's number that say which work it is; the others are the request.
	workBits = 24
	// afterRefusal is how long, in seconds, a session waits at least before it asks again.
	afterRefusal = 0.001
	// checkEvery is how many events pass between looks at the context.
	checkEvery = 1 << 14
)

// request is one that is under way.
type request struct {
	begun  float64
	ends   float64 // when what was done so far is back at the client
	share  float64 // of its cost, to all segments' mean
	left   int32   // tasks
	asked  int32
	fan    int32
	failed bool
}

// sim is one part in one window.
type sim struct {
	plan     *plan
	index    int // of the part and window, as in tally.windows
	part     *part
	random   *rand.Rand
	tally    *tally
	stats    *window
	nodes    []node
	race     *race
	requests []request
	free     []int32
	flying   int // requests under way
	pending  int // tasks under way
	turns    []int32
	toLeader line
	toWorker line
	proxies  []float64 // when each is free, in turn
	proxy    int
	proxied  float64 // seconds, since the warm-up
	// last is when a request came, came how far apart they come.
	last, came float64
	sessions   []float64 // when each asks again: a heap
	arrival    float64
	oneWay     float64
	end        float64
	warm       bool
	noise      func(sigma float64) float64
}

func newSim(p *plan, partIndex, windowIndex int, t *tally) *sim {
	pt := &p.parts[partIndex]
	seed := rand.NewPCG(p.load.Seed, uint64(partIndex)<<8|uint64(windowIndex)|1<<63)
	s := &sim{
		plan: p, index: partIndex*p.windows + windowIndex, part: pt, tally: t, stats: &t.windows[partIndex*p.windows+windowIndex],
		random: rand.New(seed), //nolint:gosec // a simulation is to be repeated, not secret
		race:   newRace(len(pt.nodes)), nodes: make([]node, len(pt.nodes)), turns: make([]int32, len(pt.asked)),
		oneWay: p.cluster.Wire.Seconds() / 2, end: p.warm + p.length, arrival: never,
	}
	for i, n := range pt.nodes {
		of := &p.cluster.Nodes[n]
		s.nodes[i] = node{queue: schedule.NewQueue(of.Read), cores: of.Cores(), quota: quotaOf(of)}
		if s.nodes[i].quota != nil {
			s.nodes[i].cores = of.Read.Cores
		}
	}
	if p.proxied() {
		s.proxies = make([]float64, p.servers())
	}
	s.noise = func(sigma float64) float64 {
		if sigma == 0 {
			return 1
		}
		return math.Exp(sigma*s.random.NormFloat64() - sigma*sigma/2)
	}
	if p.exponential {
		s.noise = func(float64) float64 { return s.random.ExpFloat64() }
	}
	if p.load.Rate > 0 {
		s.arrival = s.random.ExpFloat64() / (p.load.Rate * pt.share)
	}
	// Sessions begin over the warm-up's first part, not all in one moment.
	for i := range p.load.Sessions {
		s.sessions = append(s.sessions, float64(i)/float64(p.load.Sessions)*min(p.warm/4, 1))
	}
	return s
}

// run simulates until the window ends, the bound of requests is reached, or too much waits.
func (s *sim) run(ctx context.Context) error {
	s.warm = s.plan.warm > 0
	if !s.warm {
		s.beginCounting(0)
	}
	for events := 0; ; events++ {
		if events%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n, at := s.race.first()
		kind := 0
		if t := s.nextArrival(); t < at {
			kind, at = 1, t
		}
		if t := s.toLeader.first(); t < at {
			kind, at = 2, t
		}
		if t := s.toWorker.first(); t < at {
			kind, at = 3, t
		}
		if s.warm && at >= s.plan.warm {
			s.beginCounting(s.plan.warm)
		}
		if at >= s.end || s.stopped() {
			s.finish(min(at, s.end))
			return nil
		}
		switch kind {
		case 0:
			s.ended(n, at)
		case 1:
			s.arrive(at)
		case 2:
			s.atLeader(s.toLeader.pop())
		default:
			s.atWorker(s.toWorker.pop())
		}
	}
}

func (s *sim) stopped() bool {
	if s.pending > MostTasks {
		s.stats.overrun = true
	}
	return s.stats.overrun
}

func (s *sim) nextArrival() float64 {
	if len(s.sessions) > 0 {
		return s.sessions[0]
	}
	return s.arrival
}

// arrive begins a request, at the proxy.
func (s *sim) arrive(at float64) {
	if s.plan.load.Rate > 0 {
		s.arrival = at + s.random.ExpFloat64()/(s.plan.load.Rate*s.part.share)
	} else {
		s.popSession()
	}
	s.flying++
	a := 0
	if len(s.part.asked) > 1 {
		a = s.choose(s.random.Float64())
	}
	fans := len(s.part.asked[a].replicas)
	f := s.turns[a]
	if s.turns[a]++; int(s.turns[a]) == fans {
		s.turns[a] = 0
	}
	r := request{begun: at, ends: at, share: 1, asked: int32(a), fan: f, left: int32(len(s.part.asked[a].replicas[f].works))}
	if sigma := s.part.asked[a].sigma; sigma > 0 {
		r.share = math.Exp(sigma*s.random.NormFloat64() - sigma*sigma/2)
	}
	i := s.keep(r)
	if len(s.proxies) > 0 {
		s.came += (at - s.last - s.came) * recent
		s.last = at
		cpu := s.plan.atProxy() * Warmth(cmp.Or(s.plan.cluster.Warm, 1), s.came)
		begin := max(at, s.proxies[s.proxy])
		s.proxied += cpu
		at = begin + cpu
		s.proxies[s.proxy] = at
		s.proxy = (s.proxy + 1) % len(s.proxies)
	}
	h := hop{at: at + s.plan.cluster.Delay.Seconds() + s.oneWay, request: i}
	if h.at == r.begun {
		s.atLeader(h)
		return
	}
	s.toLeader.push(h)
}

// choose finds the collection that a share of the requests belongs to.
func (s *sim) choose(x float64) int {
	low, high := 0, len(s.part.asked)-1
	for low < high {
		if mid := (low + high) / 2; s.part.asked[mid].upTo > x {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func (s *sim) keep(r request) int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.requests[i] = r
		return i
	}
	s.requests = append(s.requests, r)
	return int32(len(s.requests) - 1)
}

// fan is what a request becomes.
func (s *sim) fan(request int32) *fan {
	r := &s.requests[request]
	return &s.part.asked[r.asked].replicas[r.fan]
}

func (s *sim) atLeader(h hop) {
	f := s.fan(h.request)
	for i := range f.leads {
		h.lead = int32(i)
		l := &f.leads[i]
		if l.seconds <= 0 {
			s.led(h, l)
			continue
		}
		n := &s.nodes[l.node]
		n.advance(h.at)
		n.begin(n.leading(h), l.seconds*n.call(l.warm), 1)
		s.race.set(l.node, n.next())
	}
}

// led gives out the tasks of a shard.
func (s *sim) led(h hop, l *lead) {
	if len(l.workers) > 0 {
		if s.oneWay > 0 {
			s.toWorker.push(hop{h.at + s.oneWay, h.request, h.lead})
		} else {
			s.submit(h, l.workers)
		}
	}
	s.submit(h, l.own)
}

func (s *sim) atWorker(h hop) { s.submit(h, s.fan(h.request).leads[h.lead].workers) }

// submit gives tasks to the schedulers of their nodes.
func (s *sim) submit(h hop, works []int32) {
	for _, w := range works {
		work := &s.part.works[w]
		n := &s.nodes[work.node]
		n.advance(h.at)
		s.pending++
		task := schedule.Task{Number: int(h.request)<<workBits | int(w), NQ: s.plan.nq, K: s.plan.load.K, Group: work.group, Segments: work.segments}
		if cost := work.outside; cost > 0 {
			n.begin(n.early(task, work), cost*n.call(work.warm), 1)
		} else {
			s.queue(n, task, work, h.at)
		}
		s.race.set(int32(work.node), n.next())
	}
}

// queue gives a task to the scheduler of its node.
func (s *sim) queue(n *node, task schedule.Task, w *work, at float64) {
	task.Arrived = seconds(at)
	if err := n.queue.Push(task); err != nil {
		i := int32(task.Number >> workBits)
		s.requests[i].failed = true
		s.back(i, w, at)
		return
	}
	s.start(n, at)
}

// start runs what the scheduler lets run.
func (s *sim) start(n *node, at float64) {
	for g, ok := n.queue.Next(); ok; g, ok = n.queue.Next() {
		work := &s.part.works[g.Tasks[0].Number&(1<<workBits-1)]
		n.tasks += int64(len(g.Tasks))
		var share float64
		for i := range g.Tasks {
			n.waits += at - g.Tasks[i].Arrived.Seconds()
			share += s.requests[g.Tasks[i].Number>>workBits].share
		}
		if share /= float64(len(g.Tasks)); len(g.Tasks) > 1 {
			n.grouped += int64(len(g.Tasks))
		}
		t := n.group(g, work)
		if work.jobs != nil {
			t.share = share
			t.left = int32(len(work.jobs) * g.NQ)
			t.serial = true
			n.begin(t, work.serial, 1)
			continue
		}
		vectors := float64(g.NQ)
		lone, cpu := work.cost(vectors)
		share *= s.noise(work.sigma(vectors))
		lone, cpu = work.serial+share*lone, work.serial+share*cpu
		width := 1.0
		if lone > 0 {
			width = cpu / lone
		}
		n.begin(t, lone, width)
	}
}

// ended takes off what ended on a node.
func (s *sim) ended(i int32, at float64) {
	n := &s.nodes[i]
	n.advance(at)
	t := n.end()
	if t.leads {
		h := hop{at, t.lead.request, t.lead.lead}
		n.free = append(n.free, t)
		s.led(h, &s.fan(h.request).leads[h.lead])
		s.race.set(i, n.next())
		return
	}
	if t.early {
		task, w := t.task, t.work
		n.free = append(n.free, t)
		s.queue(n, task, w, at)
		s.race.set(i, n.next())
		return
	}
	if t.work.jobs == nil || s.jobEnded(n, t) {
		g := t.group
		for j := range g.Tasks {
			s.back(int32(g.Tasks[j].Number>>workBits), t.work, at)
		}
		n.queue.Done(g)
		t.group = nil
		n.free = append(n.free, t)
		s.start(n, at)
	}
	s.race.set(i, n.next())
}

// jobEnded begins further segments of a task in the place of one that ended, and reports whether that was the last.
func (s *sim) jobEnded(n *node, t *running) bool {
	w := t.work
	more := 1
	if t.serial {
		t.serial = false
		more = int(w.parallel)
	} else {
		t.left--
	}
	vectors := t.group.NQ
	for ; more > 0 && int(t.begun) < len(w.jobs)*vectors; more-- {
		j := &w.jobs[int(t.begun)/vectors]
		cost := j.mean * t.share * s.noise(j.sigma)
		if int(t.begun)%vectors == 0 {
			cost += j.fixed
		} else {
			cost *= j.batch
		}
		t.begun++
		n.begin(t, cost, 1)
	}
	return t.left == 0
}

// back takes a task's answer to the request.
func (s *sim) back(i int32, w *work, at float64) {
	s.pending--
	r := &s.requests[i]
	hops := 1.0
	if w.worker {
		hops = 2
	}
	r.ends = max(r.ends, at+hops*s.oneWay)
	if r.left--; r.left > 0 {
		return
	}
	s.flying--
	s.count(r)
	if s.plan.load.Sessions > 0 {
		again := r.ends + s.plan.load.Think.Seconds()
		if r.failed {
			again = max(again, at+afterRefusal)
		}
		s.pushSession(again)
	}
	s.free = append(s.free, i)
}
