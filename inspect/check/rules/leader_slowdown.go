package rules

import (
	"fmt"
	"math"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

const (
	// noticeableMs is the minimum slowdown of a search that a client notices, in milliseconds. noticeableShare is the
	// minimum as a share of the search.
	noticeableMs, noticeableShare = 5, 0.2
	// fewSearches is the minimum number of searches for a meaningful mean.
	fewSearches = 30
)

// addLeaderSlowdown adds the measured slowdown of searches by a node that leads too many shards to the finding: the
// time for its growing rows, and the share of its queue that these cause.
func addLeaderSlowdown(p *check.Pass, f *check.Finding, most *balance.Share) {
	b := p.Latency().Find("", latency.Search)
	if b == nil || b.Root == nil || b.Requests < fewSearches {
		return
	}
	parts := ledParts(b, most.Node)
	s := check.Slowdown{Collection: b.Collection, Request: b.Request, Mean: b.Ms, Parts: parts}
	largest := 0.0
	for _, x := range parts {
		s.Ms += x.Ms
		if x.Ms > largest {
			s.Phase, largest = x.Phase, x.Ms
		}
	}
	keeps, ok := evenLeadShare(p, most.Node)
	if s.Ms < noticeableMs || s.Ms < noticeableShare*b.Ms || !ok {
		return
	}
	s.Gain = latency.Interval{Low: s.Ms * (1 - keeps.High), High: s.Ms * (1 - keeps.Low)}
	if s.Gain.High <= 0 {
		return
	}
	f.Slows, f.Cost = append(f.Slows, s), min(1, s.Ms/b.Ms)
	f.Message += fmt.Sprintf("; a search spends %s of its %s waiting for that node",
		latency.Milliseconds(s.Ms), latency.Milliseconds(b.Ms))
}

// ledParts returns the parts of a search's wait for the node: searching its growing rows, and waiting in its
// queue. The queue counts in proportion to the share of growing rows in the node's work.
func ledParts(b *latency.Budget, node model.NodeID) (parts []check.SlowPart) {
	waited := func(name latency.Name) (p *latency.Phase, ms, work float64) {
		p = b.Root.Find(name)
		if p == nil {
			return nil, 0, 0
		}
		for _, x := range p.Nodes {
			if x.Node == node && x.Role != "proxy" {
				return p, x.Waited, x.Calls * x.Ms
			}
		}
		return p, 0, 0
	}
	add := func(p *latency.Phase, ms float64) {
		if p != nil && ms > 0 {
			parts = append(parts, check.SlowPart{Phase: p.Name, Parent: p.Parent, Ms: ms})
		}
	}
	growing, ms, work := waited(latency.KernelGrowing)
	_, _, sealed := waited(latency.KernelSealed)
	if work <= 0 {
		return nil
	}
	add(growing, ms)
	share := work / (work + sealed)
	for _, name := range []latency.Name{latency.ReadQueue, latency.ConsistencyQueue} {
		queue, ms, _ := waited(name)
		add(queue, ms*share)
		if pool := b.Root.Find(latency.PoolWait); pool != nil && ms > 0 && queue.Ms > 0 {
			// the pool is not measured per node, so it is scaled like the queue
			add(pool, pool.Ms*share*min(1, ms/queue.Ms))
		}
	}
	return parts
}

// evenLeadShare returns the share of a node's shards that it would still lead if the shards of searched collections
// were spread evenly. Low assumes all nodes of each replica, High all but one if there are more than two. ok is
// false if the node leads no shard of a searched collection.
func evenLeadShare(p *check.Pass, id model.NodeID) (keeps latency.Interval, ok bool) {
	led, all, butOne := 0.0, 0.0, 0.0
	p.SearchedGroups(latency.Search, func(g *balance.Group, often float64) {
		shards, members, own := 0, 0, 0
		for _, s := range g.Shares {
			shards += s.Leaders
			if s.Assignable() || s.Streaming {
				members++
			}
			if s.Node == id {
				own = s.Leaders
			}
		}
		if own == 0 || members == 0 {
			return
		}
		even := func(nodes int) float64 { return math.Min(float64(own), math.Ceil(float64(shards)/float64(nodes))) }
		led += often * float64(own)
		all += often * even(members)
		butOne += often * even(max(min(2, members), members-1))
	})
	if led <= 0 {
		return keeps, false
	}
	return latency.Interval{Low: all / led, High: butOne / led}, true
}
