package view

import (
	"math"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// StreamingLine is the streaming service at a glance (2.6 and later). A cell is unknown where the metrics of a streaming node were not read.
type StreamingLine struct {
	Nodes int // streaming nodes with a session
	// Channels are the pchannels of the streaming service, Assigned those of them in that state, as etcd has it.
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
	// Memory and Disk are loaded, the limits what may be, together: None where eviction is off on every node, Unknown where it is on some of them,
	// as nothing limits the others.
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
		if p.State == "Assigned" {
			line.Assigned++
		}
		if p.Node != 0 {
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
			name := n.Node.Name("streamingnode")
			x.Fullest = Ref{Resource: "nodes", ID: name, Name: name}
			x.Growing, x.HighWater = whole(n.Growing), whole(n.HighWater)
		}
	}
}

// countCache sums up caches, nil where no process tells of one.
func (o *Overview) countCache(env *Env) {
	var memory, disk tierSum
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
			memory.add(c.Memory)
			disk.add(c.Disk)
		}
	}
	if line.Nodes == 0 {
		return
	}
	line.Memory, line.MemoryLimit = memory.cells()
	line.Disk, line.DiskLimit = disk.cells()
	o.Cache = line
}

// tierSum adds up one place of several caches.
type tierSum struct {
	loaded, capacity float64
	told             int // caches that tell what is loaded
	limited          int // of these, those that have a limit
}

func (x *tierSum) add(t model.CacheTier) {
	if math.IsNaN(t.Loaded) {
		if math.IsNaN(t.Capacity) {
			return
		}
		t.Loaded = 0 // a place with a limit and nothing in it has no series
	}
	x.told++
	x.loaded += t.Loaded
	if !math.IsNaN(t.Capacity) {
		x.limited++
		x.capacity += t.Capacity
	}
}

// cells are what is loaded, and its limit.
func (x *tierSum) cells() (loaded, limit table.Cell) {
	switch {
	case x.told == 0:
		return unknown(), none()
	case x.limited == 0:
		return whole(x.loaded), none()
	case x.limited < x.told:
		return whole(x.loaded), unknown()
	}
	return whole(x.loaded), whole(x.capacity)
}
