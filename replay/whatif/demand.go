package whatif

import (
	"context"
	"math"
	"time"

	"kitescope/replay/simulate"
)

// demand is what a request makes of the present cluster, apart from what is to be found out: the server's overheads and its factor.
type demand struct {
	// engine is how long the engine searches for a lone request, where it takes longest; known what chunks of growing segments add to that.
	engine, known time.Duration
	nodes         []nodeDemand
	nq            float64 // vectors of a request
	hops          float64 // over the wire, of those that go farthest
}

// nodeDemand is one node's part of a request, on average over replicas.
type nodeDemand struct {
	id                int64
	cores             float64
	growing, largest  float64 // of cpu, that in growing segments, and in the dearest segment
	cpu, known, tasks float64 // nanoseconds of the engine, of chunks; how many tasks,
	passed            float64 // and of these, how many a leader elsewhere passes on
	leads             float64 // how many shards it leads
	segments          float64
}

// demand adds up what is simulated, so that what is found out of it means there the same.
func (p *priced) demand(ctx context.Context, nq int) (demand, error) {
	plain, _ := p.cluster(Overheads{})
	chunked, _ := p.cluster(Overheads{Chunk: chunkCost})
	d := demand{nodes: make([]nodeDemand, len(plain.Nodes)), nq: float64(max(1, nq)), hops: 1}
	for i := range d.nodes {
		d.nodes[i].id, d.nodes[i].cores = plain.Nodes[i].ID, plain.Nodes[i].Cores()
	}
	one, err := simulate.Capacity(ctx, plain, nq)
	if err != nil {
		return d, err
	}
	both, err := simulate.Capacity(ctx, chunked, nq)
	if err != nil {
		return d, err
	}
	d.engine, d.known = one.Alone, max(0, both.Alone-one.Alone)
	replicas := plain.Collections[0].Replicas
	part := 1 / float64(len(replicas))
	for r := range replicas {
		for s := range replicas[r] {
			shard := &replicas[r][s]
			d.nodes[shard.Leader].leads += part
			for t := range tasksOf(shard) {
				d.nodes[t.node].tasks += part
				if t.node != shard.Leader {
					d.hops = 2
					d.nodes[t.node].passed += part
				}
			}
			for i, g := range shard.Segments {
				n := &d.nodes[g.Node]
				all := part * float64(g.Mean) * (1 + (d.nq-1)*g.Batch)
				n.segments += part
				n.cpu += all
				n.largest = max(n.largest, all)
				if g.Growing {
					n.growing += all
				}
				n.known += part * d.nq * float64(chunked.Collections[0].Replicas[r][s].Segments[i].Mean-g.Mean)
			}
		}
	}
	return d, nil
}

// task is what package simulate makes of a shard's segments on one node.
type task struct {
	node    int
	growing bool
}

func tasksOf(shard *simulate.Shard) map[task]bool {
	tasks := map[task]bool{}
	for i := range shard.Segments {
		tasks[task{shard.Segments[i].Node, shard.Segments[i].Growing}] = true
	}
	return tasks
}

// tasks is how many tasks a request makes: of the replica in which it makes the most.
func tasks(c *simulate.Cluster) int64 {
	most := 1
	for _, replica := range c.Collections[0].Replicas {
		n := 0
		for i := range replica {
			n += len(tasksOf(&replica[i]))
		}
		most = max(most, n)
	}
	return int64(most)
}

// calls are what a node does for a request apart from segments, in parts of what it does for a task that is passed on. If calls come one after the
// other, what is left of them is as warm says; 1 leaves all.
func (n *nodeDemand) calls(warm float64) float64 { return n.work(warm) + warm*leading*n.leads }

// work is that of tasks alone.
func (n *nodeDemand) work(warm float64) float64 { return (1-outside)*n.tasks + warm*outside*n.passed }

// tasks of a request, in all, and what leaders do for them.
func (d *demand) tasks() (n float64) {
	for i := range d.nodes {
		n += d.nodes[i].calls(1)
	}
	return max(1, n)
}

// factor is the greatest at which the cluster can do so many requests a second, if nothing else took CPU.
func (d *demand) factor(requests float64) float64 {
	most := math.Inf(1)
	for _, n := range d.nodes {
		if n.cpu > 0 {
			most = min(most, max(0, n.cores*1e9/requests-n.known)/n.cpu)
		}
	}
	return most
}

// task is the most CPU that a task can take apart from segments, in nanoseconds, if the cluster does so many requests a second.
func (d *demand) task(requests, factor float64) float64 {
	most := math.Inf(1)
	for _, n := range d.nodes {
		if calls := n.calls(1); calls > 0 {
			most = min(most, max(0, n.cores*1e9/requests-n.known-factor*n.cpu)/calls)
		}
	}
	return most
}

// segmentsOfTask is how many segments there are for each task, and each shard that is led.
func (d *demand) segmentsOfTask() float64 {
	tasks, segments := 0.0, 0.0
	for i := range d.nodes {
		tasks += d.nodes[i].calls(1)
		segments += d.nodes[i].segments
	}
	if tasks == 0 {
		return 0
	}
	return segments / tasks
}

// wait is how long a lone request waits for the CPU time of leaders and of tasks, in parts of what a task takes: a node with fewer cores than tasks
// has them one after the other, after what its leaders do.
func (d *demand) wait() float64 {
	wait, led := 1-outside, 0.0
	if d.hops > 1 {
		wait = 1
	}
	for i := range d.nodes {
		if n := &d.nodes[i]; n.cores > 0 {
			wait = max(wait, n.work(1)/n.cores)
			if n.leads > 0 {
				led = max(led, leading, leading*n.leads/n.cores)
			}
		}
	}
	return led + wait
}
