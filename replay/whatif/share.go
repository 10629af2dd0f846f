package whatif

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/replay"
)

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
		cores := coresOf(&p.Nodes[i])
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

// busy says which nodes do most of the work, and what takes most of it.
func (p *priced) busy(out *Prediction) (list []string) {
	for i := range out.Nodes {
		n := &out.Nodes[i]
		share := 1 / float64(max(1, p.peers(n.ID)))
		if n.Part < 0.3 || n.Part < 1.3*share || share == 1 {
			continue
		}
		text := fmt.Sprintf("%s does %.0f%% of the work", n.Name, 100*n.Part)
		if n.Growing > 0 && out.Cost.Growing > out.Cost.CPU/3 {
			text += fmt.Sprintf(": %d growing segments, compared row by row", n.Growing)
		} else {
			text += fmt.Sprintf(": %d segments, %d rows", n.Segments, n.Rows)
		}
		list = append(list, text)
	}
	if c := out.Cost; c.CPU > 0 && c.Growing > c.CPU/10 {
		list = append(list, fmt.Sprintf("growing segments take %.0f%% of a query's CPU", 100*float64(c.Growing)/float64(c.CPU)))
	}
	return list
}

// peers is how many nodes the replica of a node has.
func (p *priced) peers(node int64) int {
	for _, r := range p.Replicas {
		if slices.Contains(r.Nodes, node) {
			return len(r.Nodes)
		}
	}
	return 0
}
