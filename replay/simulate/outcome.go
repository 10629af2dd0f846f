package simulate

import (
	"math"
	"time"
)

const (
	// student is the 97.5% quantile of Student's distribution for 20 batches.
	student = 2.093
	// full is the share of its time for which something has to be in use to be called the limit; often is that for which requests wait at a scheduler.
	full  = 0.95
	often = 0.5
	// backlog is the part of what arrived that may be left over at the end of a load that the cluster can do, lost the part that may be
	// refused; fewBacklog requests say nothing.
	backlog, lost, fewBacklog = 0.02, 0.01, 100
)

func (p *plan) outcome(t *tally) *Outcome {
	o := &Outcome{Nodes: p.nodes(t)}
	var seconds0 float64
	overrun := false
	for i := range t.windows {
		w := &t.windows[i]
		o.Requests += w.count
		o.Refused += w.failed
		overrun = overrun || w.overrun
		if w.length > 0 {
			o.QPS += float64(w.count) * float64(p.nq) / w.length / float64(p.windows)
			o.ProxyUse += min(1, w.proxied/w.length/float64(p.servers())) / float64(p.windows)
		}
		seconds0 += w.length / float64(len(p.parts))
	}
	o.Simulated = seconds(seconds0)
	p.latencies(o, t, overrun)
	o.Saturated = p.load.Rate > 0 && (overrun || p.left(t) || p.load.Rate*float64(p.nq) > p.capacity.Merged || refusesMuch(o))
	o.Bound = p.bound(o, t)
	return o
}

func refusesMuch(o *Outcome) bool { return float64(o.Refused) > lost*float64(o.Requests+o.Refused) }

// left reports whether more and more requests are under way.
func (p *plan) left(t *tally) bool {
	var more, arrived float64
	for i := range t.windows {
		more += float64(t.windows[i].after - t.windows[i].before)
		arrived += float64(t.windows[i].count+t.windows[i].failed) + float64(t.windows[i].after-t.windows[i].before)
	}
	return more > max(fewBacklog*float64(p.windows), backlog*arrived)
}

// latencies fills in what was measured of requests. Intervals are by batch means: of stretches of time each with a mean of its own, which lie about the
// true one. An overrun leaves batches empty, and intervals unknown.
func (p *plan) latencies(o *Outcome, t *tally, overrun bool) {
	if t.counted == 0 {
		return
	}
	all := make([]uint64, bars)
	counts := make([]uint64, bars)
	var total sum
	var rates, means, tails spreadOf
	for i := range t.batches {
		b := &t.batches[i]
		for j, n := range b.bars {
			counts[j] = uint64(n)
			all[j] += uint64(n)
		}
		total.add(b.sum.high, b.sum.low)
		rates.add(float64(b.count) * float64(p.nq) / t.batch)
		if b.count > 0 {
			means.add(b.sum.float() / float64(b.count))
			tails.add(quantile(counts, 0.99))
		}
	}
	n := float64(t.counted)
	mean := total.float() / n
	o.Mean, o.Min, o.Max = nanoseconds(mean), nanoseconds(float64(t.least)), nanoseconds(float64(t.greatest))
	o.SD = nanoseconds(math.Sqrt(max(0, t.squares.float()/n-mean*mean)))
	at := func(q float64) time.Duration {
		return max(o.Min, min(o.Max, nanoseconds(quantile(all, q))))
	}
	o.P50, o.P90, o.P95, o.P99, o.P999 = at(0.5), at(0.9), at(0.95), at(0.99), at(0.999)
	if overrun || means.n < batches {
		return
	}
	wide := rates.half()
	o.QPSLow, o.QPSHigh = max(0, o.QPS-wide), o.QPS+wide
	wide = means.half()
	o.MeanLow, o.MeanHigh = nanoseconds(max(0, mean-wide)), nanoseconds(mean+wide)
	wide = tails.half()
	o.P99Low, o.P99High = max(0, o.P99-nanoseconds(wide)), o.P99+nanoseconds(wide)
}

func nanoseconds(v float64) time.Duration { return time.Duration(math.Round(v)) }

// spreadOf are values' mean and squares.
type spreadOf struct{ n, mean, squares float64 }

func (s *spreadOf) add(v float64) {
	s.n++
	d := v - s.mean
	s.mean += d / s.n
	s.squares += d * (v - s.mean)
}

// half is half the 95% interval of the mean.
func (s *spreadOf) half() float64 {
	if s.n < 2 {
		return 0
	}
	return student * math.Sqrt(s.squares/(s.n-1)/s.n)
}

// nodes adds up what each node did, all windows together.
func (p *plan) nodes(t *tally) []NodeOutcome {
	out := make([]NodeOutcome, len(p.cluster.Nodes))
	for i := range out {
		out[i].ID, out[i].Name = p.cluster.Nodes[i].ID, p.cluster.Nodes[i].Name
	}
	for i := range p.cluster.Collections {
		for _, replica := range p.cluster.Collections[i].Replicas {
			for j := range replica {
				for _, s := range replica[j].Segments {
					out[s.Node].Segments++
				}
			}
		}
	}
	for i := range p.parts {
		for j, node := range p.parts[i].nodes {
			var sum use
			var length float64
			for w := range p.windows {
				win := &t.windows[i*p.windows+w]
				u := &win.nodes[j]
				length += win.length
				sum.busy += u.busy
				sum.ran += u.ran
				sum.waited += u.waited
				sum.waits += u.waits
				sum.tasks += u.tasks
				sum.grouped += u.grouped
			}
			n := &out[node]
			n.Tasks, n.Grouped = sum.tasks, sum.grouped
			if length > 0 {
				n.Use = sum.busy / length / p.cluster.Nodes[node].Cores()
				n.Running, n.Waiting = sum.ran/length, sum.waited/length
			}
			if sum.tasks > 0 {
				n.Wait = seconds(sum.waits / float64(sum.tasks))
			}
		}
	}
	return out
}

// bound names what is in use all the time: cores, then schedulers, then proxies; else the load itself is the limit.
func (p *plan) bound(o *Outcome, t *tally) string {
	busiest := 0
	for i := range o.Nodes {
		if o.Nodes[i].Use > o.Nodes[busiest].Use {
			busiest = i
		}
	}
	if o.Nodes[busiest].Use >= full {
		return "node " + p.cluster.Nodes[busiest].name() + "'s cores"
	}
	if o.ProxyUse >= full {
		return "proxies"
	}
	name, most := "", often
	for i := range p.parts {
		for j, node := range p.parts[i].nodes {
			var blocked, length float64
			for w := range p.windows {
				win := &t.windows[i*p.windows+w]
				blocked += win.nodes[j].blocked
				length += win.length
			}
			if length > 0 && blocked/length > most {
				name, most = p.cluster.Nodes[node].name(), blocked/length
			}
		}
	}
	switch {
	case name != "":
		return "scheduler of " + name
	case p.load.Sessions > 0:
		return "sessions"
	}
	return "the rate"
}
