package model

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// BuildRuntime sorts and links what processes said. It takes ownership of the slices.
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
				r.blind = append(r.blind, n)
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

// orderAnswers puts the lists of each answer in the order that they are documented to have: whoever
// looks for a segment in one searches by halves.
func (r *Runtime) orderAnswers() {
	for _, n := range r.Nodes {
		d := n.Distribution
		if d == nil {
			continue
		}
		inOrder(d.Sealed, func(a, b ServedSegment) int { return cmp.Compare(a.ID, b.ID) })
		inOrder(d.Channels, func(a, b ServedChannel) int { return cmp.Compare(a.Name, b.Name) })
		inOrder(d.Leaders, func(a, b LeaderView) int { return cmp.Compare(a.Channel, b.Channel) })
		for i := range d.Leaders {
			inOrder(d.Leaders[i].Sealed, func(a, b LeaderSegment) int { return cmp.Compare(a.ID, b.ID) })
			inOrder(d.Leaders[i].Growing, func(a, b GrowingView) int { return cmp.Compare(a.ID, b.ID) })
		}
	}
	for _, x := range r.Recovery {
		for _, list := range [...][]SegmentID{x.Flushed, x.Unflushed, x.Dropped, x.LevelZero} {
			inOrder(list, cmp.Compare[SegmentID])
		}
	}
}

// inOrder sorts a list that is not in order yet; one that is, it only reads.
func inOrder[T any](list []T, compare func(a, b T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

// link finds who serves each segment and who leads each shard.
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
					r.several = append(r.several, s.ID)
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

// sealedOnce reports whether just one of some nodes has a segment sealed; others may have it growing.
func sealedOnce(list []Served) bool {
	n := 0
	for _, s := range list {
		if s.Sealed != nil {
			n++
		}
	}
	return n == 1
}

// LiveNode returns what a session said, nil if it was not asked.
func (r *Runtime) LiveNode(role string, id NodeID) *LiveNode {
	if r == nil {
		return nil
	}
	return r.nodes[sessionKey{role, id}]
}

// QueryNodes returns the query nodes that were asked (embedded in streaming nodes or not), by id.
func (r *Runtime) QueryNodes() []*LiveNode {
	if r == nil {
		return nil
	}
	return r.queryNodes
}

// Served says which query nodes have a segment in memory, sealed or growing. Whether none
// has is known only if Blind is empty.
func (r *Runtime) Served(id SegmentID) []Served {
	if r == nil {
		return nil
	}
	return r.served[id]
}

// ServedOften are the sealed segments that more than one node has in memory: one per replica, or too often.
func (r *Runtime) ServedOften() []SegmentID {
	if r == nil {
		return nil
	}
	return r.several
}

// ShardViews returns the views of the leaders of a vchannel: one per replica.
func (r *Runtime) ShardViews(channel string) []ShardView {
	if r == nil {
		return nil
	}
	return r.leaders[channel]
}

// RecoveryOf is what DataCoord wants served of a vchannel, nil if unknown.
func (r *Runtime) RecoveryOf(channel string) *Recovery {
	if r == nil {
		return nil
	}
	return r.recovery[channel]
}

// LoadedCollection is QueryCoord's account of a collection, nil if it has none or was not asked.
func (r *Runtime) LoadedCollection(id CollectionID) *LoadedCollection {
	if r == nil {
		return nil
	}
	return r.loaded[id]
}

// Blind are the query nodes of which it is unknown what they serve.
func (r *Runtime) Blind() []*LiveNode {
	if r == nil {
		return nil
	}
	return r.blind
}

// Name is how a session is called: "querynode-19".
func (n *LiveNode) Name() string { return n.Node.Name(n.Role) }

// Ref is the session as an object of the cluster.
func (n *LiveNode) Ref() Ref { return Ref{Resource: "nodes", ID: n.Name(), Name: n.Name()} }

// Name is how a session is called: "querynode-19".
func (s *Session) Name() string { return s.Node.Name(s.Role) }

// WithRuntime is the same cluster with what its processes say; nil takes it away.
func (c *Cluster) WithRuntime(r *Runtime) *Cluster {
	next := *c
	next.Runtime, next.asking, next.onces = r, nil, &onces{}
	next.Loaded &^= PartAsked
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

// Stored is what the binlogs of a collection take in storage, as DataCoord says, which names only collections that have some; ok is
// false if it does not.
func (r *Runtime) Stored(id CollectionID) (bytes int64, ok bool) {
	if r == nil || r.StoredBytes == nil {
		return 0, false
	}
	return r.StoredBytes[id], true
}

// DataSegment is a segment as DataCoord holds it in memory, nil if that is unknown.
func (r *Runtime) DataSegment(id SegmentID) *DataSegment {
	if r == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(r.DataSegments, id, func(s DataSegment, id SegmentID) int { return cmp.Compare(s.ID, id) })
	if !ok {
		return nil
	}
	return &r.DataSegments[i]
}

// StartedAt is when the process of a session started, zero if unknown.
func (n *LiveNode) StartedAt() time.Time {
	if n == nil {
		return time.Time{}
	}
	if n.System != nil && !n.System.StartedAt.IsZero() {
		return n.System.StartedAt
	}
	return n.Process.StartedAt()
}

// QueueLag is how many messages of a vchannel's topic are not behind its checkpoint yet. ok is false where either is unknown.
func (c *Cluster) QueueLag(v *VChannel) (lag int64, ok bool) {
	return c.Runtime.Topic(v.PChannel).Behind(&v.Checkpoint)
}

// Topic is the topic of a pchannel, where the queue numbers messages; nil of Pulsar, and where it was not asked or did not answer.
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

// Behind is how many of a topic's messages a checkpoint has before it: its end minus the offset in the checkpoint.
func (t *Topic) Behind(c *Checkpoint) (messages int64, ok bool) {
	at, ok := c.Offset()
	if t == nil || !ok {
		return 0, false
	}
	return max(0, t.End-at), true
}
