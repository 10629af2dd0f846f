package view

import (
	"math"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// StreamingLine is a summary of the streaming service (2.6 and later). A cell is unknown if the metrics of a
// streaming node were not read.
type StreamingLine struct {
	Nodes int // streaming nodes with a session
	// Channels counts the pchannels of the streaming service, Assigned those in state Assigned, both from
	// etcd.
	Channels, Assigned int
	// WALs counts logs by their state on the node: Open, stream-recovering, ... The state is "unknown" for
	// nodes whose metrics were not read. WALs is nil if no metrics were read.
	WALs []StateCount
	// Fullest is the streaming node whose growing segments are closest to its high-water mark. Growing and
	// HighWater (Bytes) are its values.
	Fullest            Ref
	Growing, HighWater table.Cell
}

// CacheLine is the total of the tiered storage of all query nodes (2.6 and later), in bytes.
type CacheLine struct {
	// Nodes counts query nodes with metrics of a cache, UnknownNodes those whose metrics were not read.
	Nodes, UnknownNodes int
	// Memory and Disk are the loaded bytes, the limits their maximum. A limit is None if eviction is off on
	// every node. It is Unknown if eviction is off on some nodes because those have no limit.
	Memory, MemoryLimit, Disk, DiskLimit table.Cell
}

// unknownWAL is the state of a log without metrics.
const unknownWAL = "unknown"

// countStreaming sums up the streaming nodes. The result is nil if there are none.
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
		line.setFullest(told.Nodes)
	}
	o.Streaming = line
}

// setFullest sets the node that is closest to its high-water mark.
func (x *StreamingLine) setFullest(nodes []*model.StreamingNode) {
	most := -1.0
	for _, n := range nodes {
		if share := n.Growing / n.HighWater; share > most { // false for NaN
			most = share
			name := n.Node.Name("streamingnode")
			x.Fullest = Ref{Resource: "nodes", ID: name, Name: name}
			x.Growing, x.HighWater = roundedCount(n.Growing), roundedCount(n.HighWater)
		}
	}
}

// countCache sums up the caches. The result is nil if no process has metrics of a cache.
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
			line.UnknownNodes++
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

// tierSum adds up one tier (memory or disk) of several caches.
type tierSum struct {
	loaded, capacity float64
	reported         int // caches with the metric
	limited          int // caches with a limit
}

func (x *tierSum) add(t model.CacheTier) {
	if math.IsNaN(t.Loaded) {
		if math.IsNaN(t.Capacity) {
			return
		}
		t.Loaded = 0 // an empty tier with a limit has no series
	}
	x.reported++
	x.loaded += t.Loaded
	if !math.IsNaN(t.Capacity) {
		x.limited++
		x.capacity += t.Capacity
	}
}

// cells returns the loaded bytes and the limit.
func (x *tierSum) cells() (loaded, limit table.Cell) {
	switch {
	case x.reported == 0:
		return unknown(), none()
	case x.limited == 0:
		return roundedCount(x.loaded), none()
	case x.limited < x.reported:
		return roundedCount(x.loaded), unknown()
	}
	return roundedCount(x.loaded), roundedCount(x.capacity)
}
