package simulate

import (
	"cmp"
	"context"
	"math"
	"time"

	"kitescope/replay/schedule"
)

// Most is what a cluster can do at most, from sums of costs alone: what simulations are held against.
type Most struct {
	// QPS is vectors per second if no requests are merged, Merged if all are, into the largest groups that the schedulers
	// make: the truth is between them. Both are infinite if nothing costs anything.
	QPS, Merged float64
	// Bound is what is the limit of QPS: "node querynode-3's cores", "scheduler of querynode-3", "proxies".
	Bound string
	// Alone is how long a request takes, on average, while there is no other.
	Alone time.Duration
}

// Capacity works out what a cluster can do at most with requests of nq vectors, at its collections' weights. An error is of
// what is not a cluster, or the context's.
func Capacity(ctx context.Context, c *Cluster, nq int) (Most, error) {
	l := Load{Rate: 1, NQ: nq, Duration: time.Second}
	if err := check(c, l); err != nil {
		return Most{}, err
	}
	p, err := newPlan(ctx, c, l, false)
	if err != nil {
		return Most{}, err
	}
	return p.capacity, nil
}

// need is what one request of the load takes of a node: seconds of its cores, and of its places to run.
type need struct{ cpu, places float64 }

func (p *plan) most() Most {
	m := Most{QPS: math.Inf(1), Merged: math.Inf(1)}
	nq := float64(p.nq)
	if p.proxied() {
		m.QPS = nq * p.cluster.Proxies / p.cluster.Proxy.Seconds() / cmp.Or(p.cluster.Warm, 1)
		m.Merged, m.Bound = m.QPS, "proxies"
	}
	var alone float64
	for i := range p.parts {
		pt := &p.parts[i]
		single, merged := make([]need, len(pt.nodes)), make([]need, len(pt.nodes))
		alone += p.add(pt, single, merged)
		for j, node := range pt.nodes {
			n := &p.cluster.Nodes[node]
			if most := nq * n.Cores() / single[j].cpu; most < m.QPS {
				m.QPS, m.Bound = most, "node "+n.name()+"'s cores"
			}
			if most := nq / single[j].places; most < m.QPS {
				m.QPS, m.Bound = most, "scheduler of "+n.name()
			}
			m.Merged = min(m.Merged, max(nq*n.Cores()/max(single[j].cpu, 0), nq*n.Cores()/merged[j].cpu))
			m.Merged = min(m.Merged, max(nq/single[j].places, nq/merged[j].places))
		}
	}
	m.Merged = max(m.Merged, m.QPS)
	m.Alone = seconds(alone)
	return m
}

// add sums up what requests need of a part's nodes, and returns how long one takes alone, times the part's share.
func (p *plan) add(pt *part, single, merged []need) float64 {
	var alone, before float64
	for i := range pt.asked {
		a := &pt.asked[i]
		share := pt.share * (min(a.upTo, 1) - before) / float64(len(a.replicas))
		before = a.upTo
		for _, f := range a.replicas {
			var longest, leading float64
			for k := range f.leads {
				l := &f.leads[k]
				leading = max(leading, l.seconds)
				single[l.node].cpu += share * l.seconds * l.warm
				merged[l.node].cpu += share * l.seconds * l.warm
			}
			for _, index := range f.works {
				w := &pt.works[index]
				knobs := &p.cluster.Nodes[pt.nodes[w.node]].Read
				nq := float64(p.nq)
				lone, cpu := w.cost(nq)
				places := w.places(knobs, p.nq)
				single[w.node].cpu += share * (w.outside*w.warm + w.serial + cpu)
				single[w.node].places += share * (w.serial + lone) / places
				hops := 1.0
				if w.worker {
					hops = 2
				}
				longest = max(longest, w.outside+w.serial+lone+hops*p.cluster.Wire.Seconds())

				group := float64(largest(knobs, p.nq))
				lone, cpu = w.cost(group)
				merged[w.node].cpu += share * (w.outside*w.warm + (w.serial+cpu)*nq/group)
				merged[w.node].places += share * (w.serial + lone) * nq / group / places
			}
			longest += leading
			if p.proxied() {
				longest += p.atProxy()
			}
			alone += share * (longest + p.cluster.Delay.Seconds())
		}
	}
	return alone
}

// places is how many tasks like this one the scheduler lets run at once.
func (w *work) places(k *schedule.Knobs, nq int) float64 {
	places := float64(k.Concurrency())
	if estimate := k.Estimate(nq, w.segments); estimate > 0 {
		places = min(places, math.Floor(k.Cores/estimate+1e-6))
	}
	return max(1, places)
}

// seconds as a Duration.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(min(s*1e9, math.MaxInt64/2)))
}
