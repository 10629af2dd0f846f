package latency

import (
	"math"

	"kitescope/inspect/model"
)

// leader describes the calls of proxies to the leader of a shard: the pieces of a mean call.
type leader struct {
	index                              int // index in readings.nodes
	n                                  float64
	consistency, workers, reduce, rest piece
	curve                              curve
	// of its calls: first to sealed segments of any node, second to its own growing segments
	workersWait slowestCall
	means       []float64
	room        float64 // time of a call that remains for its workers
}

func (l *leader) ms() float64 { return l.consistency.ms + l.workers.ms + l.reduce.ms + l.rest.ms }

func (l *leader) pieces() []piece { return []piece{l.consistency, l.workers, l.reduce, l.rest} }

// fanOut describes the calls of leaders to workers. Metrics do not show which leader called a worker about sealed
// segments, so each leader is assumed to call all workers. The leader itself searches growing segments.
type fanOut struct {
	workers []worker
	index   map[int]int // index in workers, by index in readings.nodes
	sealed  slowestCall // of the calls of a leader on sealed segments
	n       float64     // number of these calls
	curve   curve       // distribution of the slowest of these calls
}

func newFanOut(r *readings, leaders float64) *fanOut {
	f := &fanOut{index: map[int]int{}}
	for i := range r.nodes {
		if w := workerOf(i, &r.nodes[i]); w.sealed.n+w.growing.n > 0 {
			f.index[i] = len(f.workers)
			f.workers = append(f.workers, w)
		}
	}
	if leaders <= 0 {
		return f
	}
	list := make([]calls, len(f.workers))
	for i, w := range f.workers {
		list[i] = calls{w.sealed.n / leaders, w.sealed.curve}
		f.n += list[i].n
	}
	var o overlay // not shared, because the curve keeps its grid
	o.fill(list)
	f.sealed, f.curve = o.wait(), o.slowestCurve()
	return f
}

// slowestCurve returns the distribution of the slowest of independent calls. If a request makes less than one call on
// average, the distribution covers only the requests that make one.
func (o *overlay) slowestCurve() curve {
	if o.totalCalls <= 0 {
		return curve{}
	}
	c := curve{x: o.x, s: make([]float64, len(o.x))}
	for i := range o.x {
		c.s[i] = (1 - o.exceedances[i].none) / min(1, o.totalCalls)
	}
	c.s[0], c.s[len(o.x)-1] = 1, 0
	return c
}

// leaderOf splits the calls of a node that leads shards. It uses o as a work buffer.
func (f *fanOut) leaderOf(at int, n *nodeReading, o *overlay) leader {
	const common = 0.25 // shards of a request mostly wait for consistency together, so the variance is smaller
	l := leader{index: at, n: n.leader.Count, curve: n.leader.curve()}
	ms, _ := n.leader.mean()
	consistency, reduce := n.consistency.curve(), n.shards.curve()
	l.consistency = piece{min(consistency.mean(), ms), common * consistency.variance()}
	l.reduce = piece{min(reduce.mean(), ms-l.consistency.ms), reduce.variance()}
	l.room = ms - l.consistency.ms - l.reduce.ms
	list := []calls{{min(1, f.n), f.curve}, {}}
	if i, ok := f.index[at]; ok && l.n > 0 {
		w := f.workers[i].growing
		list[1] = calls{min(1, w.n/l.n), w.curve}
	}
	o.fill(list)
	l.workersWait, l.means = o.wait(), []float64{list[0].curve.mean(), list[1].curve.mean()}
	l.workers.variance = max(l.curve.variance()-consistency.variance()-l.reduce.variance, 0)
	return l
}

// leadersOf splits the calls of all nodes that lead shards, and returns the total number of calls.
func leadersOf(r *readings) (list []leader, f *fanOut, all float64) {
	for i := range r.nodes {
		all += r.nodes[i].leader.Count
	}
	f = newFanOut(r, all)
	var o overlay
	for i := range r.nodes {
		if n := &r.nodes[i]; n.leader.known() {
			list = append(list, f.leaderOf(i, n, &o))
		}
	}
	f.computeWaits(list)
	return list, f, all
}

// computeWaits computes how long each leader waits for its workers. The total equals that of independent calls.
// Leaders whose shards are on slow nodes wait longer than others, but no leader waits longer than its slowest
// worker takes.
func (f *fanOut) computeWaits(list []leader) {
	longest := f.longest()
	waits := func(more float64) (sum float64) {
		for i := range list {
			sum += list[i].n * list[i].waits(more, longest)
		}
		return sum
	}
	total := 0.0
	for i := range list {
		total += list[i].n * list[i].workersWait.independent
	}
	low, high := 0.0, longest
	for range 50 {
		if more := (low + high) / 2; waits(more) < total {
			low = more
		} else {
			high = more
		}
	}
	for i := range list {
		l := &list[i]
		l.workers.ms = l.waits(high, longest)
		l.rest.ms = l.room - l.workers.ms
	}
}

// waits returns how long a leader waits for its workers, in milliseconds, if they take longer than independent
// workers by more. The wait is at most longest, unless independent workers take longer, and at most l.room.
func (l *leader) waits(more, longest float64) float64 {
	return min(l.room, max(l.workersWait.independent, min(l.workersWait.independent+more, longest)))
}

// longest returns how long a leader waits for the slowest worker alone.
func (f *fanOut) longest() float64 {
	most := 0.0
	for k, t := range f.sealed.means {
		if f.workers[k].sealed.n > 0 {
			most = max(most, t)
		}
	}
	return most
}

// newNodePhase returns the measurements of a process for a phase.
func newNodePhase(role string, node model.NodeID, d dist, requests, seconds, waited float64) NodePhase {
	p := NodePhase{
		Role: role, Node: node, Waited: waited, P50: d.quantile(0.5), P99: d.quantile(0.99),
		PerSecond: perSecond(d.Count, seconds),
	}
	p.Ms, p.Mean = d.mean()
	if requests > 0 {
		p.Calls = d.Count / requests
	}
	return p
}

func perSecond(n, seconds float64) Value {
	if seconds <= 0 || math.IsNaN(n) {
		return Value{}
	}
	return Value{n / seconds, true}
}
