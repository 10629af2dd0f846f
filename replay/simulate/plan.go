package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

const (
	// batches is over how many stretches of time intervals are worked out, all windows together.
	batches = 20
	// windows is in how many pieces a part is simulated that has more than longTasks, if there are too few parts for all cores. It does not depend
	// on the machine, so that outcomes do not.
	windows   = 4
	longTasks = 5e5
	fewParts  = 4
)

// plan is a cluster and a load, ready to be simulated.
type plan struct {
	cluster *Cluster
	load    Load
	nq      int
	// exponential draws how long tasks take alone from that distribution.
	exponential  bool
	parts        []part
	windows      int
	warm, length float64 // seconds of each window
	capacity     Most
}

// part is nodes that share no request with others.
type part struct {
	nodes []int   // of the cluster
	local []int32 // by the cluster's node
	asked []asked
	works []work
	share float64 // of the load's requests
}

// asked is a collection.
type asked struct {
	upTo     float64 // share of the part's requests, this one and those before it
	sigma    float64 // of what all segments of a request share
	replicas []fan
}

// fan is what a request to a replica becomes: works, as indexes into part.works, and who leads to them. Shards whose leaders take no time for that are one.
type fan struct {
	works []int32
	leads []lead
}

// lead is what the leader of a shard does: it takes seconds of a core of its node (warm of it where one comes after the other), and then begins its own works and
// asks the workers.
type lead struct {
	node          int32
	seconds, warm float64
	own, workers  []int32
}

func newPlan(ctx context.Context, c *Cluster, l Load, exponential bool) (*plan, error) {
	p := &plan{cluster: c, load: l, nq: max(1, l.NQ), exponential: exponential, windows: 1}
	p.warm, p.length = l.Warmup.Seconds(), l.Duration.Seconds()
	random := rand.New(rand.NewPCG(l.Seed, 0x706c616e)) //nolint:gosec // a simulation is to be repeated, not secret
	var weight float64
	for i := range c.Collections {
		weight += c.Collections[i].Weight
	}
	var tasks float64
	for _, members := range p.together() {
		part, err := p.newPart(ctx, members, weight, random)
		if err != nil {
			return nil, err
		}
		tasks += part.tasksPerRequest(members, c, weight)
		p.parts = append(p.parts, part)
	}
	if most := p.mostTasks(); l.Sessions > 0 && int64(l.Sessions)*most > MostTasks {
		return nil, fmt.Errorf("simulate a load: %d sessions with %d tasks per request exceed %d tasks at once: use fewer sessions, or a rate", l.Sessions, most, MostTasks)
	}
	p.capacity = p.most()
	if p.load.Sessions > 0 && p.capacity.Alone == 0 && p.load.Think == 0 {
		return nil, errors.New("simulate a load: requests cost nothing and sessions have no think time: the load has no limit")
	}
	p.cut(tasks)
	return p, nil
}

// together says which collections have to be simulated together, by index: those that share nodes; all of them if sessions or proxies
// are between.
func (p *plan) together() [][]int {
	c := p.cluster
	var asked []int
	for i := range c.Collections {
		if c.Collections[i].Weight > 0 {
			asked = append(asked, i)
		}
	}
	if p.load.Sessions > 0 || p.proxied() {
		return [][]int{asked}
	}
	parent := make([]int, len(c.Nodes))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, i := range asked {
		first := -1
		c.Collections[i].eachNode(func(n int) {
			if first < 0 {
				first = root(n)
			}
			parent[root(n)] = first
		})
	}
	var groups [][]int
	place := map[int]int{}
	for _, i := range asked {
		r := root(c.Collections[i].Replicas[0][0].Leader)
		at, ok := place[r]
		if !ok {
			at = len(groups)
			place[r] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

func (p *plan) proxied() bool { return p.cluster.Proxy > 0 && p.cluster.Proxies > 0 }

// servers is how many requests proxies take on at once, atProxy how long one takes there, in seconds: less than a core, and what is left of
// whole ones, makes each of them slower or faster.
func (p *plan) servers() int { return max(1, int(p.cluster.Proxies)) }

func (p *plan) atProxy() float64 {
	return p.cluster.Proxy.Seconds() * float64(p.servers()) / p.cluster.Proxies
}

// eachNode calls back for the nodes of a collection, some more than once.
func (c *Collection) eachNode(visit func(node int)) {
	for _, replica := range c.Replicas {
		for i := range replica {
			visit(replica[i].Leader)
			for j := range replica[i].Segments {
				visit(replica[i].Segments[j].Node)
			}
		}
	}
}

func (p *plan) newPart(ctx context.Context, members []int, weight float64, random *rand.Rand) (part, error) {
	var own float64
	for _, i := range members {
		own += p.cluster.Collections[i].Weight
	}
	pt := part{share: own / weight, local: make([]int32, len(p.cluster.Nodes))}
	for i := range pt.local {
		pt.local[i] = -1
	}
	var sum float64
	for _, i := range members {
		c := &p.cluster.Collections[i]
		sum += c.Weight / own
		a := asked{upTo: sum, sigma: c.shared(float64(p.nq))}
		for _, replica := range c.Replicas {
			f, err := p.newFan(ctx, &pt, c, replica, random)
			if err != nil {
				return part{}, err
			}
			a.replicas = append(a.replicas, f)
		}
		pt.asked = append(pt.asked, a)
	}
	pt.asked[len(pt.asked)-1].upTo = math.Inf(1)
	return pt, nil
}

// shared is the spread of the logarithm of what all segments share, of a request of n vectors.
func (c *Collection) shared(n float64) float64 {
	var sum, cost float64
	for _, replica := range c.Replicas {
		for i := range replica {
			for _, s := range replica[i].Segments {
				sum += s.Mean.Seconds() * c.Correlation * logVariance(s.Mean, s.SD)
				cost += s.Mean.Seconds()
			}
		}
	}
	if cost == 0 {
		return 0
	}
	return math.Sqrt(math.Log1p(math.Expm1(sum/cost) / n))
}

// newFan makes the works of a replica: of each shard one for each node and state. A leader is asked even if it has no segment of its own.
func (p *plan) newFan(ctx context.Context, pt *part, c *Collection, replica []Shard, random *rand.Rand) (fan, error) {
	type key struct {
		node    int
		growing bool
	}
	var f fan
	for i := range replica {
		shard := &replica[i]
		node := &p.cluster.Nodes[shard.Leader]
		if i == 0 || node.Lead > 0 || f.leads[len(f.leads)-1].seconds > 0 {
			f.leads = append(f.leads, lead{node: pt.place(shard.Leader), seconds: node.Lead.Seconds(), warm: cmp.Or(node.Warm, 1)})
		}
		l := &f.leads[len(f.leads)-1]
		order := []key{{shard.Leader, false}}
		segments := map[key][]Segment{order[0]: nil}
		for _, s := range shard.Segments {
			k := key{s.Node, s.Growing}
			if _, seen := segments[k]; !seen {
				order = append(order, k)
			}
			segments[k] = append(segments[k], s)
		}
		for _, k := range order {
			if len(segments[k]) == 0 && len(order) > 1 {
				continue // it only passes the request on
			}
			if err := ctx.Err(); err != nil {
				return fan{}, err
			}
			w := newWork(&p.cluster.Nodes[k.node], segments[k], c.Correlation, p.load.BySegment, random)
			w.node, w.worker = int(pt.place(k.node)), k.node != shard.Leader
			w.group = strconv.Itoa(len(pt.works))
			if w.worker {
				l.workers = append(l.workers, int32(len(pt.works)))
			} else {
				w.outside = 0
				l.own = append(l.own, int32(len(pt.works)))
			}
			f.works = append(f.works, int32(len(pt.works)))
			pt.works = append(pt.works, w)
		}
	}
	return f, nil
}

// mostTasks are those of the request that makes the most.
func (p *plan) mostTasks() int64 {
	most := 0
	for i := range p.parts {
		for _, a := range p.parts[i].asked {
			for _, f := range a.replicas {
				most = max(most, len(f.works))
			}
		}
	}
	return int64(most)
}

func (pt *part) place(node int) int32 {
	if pt.local[node] < 0 {
		pt.local[node] = int32(len(pt.nodes))
		pt.nodes = append(pt.nodes, node)
	}
	return pt.local[node]
}

// tasksPerRequest is how many of a request of the whole load are in this part.
func (pt *part) tasksPerRequest(members []int, c *Cluster, weight float64) float64 {
	var tasks float64
	for i, a := range pt.asked {
		share := c.Collections[members[i]].Weight / weight / float64(len(a.replicas))
		for _, f := range a.replicas {
			tasks += share * float64(len(f.works))
		}
	}
	return tasks
}

// cut says how long is simulated, and in how many windows.
func (p *plan) cut(tasks float64) {
	rate := p.load.Rate
	most := p.capacity.Merged / float64(p.nq)
	if p.load.Sessions > 0 {
		rate = min(most, float64(p.load.Sessions)/(p.load.Think.Seconds()+p.capacity.Alone.Seconds()))
	}
	total := rate * (p.warm + p.length)
	bound := float64(p.load.Requests)
	if bound > 0 {
		total = min(total, bound)
	}
	// More than can be done is simulated as it comes: how much waits grows with time.
	if len(p.parts) < fewParts && total*tasks > longTasks && p.load.Rate < most {
		p.windows = windows
	}
	p.length /= float64(p.windows)
	if bound > 0 && rate*(p.warm+p.length)*float64(p.windows) > bound {
		seconds := bound / rate / float64(p.windows)
		p.warm = min(p.warm, seconds/5)
		p.length = min(p.length, seconds-p.warm)
	}
}
