package balance

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

// adviseChannels looks for shards whose growing rows keep a node above the goal, and for nodes that
// could take them. Since 2.6 a shard is where its WAL is: nothing to advise.
func (p *Plan) adviseChannels(s *Survey, x *problem) {
	if s.cluster.Streaming != nil {
		return
	}
	loads := make(map[model.NodeID]float64)
	for _, b := range p.Shares {
		loads[b.Node] = p.Options.By.share(b)
	}
	for i := range x.bins {
		b := &x.bins[i]
		if b.fixed <= x.limit {
			continue
		}
		for _, v := range s.led(p.Group, b.node) {
			part := p.growing(s, v.rows)
			j := x.lightest(loads, b.node)
			if part > 0 && j >= 0 && loads[x.bins[j].node]+part < loads[b.node] {
				p.Channels = append(p.Channels, ChannelMove{v.channel, v.rows, b.node, x.bins[j].node})
				loads[b.node] -= part
				loads[x.bins[j].node] += part
			}
		}
	}
}

// growing is what growing rows weigh by the plan's measure.
func (p *Plan) growing(s *Survey, rows int64) float64 {
	switch p.Options.By {
	case ByCost:
		return s.costs[p.Group.ID].growing(rows)
	case ByRows:
		return float64(rows)
	case ByMemory:
	}
	return 0
}

// ledShard is a shard that a node leads, with its growing rows that count.
type ledShard struct {
	channel string
	rows    int64
}

// led are the shards of a group's collection that a node leads, those with most growing rows first.
func (s *Survey) led(g *Group, id model.NodeID) []ledShard {
	var list []ledShard
	for _, v := range s.cluster.Runtime.ViewsOf(g.ID) {
		if v.Node.Node == id {
			_, rows := s.cluster.Once(g.ID).Growing(v.LeaderView)
			list = append(list, ledShard{v.Channel, rows})
		}
	}
	slices.SortStableFunc(list, func(a, b ledShard) int { return -cmp.Compare(a.rows, b.rows) })
	return list
}
