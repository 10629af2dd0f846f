package model

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// BuildRuntime sorts and links the responses of processes. It takes ownership of the slices.
func BuildRuntime(p RuntimeParts) *Runtime {
	r := &Runtime{RuntimeParts: p}
	slices.SortFunc(r.Nodes, func(a, b *LiveNode) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node))
	})
	slices.SortFunc(r.Processes, func(a, b *Process) int { return cmp.Compare(a.Address, b.Address) })
	slices.SortFunc(r.Replicas, func(a, b *LiveReplica) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(r.ShardLeaders, func(a, b ShardLeader) int { return cmp.Compare(a.Channel, b.Channel) })
	slices.SortFunc(r.Groups, func(a, b *LiveResourceGroup) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Recovery, func(a, b *Recovery) int { return cmp.Compare(a.Channel, b.Channel) })
	slices.SortFunc(r.DataSegments, func(a, b DataSegment) int { return cmp.Compare(a.ID, b.ID) })
	r.orderAnswers()
	r.nodes = make(map[sessionKey]*LiveNode, len(r.Nodes))
	for _, n := range r.Nodes {
		r.nodes[sessionKey{n.Role, n.Node}] = n
		if n.Role == "querynode" {
			r.queryNodes = append(r.queryNodes, n)
			if n.Distribution == nil {
				r.withoutDistribution = append(r.withoutDistribution, n)
			}
		}
	}
	r.recovery = byKey(r.Recovery, func(x *Recovery) string { return x.Channel })
	r.loaded = byKey(r.Loaded, func(x *LoadedCollection) CollectionID { return x.Collection })
	r.link()
	r.linkTargets()
	r.grouped = sync.OnceValue(r.group)
	r.streaming = sync.OnceValue(r.readStreaming)
	return r
}

// orderAnswers sorts the lists in each response in their documented order, as required by binary searches.
func (r *Runtime) orderAnswers() {
	for _, n := range r.Nodes {
		d := n.Distribution
		if d == nil {
			continue
		}
		sortIfNeeded(d.Sealed, func(a, b ServedSegment) int { return cmp.Compare(a.ID, b.ID) })
		sortIfNeeded(d.Channels, func(a, b ServedChannel) int { return cmp.Compare(a.Name, b.Name) })
		sortIfNeeded(d.Leaders, func(a, b LeaderView) int { return cmp.Compare(a.Channel, b.Channel) })
		for i := range d.Leaders {
			sortIfNeeded(d.Leaders[i].Sealed, func(a, b LeaderSegment) int { return cmp.Compare(a.ID, b.ID) })
			sortIfNeeded(d.Leaders[i].Growing, func(a, b GrowingView) int { return cmp.Compare(a.ID, b.ID) })
		}
	}
	for _, x := range r.Recovery {
		for _, list := range [...][]SegmentID{x.Flushed, x.Unflushed, x.Dropped, x.LevelZero} {
			sortIfNeeded(list, cmp.Compare[SegmentID])
		}
	}
}

// sortIfNeeded sorts a list. A list that is already sorted is only read.
func sortIfNeeded[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

// link indexes the nodes that serve each segment and the leaders of each shard.
func (r *Runtime) link() {
	count := 0
	for _, n := range r.queryNodes {
		if n.Distribution != nil {
			count += len(n.Distribution.Sealed)
		}
	}
	r.served = make(map[SegmentID][]Served, count)
	r.leaders = make(map[string][]ShardView)
	backing := make([]Served, 0, count) // most segments are served once: one array for all
	for _, n := range r.queryNodes {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Sealed {
			s := &n.Distribution.Sealed[i]
			if had := r.served[s.ID]; had != nil {
				if sealedOnce(had) {
					r.multiServed = append(r.multiServed, s.ID)
				}
				r.served[s.ID] = append(had, Served{Node: n, Sealed: s})
				continue
			}
			backing = append(backing, Served{Node: n, Sealed: s})
			r.served[s.ID] = backing[len(backing)-1 : len(backing) : len(backing)]
		}
		for i := range n.Distribution.Leaders {
			view := &n.Distribution.Leaders[i]
			r.leaders[view.Channel] = append(r.leaders[view.Channel], ShardView{n, view})
			for _, g := range view.Growing {
				r.served[g.ID] = append(r.served[g.ID], Served{Node: n, Leader: view})
			}
		}
	}
}

// sealedOnce reports whether exactly one entry is sealed. Others may be growing.
func sealedOnce(list []Served) bool {
	n := 0
	for _, s := range list {
		if s.Sealed != nil {
			n++
		}
	}
	return n == 1
}

// LiveNode returns the responses of a session, nil if it was not queried.
func (r *Runtime) LiveNode(role string, id NodeID) *LiveNode {
	if r == nil {
		return nil
	}
	return r.nodes[sessionKey{role, id}]
}

// QueryNodes returns the query nodes that were queried (embedded in streaming nodes or not), by id.
func (r *Runtime) QueryNodes() []*LiveNode {
	if r == nil {
		return nil
	}
	return r.queryNodes
}

// Served returns the query nodes that have a segment in memory, sealed or growing. An empty list is reliable
// only if WithoutDistribution is empty.
func (r *Runtime) Served(id SegmentID) []Served {
	if r == nil {
		return nil
	}
	return r.served[id]
}

// MultiServed returns the segments that more than one node has sealed in memory, one per replica or duplicates.
func (r *Runtime) MultiServed() []SegmentID {
	if r == nil {
		return nil
	}
	return r.multiServed
}

// ShardViews returns the leaders' views of a vchannel: one per replica.
func (r *Runtime) ShardViews(channel string) []ShardView {
	if r == nil {
		return nil
	}
	return r.leaders[channel]
}

// RecoveryOf returns DataCoord's reference for a vchannel, nil if unknown.
func (r *Runtime) RecoveryOf(channel string) *Recovery {
	if r == nil {
		return nil
	}
	return r.recovery[channel]
}

// LoadedCollection returns QueryCoord's state of a collection, nil if it has none or was not queried.
func (r *Runtime) LoadedCollection(id CollectionID) *LoadedCollection {
	if r == nil {
		return nil
	}
	return r.loaded[id]
}

// WithoutDistribution returns the query nodes whose distribution is unknown.
func (r *Runtime) WithoutDistribution() []*LiveNode {
	if r == nil {
		return nil
	}
	return r.withoutDistribution
}

// Name returns the name of the session, e.g. "querynode-19".
func (n *LiveNode) Name() string { return n.Node.Name(n.Role) }

// Ref returns a reference to the session.
func (n *LiveNode) Ref() Ref { return Ref{Resource: "nodes", ID: n.Name(), Name: n.Name()} }

// Name returns the name of the session, e.g. "querynode-19".
func (s *Session) Name() string { return s.Node.Name(s.Role) }

// WithRuntime returns a copy of the cluster with the responses of its processes. nil removes them.
func (c *Cluster) WithRuntime(r *Runtime) *Cluster {
	next := *c
	next.Runtime, next.queryState, next.cache = r, nil, &derivedCache{}
	next.Loaded &^= PartLive
	if r != nil {
		next.Loaded |= PartRuntime
		if r.Targets != nil {
			next.Loaded |= PartTargets
		}
		if r.reported() {
			next.Loaded |= PartReported
		}
	}
	return &next
}

// Stored returns the size of a collection's binlogs in storage, as reported by DataCoord. Collections missing
// from the report have none. ok is false without a report.
func (r *Runtime) Stored(id CollectionID) (bytes int64, ok bool) {
	if r == nil || r.StoredBytes == nil {
		return 0, false
	}
	return r.StoredBytes[id], true
}

// DataSegment returns a segment in DataCoord's memory, nil if unknown.
func (r *Runtime) DataSegment(id SegmentID) *DataSegment {
	if r == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(r.DataSegments, id, func(s DataSegment, id SegmentID) int {
		return cmp.Compare(s.ID, id)
	})
	if !ok {
		return nil
	}
	return &r.DataSegments[i]
}

// StartedAt returns the start time of the session's process, zero if unknown.
func (n *LiveNode) StartedAt() time.Time {
	if n == nil {
		return time.Time{}
	}
	if n.System != nil && !n.System.StartedAt.IsZero() {
		return n.System.StartedAt
	}
	return n.Process.StartedAt()
}

// QueueLag returns the number of messages in a vchannel's topic after its checkpoint. ok is false if the topic
// or the offset is unknown.
func (c *Cluster) QueueLag(v *VChannel) (lag int64, ok bool) {
	return c.Runtime.Topic(v.PChannel).Behind(&v.Checkpoint)
}

// Topic returns the topic of a pchannel if the queue numbers its messages. It is nil for Pulsar, and if the
// queue was not queried or did not respond.
func (r *Runtime) Topic(pchannel string) *Topic {
	if r == nil || r.Queue == nil || r.Queue.Kind == "pulsar" {
		return nil
	}
	for i := range r.Queue.Topics {
		if t := &r.Queue.Topics[i]; t.Name == pchannel && t.Stats == nil {
			return t
		}
	}
	return nil
}

// Behind returns the number of messages after a checkpoint: the topic's end minus the checkpoint's offset.
func (t *Topic) Behind(c *Checkpoint) (messages int64, ok bool) {
	at, ok := c.Offset()
	if t == nil || !ok {
		return 0, false
	}
	return max(0, t.End-at), true
}
