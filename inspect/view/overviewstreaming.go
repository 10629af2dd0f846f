package view

import (
	"math"

	"kitescope/inspect/model"
	"kitescope/table"
)

// StreamingLine is the streaming service at a glance (2.6 and later). A cell is unknown where the metrics of a streaming node were not read.
type StreamingLine struct {
	Nodes int // streaming nodes with a session
	// Channels are the pchannels of the streaming service, Assigned those of them that have a node, as etcd has it.
	Channels, Assigned int
	// WALs counts logs by how their node has them: Open, stream-recovering, ...; "unknown" are those of nodes whose metrics were not read. nil: none was read.
	WALs []StateCount
	// Fullest is the streaming node whose growing segments are nearest to its high-water mark, Growing and HighWater (Bytes) are its figures.
	Fullest            Ref
	Growing, HighWater table.Cell
}

// CacheLine is the tiered storage of all query nodes (2.6 and later), in bytes.
type CacheLine struct {
	// Nodes are query nodes whose metrics tell of a cache, Silent those whose metrics were not read.
	Nodes, Silent int
	// Memory and Disk are loaded, the limits (None where eviction is off) what may be, together.
	Memory, MemoryLimit, Disk, DiskLimit table.Cell
}

// unknownWAL is the state of a log of which nothing was read.
const unknownWAL = "unknown"

// countStreaming sums up streaming nodes, nil where there are none.
func (o *Overview) countStreaming(env *Env) {
	c := env.Cluster
	if !c.Loaded.Has(model.PartSessions | model.PartChannels) {
		return
	}
	line := &StreamingLine{Growing: unknown(), HighWater: unknown()}
	for _, s := range c.Sessions {
		if s.Role == "streamingnode" {
			line.Nodes++
		}
	}
	states := map[string]int64{}
	for _, p := range c.PChannels {
		if !p.Streaming {
			continue
		}
		line.Channels++
		if p.Node != 0 {
			line.Assigned++
			state := walState(env, p)
			if state.Absent != table.Present {
				state.Text = unknownWAL
			}
			states[state.Text]++
		}
	}
	if line.Nodes == 0 {
		return
	}
	if told := c.Runtime.Streaming(); len(told.Nodes) > 0 {
		for _, state := range sortedKeys(states) {
			line.WALs = append(line.WALs, StateCount{State: state, Count: states[state], Rows: none()})
		}
		line.fullest(told.Nodes)
	}
	o.Streaming = line
}

// fullest finds the node that is nearest to its mark.
func (x *StreamingLine) fullest(nodes []*model.StreamingNode) {
	most := -1.0
	for _, n := range nodes {
		if share := n.Growing / n.HighWater; share > most { // NaN is not
			most = share
			name := "streamingnode-" + n.Node.String()
			x.Fullest = Ref{Resource: "nodes", ID: name, Name: name}
			x.Growing, x.HighWater = whole(n.Growing), whole(n.HighWater)
		}
	}
}

// countCache sums up caches, nil where no process tells of one.
func (o *Overview) countCache(env *Env) {
	untold := model.CacheTier{Loaded: math.NaN(), Capacity: math.NaN()}
	memory, disk := untold, untold
	line := &CacheLine{}
	seen := map[*model.Process]bool{}
	for _, s := range env.Cluster.Sessions {
		if !servesQueries(s) {
			continue
		}
		c, p, absent := cacheOf(env, s)
		switch {
		case c == nil && absent.Absent == table.Unknown:
			line.Silent++
		case c != nil && !seen[p]:
			seen[p] = true
			line.Nodes++
			memory, disk = addTier(memory, c.Memory), addTier(disk, c.Disk)
		}
	}
	if line.Nodes == 0 {
		return
	}
	limit := func(t model.CacheTier) table.Cell {
		if math.IsNaN(t.Capacity) {
			return none()
		}
		return whole(t.Capacity)
	}
	line.Memory, line.Disk, line.MemoryLimit, line.DiskLimit = whole(memory.Loaded), whole(disk.Loaded), limit(memory), limit(disk)
	o.Cache = line
}

// addTier adds what is told of one place.
func addTier(sum, t model.CacheTier) model.CacheTier {
	return model.CacheTier{Loaded: addTold(sum.Loaded, t.Loaded), Capacity: addTold(sum.Capacity, t.Capacity)}
}

// addTold adds two numbers of which one may not be told: it is NaN.
func addTold(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
