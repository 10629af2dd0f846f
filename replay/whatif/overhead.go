package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/replay"
)

// Overheads are what a server takes for a request besides searching as the engine does here.
type Overheads struct {
	// Task is the CPU of a call that comes alone: one for each leader of a shard, one for each other node that has segments of it. Warm is the share
	// of it that remains where calls come in quick succession.
	Task time.Duration
	Warm float64 `doc:",omitzero"`
	// Segment is the CPU of each segment besides comparing vectors, Chunk that of each chunk of a growing segment (Layout.ChunkRows).
	Segment, Chunk time.Duration
	// Factor is the CPU that the server takes to compare vectors, relative to the engine here.
	Factor float64
	// Delay is the time of a request in which no CPU of the cluster is busy.
	Delay time.Duration
	// Front is the CPU of a request outside of query nodes: of proxies, and of the client and all others if they share the machine. It has
	// FrontCores; FrontWarm is as Warm.
	Front      time.Duration `doc:",omitzero"`
	FrontCores float64       `doc:",omitzero"`
	FrontWarm  float64       `doc:",omitzero"`
	From       string        // where these are from

	// follows is the part of a request's time in which nothing is busy that grows and shrinks with the work of the request, relative to that.
	follows float64
}

// What these figures were on a Milvus 2.3.5 (docs/evidence/replay.md). indexedFactor is how much more the server's CPU exceeds the engine's in graphs and
// lists than in comparing rows one by one: the engine measures the same rows again and again, and finds them in a cache.
const (
	assumedTask    = 1600 * time.Microsecond
	assumedSegment = 200 * time.Microsecond
	assumedChunk   = 20 * time.Microsecond
	assumedWarm    = 0.2
	assumedFactor  = 1.2
	assumedDelay   = time.Millisecond
	indexedFactor  = 2.5
)

func assumedOverheads() Overheads {
	return Overheads{
		Task: assumedTask, Warm: assumedWarm, Segment: assumedSegment, Chunk: assumedChunk, Factor: assumedFactor, Delay: assumedDelay, From: "assumed",
	}
}

// assumedReadings are what overheads are assumed to be, and how far from that they may be.
func assumedReadings() []Overheads {
	list := []Overheads{assumedOverheads()}
	for _, by := range []struct{ calls, factor float64 }{{0.3, 1}, {3, 1}, {1, 0.75}, {1, 1.4}} {
		o := assumedOverheads()
		o.Task, o.Segment = scaled(o.Task, by.calls), scaled(o.Segment, by.calls)
		o.Factor *= by.factor
		list = append(list, o)
	}
	return list
}

func scaled(d time.Duration, by float64) time.Duration {
	return time.Duration(min(float64(d)*by, mostCost))
}

// search is the CPU that a server takes for segment i, one vector, in seconds.
func (p *priced) search(i int, o *Overheads) float64 {
	s := &p.Segments[i]
	compare := o.Factor * p.costs[i].Mean.Seconds()
	switch {
	case s.State == replay.Indexed && (s.Index.Type == typeHNSW || s.Index.Type == typeIVF):
		compare *= indexedFactor
	case s.State == replay.Growing && p.ChunkRows > 0:
		rows := s.Rows
		if rows < 0 {
			rows = p.typicalRows()
		}
		compare += math.Ceil(float64(rows)/float64(p.ChunkRows)) * o.Chunk.Seconds()
	}
	return min(compare, mostCost/1e9)
}

// cluster is what is simulated. Segments that no node serves are left out; notes count them.
func (p *priced) cluster(o *Overheads) (*cluster, []string) {
	c := &cluster{proxies: server{cores: o.FrontCores, warm: cmp.Or(o.FrontWarm, 1)}, proxy: o.Front.Seconds(), wait: o.Delay.Seconds()}
	var notes []string
	at, guessed := map[int64]int{}, 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		at[n.ID] = len(c.nodes)
		if n.Cores <= 0 {
			guessed++
		}
		c.nodes = append(c.nodes, server{id: n.ID, name: cmp.Or(n.Name, strconv.FormatInt(n.ID, 10)), cores: coresOf(n), warm: cmp.Or(o.Warm, 1)})
	}
	if guessed > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d nodes do not report their cores: assuming %d; set them with cores=N", guessed, len(p.Nodes), assumedCores))
	}
	unserved, mean, sd := 0, 0.0, 0.0
	for r := range p.Replicas {
		shards, n := p.shards(c, r, at, o)
		unserved += n
		if len(shards) > 0 {
			c.replicas = append(c.replicas, shards)
		}
	}
	if unserved > 0 {
		notes = append(notes, fmt.Sprintf("%d segments are not served by any node: they cost nothing here", unserved))
	}
	for i := range p.costs {
		mean, sd = mean+p.costs[i].Mean.Seconds(), sd+p.costs[i].SD.Seconds()
	}
	if mean > 0 {
		c.spread = sd / mean
	}
	if o.follows > 0 && len(c.replicas) > 0 {
		c.wait += o.follows * c.lone()
	}
	return c, notes
}

// shards are those of one replica, by channel.
func (p *priced) shards(c *cluster, replica int, at map[int64]int, o *Overheads) (list []shard, unserved int) {
	type place struct{ channel, node int }
	channels, costs := map[string]int{}, map[place][]float64{}
	for i := range p.Segments {
		s := &p.Segments[i]
		node, known := 0, false
		if replica < len(s.On) && s.On[replica] != 0 {
			node, known = at[s.On[replica]]
		}
		if !known {
			unserved++
			continue
		}
		n, seen := channels[s.Channel]
		if !seen {
			n = len(list)
			channels[s.Channel] = n
			leader, ok := at[p.Replicas[replica].Leaders[s.Channel]]
			if !ok {
				leader = node
			}
			list = append(list, shard{leader: leader, call: o.Task.Seconds()})
		}
		c.nodes[node].segments++
		k := place{n, node}
		costs[k] = append(costs[k], p.search(i, o)+o.Segment.Seconds())
	}
	for _, k := range slices.SortedFunc(maps.Keys(costs), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.node, b.node))
	}) {
		list[k.channel].parts = append(list[k.channel].parts, part{k.node, pack(costs[k], c.nodes[k.node].cores)})
	}
	return list, unserved
}

// lone is how long a request takes on average that is alone, without the wait.
func (c *cluster) lone() float64 {
	alone := *c
	alone.wait, alone.spread = 0, 0
	o, err := alone.simulate(context.Background(), Load{Sessions: 1, Requests: int64(10 * len(c.replicas))})
	if err != nil {
		return 0
	}
	return o.Mean.Seconds()
}

// work is what a request makes of the present cluster: CPU of query nodes in seconds, as it is assumed, averaged over replicas.
type work struct {
	calls    float64 // how many
	nodes    float64 // that get calls
	search   float64 // comparing vectors
	segments float64 // what each segment takes besides
}

func (p *priced) work() work {
	o := assumedOverheads()
	c, _ := p.cluster(&o)
	var w work
	called := map[int]bool{}
	share := 1 / float64(max(1, len(c.replicas)))
	for _, replica := range c.replicas {
		for i := range replica {
			called[replica[i].leader] = true
			w.calls += share
			for _, part := range replica[i].parts {
				if part.node != replica[i].leader {
					w.calls += share
					called[part.node] = true
				}
			}
		}
	}
	w.nodes = float64(max(1, len(called)))
	for i := range p.Segments {
		for r, n := range p.Segments[i].On {
			if r < len(p.Replicas) && n != 0 {
				w.search += share * p.search(i, &o)
				w.segments += share * o.Segment.Seconds()
			}
		}
	}
	return w
}

// gap is how far apart calls come at a node if so many requests come in a second.
func (w *work) gap(rate float64) float64 { return w.nodes / max(1e-9, w.calls*rate) }

func (o *Overheads) text() string {
	fine := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("%v CPU per call, %v per segment, %.2g times the engine's CPU to compare vectors", fine(o.Task), o.Segment.Round(time.Microsecond), o.Factor)
	if o.Front > 0 {
		text += fmt.Sprintf(", %v outside of query nodes on %.2g cores", fine(o.Front), o.FrontCores)
	}
	if o.Delay > 0 {
		text += fmt.Sprintf(", %v waiting", fine(o.Delay))
	}
	if o.follows > 0 {
		text += fmt.Sprintf(", %.0f%% more waiting that goes with the work", 100*o.follows)
	}
	return text
}
