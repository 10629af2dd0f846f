package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/replay"
	"kitescope/replay/schedule"
	"kitescope/replay/simulate"
)

// priced is a variant with what each of its segments costs one vector on the engine.
type priced struct {
	*variant
	ask      *asked
	costs    []Measured // by Layout.Segments
	modelled []bool     // or copies
	recall   float64
	why      map[string]int // reasons for which segments were modelled, counted
	guesses  []string       // of the model
}

// price measures what is here of a variant and computes the rest.
func price(ctx context.Context, m *model, v *variant, a *asked) (*priced, error) {
	t := m.table
	pieces, err := t.artifacts.pieces(ctx, v)
	if err != nil {
		return nil, err
	}
	p := &priced{variant: v, ask: a, costs: make([]Measured, len(pieces)), modelled: make([]bool, len(pieces)), why: map[string]int{}}
	if p.recall, err = t.measure(ctx, pieces, a); err != nil {
		return nil, err
	}
	missing := map[replay.Index]bool{}
	for _, piece := range pieces {
		if piece.State == replay.Indexed {
			missing[piece.Index] = missing[piece.Index] || piece.real == nil
		}
	}
	var indexes []replay.Index
	for x := range missing {
		indexes = append(indexes, x)
	}
	slices.SortFunc(indexes, func(a, b replay.Index) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.M, b.M), cmp.Compare(a.EFConstruction, b.EFConstruction))
	})
	for _, x := range indexes {
		if err := m.learn(ctx, pieces, x, a, missing[x]); err != nil {
			return nil, err
		}
	}
	p.fill(m, pieces)
	return p, nil
}

// fill gives each segment its cost: measured, of its copy, or computed.
func (p *priced) fill(m *model, pieces []*piece) {
	here := 0.0 // bytes that were searched in turn when the others were measured
	for _, s := range m.table.artifacts.base {
		here += float64(s.Vectors.Bytes())
	}
	clear(m.guesses)
	nodes := p.bytes(m.size)
	typical := float64(p.typicalRows())
	for i, piece := range pieces {
		known, measured := m.table.known[m.table.key(piece, p.ask)]
		rows := float64(piece.Rows)
		if piece.Rows < 0 {
			rows = typical
		}
		far := nodes[i]
		switch {
		case measured && piece.covered >= 0.9 && !piece.copied:
			p.costs[i] = known
		case measured && piece.covered >= 0.9:
			p.costs[i] = scaled(known, m.memory.at(piece.State, far)/m.memory.at(piece.State, here))
			p.modelled[i] = true
			p.why["are more of the same"]++
		default:
			ns, distances := m.nanoseconds(piece.State, piece.Index, rows, p.ask)
			ns = min(ns, mostCost)
			c := Measured{Mean: time.Duration(ns), SD: time.Duration(0.3 * ns), Distances: distances}
			if piece.State != replay.Indexed {
				c.SD = time.Duration(0.05 * ns)
			}
			p.costs[i] = scaled(c, m.memory.at(piece.State, far))
			p.modelled[i] = true
			if why := piece.why; why != "" {
				p.why[why]++
			} else {
				p.why["are only partly in storage"]++
			}
		}
	}
	p.guesses = slices.Sorted(maps.Keys(m.guesses))
}

// mostCost of a segment is a quarter of an hour: rows that only a damaged layout has cost no more, and sums fit.
const mostCost = float64(1000 * time.Second)

func scaled(m Measured, by float64) Measured {
	m.Mean, m.SD = time.Duration(float64(m.Mean)*by), time.Duration(float64(m.SD)*by)
	return m
}

// bytes is, for each segment, how many bytes of vectors its node searches for one query: of the first replica that serves it.
func (p *priced) bytes(size float64) []float64 {
	node := map[int64]float64{}
	first := make([]int64, len(p.Segments))
	typical := p.typicalRows()
	for i := range p.Segments {
		s := &p.Segments[i]
		rows := s.Rows
		if rows < 0 {
			rows = typical
		}
		for _, n := range s.On {
			node[n] += float64(rows) * size
			first[i] = cmp.Or(first[i], n)
		}
	}
	list := make([]float64, len(first))
	for i, n := range first {
		list[i] = node[n]
	}
	return list
}

// share is the share of rows whose cost was not measured on their own vectors.
func (p *priced) share() float64 {
	all, modelled, typical := 0.0, 0.0, float64(p.typicalRows())
	for i := range p.Segments {
		rows := float64(max(1, p.Segments[i].Rows))
		if p.Segments[i].Rows < 0 {
			rows = typical
		}
		all += rows
		if p.modelled[i] {
			modelled += rows
		}
	}
	if all == 0 {
		return 0
	}
	return modelled / all
}

// assumedCores are of a node that does not tell.
const assumedCores = 8

// cluster is what is simulated. Segments that no node serves are left out, and counted.
func (p *priced) cluster(o Overheads) (*simulate.Cluster, []string) {
	c := &simulate.Cluster{}
	var notes []string
	at, guessed := map[int64]int{}, 0
	for _, n := range p.Nodes {
		at[n.ID] = len(c.Nodes)
		read := settings(p.Version, &n)
		if read.Cores == 0 {
			read.Cores = assumedCores
			guessed++
		}
		c.Nodes = append(c.Nodes, simulate.Node{
			ID: n.ID, Name: n.Name, Limit: max(0, n.Cores), Period: n.Period, Read: read, Overhead: times64(o.Task, 1-outside), Outside: times64(o.Task, outside), Warm: o.Warm, Lead: times64(o.Task, leading),
			SegmentOverhead: o.Segment, Parallel: o.parallel,
		})
	}
	if guessed > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d nodes do not report their cores: assuming %d; set them with cores=N", guessed, len(p.Nodes), assumedCores))
	}
	col := simulate.Collection{Name: p.Collection.Name, Weight: 1, Correlation: correlation}
	unserved := 0
	for r := range p.Replicas {
		shards, n := p.shards(r, at, &o)
		unserved += n
		if len(shards) > 0 {
			col.Replicas = append(col.Replicas, shards)
		}
	}
	if unserved > 0 {
		notes = append(notes, fmt.Sprintf("%d segments are not served by any node: they cost nothing here", unserved))
	}
	c.Collections = []simulate.Collection{col}
	c.Wire, c.Delay, c.Proxy, c.Proxies, c.Warm = o.Wire, o.Delay, o.Front, o.FrontCores, cmp.Or(o.FrontWarm, o.Warm)
	return c, notes
}

// correlation of costs between segments: a query that is dear in one graph is dear in the others. It is not certain to be measured where
// there is one segment; half is between the extremes.
const correlation = 0.5

// shards are those of one replica, by channel.
func (p *priced) shards(replica int, at map[int64]int, o *Overheads) (list []simulate.Shard, unserved int) {
	of := map[string]int{}
	for i := range p.Segments {
		s := &p.Segments[i]
		node, known := 0, false
		if replica < len(s.On) {
			node, known = at[s.On[replica]], s.On[replica] != 0
			if _, there := at[s.On[replica]]; !there {
				known = false
			}
		}
		if !known {
			unserved++
			continue
		}
		n, seen := of[s.Channel]
		if !seen {
			n = len(list)
			of[s.Channel] = n
			leader, ok := at[p.Replicas[replica].Leaders[s.Channel]]
			if !ok {
				leader = node
			}
			list = append(list, simulate.Shard{Leader: leader})
		}
		list[n].Segments = append(list[n].Segments, p.simulated(i, node, o))
	}
	return list, unserved
}

// simulated is segment i on a node.
func (p *priced) simulated(i, node int, o *Overheads) simulate.Segment {
	s := simulate.Segment{Node: node, Growing: p.Segments[i].State == replay.Growing}
	factor, chunks := o.factor()*slower(&p.Segments[i]), p.chunked(i, o.Chunk)
	if s.Growing && o.Growing > 0 {
		factor, chunks = o.Growing, 0
	}
	s.Batch = p.batch(i, float64(p.costs[i].Mean)*factor+float64(chunks))
	s.Mean, s.SD = time.Duration(float64(p.costs[i].Mean)*factor)+chunks, time.Duration(float64(p.costs[i].SD)*factor)
	return s
}

// What the figures of a Milvus 2.3.5 say (docs/evidence/replay.md), on one machine: of a task's own CPU so much is spent before the read scheduler has it, and
// of that, and of a leader's, so much remains where one call comes after the other.
const (
	outside = 0.9
	warm    = 0.2
	// leading is what a shard's leader takes for a request, in parts of what a task takes.
	leading = 1
)

// slower is how much more CPU Milvus's kernel of a segment takes than the engine's, as against rows that it compares one by one. Here and there rows of graphs
// and lists lie in caches, as the engine measures them again and again; a server's were used for other things since the last request. And graphs are walked with
// hnswlib's code (make bench-engine). By the same figures: what a search in graphs used more at ef 256 than at 64, and one in lists more than one in graphs.
func slower(s *replay.Segment) float64 {
	if s.State == replay.Indexed && (s.Index.Type == typeHNSW || s.Index.Type == typeIVF) {
		return 2.5
	}
	return 1
}

// batch is what a further vector of a merged group costs in segment i, of what the first one does, in nanoseconds: row by row it finds the rows in a
// cache, and calls for chunks are shared in part. By the same figures.
func (p *priced) batch(i int, cost float64) float64 {
	switch {
	case p.Segments[i].State == replay.Indexed || cost <= 0:
		return 1
	case p.Segments[i].State == replay.Growing:
		compare := min(1, priorFactor*float64(p.costs[i].Mean)/cost)
		return 0.8*compare + 0.3*(1-compare)
	}
	return 0.6
}

// cost adds up what a query costs on the engine, on average over replicas, and what each node has of it.
func (p *priced) cost() (Cost, []NodeShare) {
	var c Cost
	nodes := make([]NodeShare, len(p.Nodes))
	at := map[int64]int{}
	for i, n := range p.Nodes {
		nodes[i] = NodeShare{ID: n.ID, Name: n.Name}
		at[n.ID] = i
	}
	replicas := max(1, len(p.Replicas))
	largest := make([]time.Duration, len(nodes))
	total := make([]time.Duration, replicas)
	of := make([]int, len(nodes)) // the replica
	for i := range p.Segments {
		s, mean := &p.Segments[i], p.costs[i].Mean
		for r, id := range s.On {
			n, ok := at[id]
			if !ok || r >= replicas {
				continue
			}
			total[r] += mean
			of[n] = r
			c.add(s.State, mean)
			largest[n] = max(largest[n], mean)
			nodes[n].add(s, mean)
		}
	}
	by := time.Duration(replicas)
	c.CPU, c.Growing, c.Unindexed, c.Indexed = c.CPU/by, c.Growing/by, c.Unindexed/by, c.Indexed/by
	for i := range nodes {
		n := &nodes[i]
		if t := total[of[i]]; t > 0 {
			n.Part = float64(n.CPU) / float64(t)
		}
		cores := cmp.Or(max(0, p.Nodes[i].Cores), max(0, p.Nodes[i].Read.Cores), assumedCores)
		if lone := max(largest[i], time.Duration(float64(n.CPU)/math.Max(1, cores))); lone > c.Critical {
			c.Critical, c.Node = lone, n.Name
		}
	}
	return c, nodes
}

func (c *Cost) add(s replay.State, mean time.Duration) {
	c.CPU += mean
	switch s {
	case replay.Growing:
		c.Growing += mean
	case replay.Unindexed:
		c.Unindexed += mean
	default:
		c.Indexed += mean
	}
}

func (n *NodeShare) add(s *replay.Segment, mean time.Duration) {
	n.CPU += mean
	n.Segments++
	n.Rows += max(0, s.Rows)
	if s.State == replay.Growing {
		n.Growing++
		n.GrowingRows += max(0, s.Rows)
	}
}

// whole gives a layout that names no nodes or replicas one node of all segments: what nobody serves cannot be simulated.
func whole(l *replay.Layout, cores float64) (*replay.Layout, string) {
	served := false
	for i := range l.Segments {
		for _, n := range l.Segments[i].On {
			served = served || n != 0
		}
	}
	if served && len(l.Nodes) > 0 && len(l.Replicas) > 0 {
		return l, ""
	}
	c := clone(l)
	c.Nodes = []replay.Node{{ID: 1, Name: "querynode-1", Cores: cores, Read: schedule.Defaults(l.Version, cores)}}
	c.Replicas = []replay.Replica{{ID: 1, Nodes: []int64{1}, Leaders: map[string]int64{}}}
	for i := range c.Segments {
		c.Segments[i].On = []int64{1}
		c.Replicas[0].Leaders[c.Segments[i].Channel] = 1
	}
	return c, fmt.Sprintf("no node reports serving the collection: assuming one node of %g cores serves all of it", cores)
}

// dims is an error if the log's vectors cannot be asked of the collection.
func dims(v *engine.Vectors, like *engine.Vectors, name string) error {
	if v != nil && (v.Dim != like.Dim || v.Element != like.Element) {
		return fmt.Errorf("log %s has vectors of %d dimensions of %s, the collection of %d of %s", name, v.Dim, v.Element, like.Dim, like.Element)
	}
	return nil
}
