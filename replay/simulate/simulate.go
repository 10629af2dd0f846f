// Package simulate predicts what a cluster of query nodes does under a load: a queueing simulation, request by request,
// of proxies, shard leaders, worker nodes and their read schedulers.
//
// In: a Cluster of nodes with cores and knobs, what each segment costs a query there, and a Load. Out: an Outcome:
// queries per second, latencies, use of each node, with the error that the simulated time leaves. Every prediction can be checked
// against a measured run: see replay/whatif, which prints the error beside it.
//
// The steps of a request: a proxy's core (first come, first served), the wire, each shard's leader, which takes its time for that
// (Lead), searches its own segments and passes the request on to the workers that have the others. On a node what it searches of a shard is a task:
// it has work outside of the scheduler (Outside), and is then admitted by schedule.Queue. Calls are cheaper where they come one after the other (Warmth). Its segments, and the vectors of a merged group, are searched side by side, on at most Parallel
// cores; if the tasks of a node want more cores than it has, all get the same share of what they want (processor sharing, as an operating
// system does it). A request is answered when its last task is, and has gone back over the wire. Replicas take turns.
//
// A task's segments are one draw of how long it takes alone and how many cores it uses then: the means are those of its
// segments spread over the cores, one after the other, the spread is log-normal. Load.BySegment draws each.
//
// What is not simulated: the reading of results by clients, the reduction at leader and proxy apart from Overhead and Proxy, memory
// bandwidth and caches that tasks share (a measured Mean has what one thread sees), time limits, loading and compaction.
package simulate

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Run simulates a load. The same arguments have the same outcome, but for Took. An error is of what was asked for, or the context's.
//
// Parts of the cluster that share no node are simulated apart, side by side; a load that is long is cut into windows, each with
// a Warmup of its own. A closed load has one part: its sessions ask all collections.
func Run(ctx context.Context, c *Cluster, l Load) (*Outcome, error) {
	if err := check(c, l); err != nil {
		return nil, err
	}
	start := time.Now()
	o, err := run(ctx, c, l, false)
	if err != nil {
		return nil, err
	}
	o.Took = time.Since(start)
	return o, nil
}

// run is Run; exponential draws times alone from that distribution instead, which theory knows more about.
func run(ctx context.Context, c *Cluster, l Load, exponential bool) (*Outcome, error) {
	p, err := newPlan(ctx, c, l, exponential)
	if err != nil {
		return nil, err
	}
	sum, err := p.simulate(ctx)
	if err != nil {
		return nil, err
	}
	if sum.counted == 0 && l.Warmup > 0 {
		// It never came out of the warm-up: too many requests wait. What there is counts from the start.
		l.Warmup = 0
		return run(ctx, c, l, exponential)
	}
	return p.outcome(sum), nil
}

// simulate runs all parts and windows, on all cores.
func (p *plan) simulate(ctx context.Context) (*tally, error) {
	jobs := len(p.parts) * p.windows
	workers := min(jobs, runtime.GOMAXPROCS(0))
	tallies := make([]*tally, workers)
	errs := make([]error, workers)
	var next int
	var lock sync.Mutex
	take := func() int {
		lock.Lock()
		defer lock.Unlock()
		next++
		return next - 1
	}
	var group sync.WaitGroup
	for w := range workers {
		tallies[w] = newTally(p)
		group.Go(func() {
			for i := take(); i < jobs && errs[w] == nil; i = take() {
				errs[w] = newSim(p, i/p.windows, i%p.windows, tallies[w]).run(ctx)
			}
		})
	}
	group.Wait()
	for w, t := range tallies {
		if errs[w] != nil {
			return nil, fmt.Errorf("simulate the cluster: %w", errs[w])
		}
		if w > 0 {
			tallies[0].add(t)
		}
	}
	return tallies[0], nil
}
