package model

import (
	"cmp"
	"slices"
	"sync"
)

// Dedup determines which copies of a collection's segments in the memory of query nodes count, because each row
// counts once per replica. Use it for sums over several nodes. For a single node, everything in its memory
// counts. The duplicates are:
//
//   - a sealed segment that is being moved. Both nodes have it until the old one releases it. The copy that the
//     shard leader uses counts;
//   - a compacted segment that is not released yet. The result of the compaction counts;
//   - a growing segment whose sealed form, or the result of its compaction, is loaded. The leader releases it
//     only seconds later (querynodev2/delegator: a new target);
//   - a growing segment while its shard changes leaders.
type Dedup struct {
	copies  map[segmentCopy]struct{}
	growing map[*LeaderView]*dedupedGrowing // only views with duplicate segments
}

// segmentCopy identifies a copy of a sealed segment on a node.
type segmentCopy struct {
	node    NodeID
	segment SegmentID
}

// dedupedGrowing holds the part of a leader's view that counts.
type dedupedGrowing struct {
	segments int
	rows     int64
	copies   []SegmentID // segments that do not count
}

// Sealed reports whether the copy of a sealed segment on a node counts.
func (o *Dedup) Sealed(node NodeID, id SegmentID) bool {
	_, twice := o.copies[segmentCopy{node, id}]
	return !twice
}

// Growing returns the number of growing segments and rows of a leader's view that count.
func (o *Dedup) Growing(v *LeaderView) (segments int, rows int64) {
	if g := o.growing[v]; g != nil {
		return g.segments, g.rows
	}
	return len(v.Growing), v.GrowingRows
}

// GrowingCounts reports whether a growing segment of a leader's view counts.
func (o *Dedup) GrowingCounts(v *LeaderView, id SegmentID) bool {
	g := o.growing[v]
	return g == nil || !slices.Contains(g.copies, id)
}

// derivedCache caches values derived from a Cluster. It is safe for concurrent use.
type derivedCache struct {
	lock   sync.Mutex
	dedups map[CollectionID]*Dedup
	// tasks caches AllTasks, nil until the first call.
	tasks []*Task
	// records has a lock of its own.
	records recordsCache
}

// Dedup returns the Dedup of a collection.
func (c *Cluster) Dedup(id CollectionID) *Dedup {
	if c.Runtime == nil || c.cache == nil {
		return &Dedup{}
	}
	c.cache.lock.Lock()
	defer c.cache.lock.Unlock()
	o := c.cache.dedups[id]
	if o == nil {
		o = c.newDedup(id)
		if c.cache.dedups == nil {
			c.cache.dedups = make(map[CollectionID]*Dedup)
		}
		c.cache.dedups[id] = o
	}
	return o
}

// ReplicaOf returns the replica for which a query node serves a collection: the one that lists the node, else
// the one of its resource group, else the first. It returns nil if there are none.
func (c *Cluster) ReplicaOf(id CollectionID, node NodeID) *Replica {
	list := c.replicasOf[id]
	for _, r := range list {
		for _, nodes := range [...][]NodeID{r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes} {
			if slices.Contains(nodes, node) {
				return r
			}
		}
	}
	for _, r := range list {
		for _, g := range c.ResourceGroups {
			if g.Name == r.ResourceGroup && slices.Contains(g.Nodes, node) {
				return r
			}
		}
	}
	if len(list) > 0 {
		return list[0]
	}
	return nil
}

// GrowingRows returns the rows of a growing segment, as reported by its streaming node or DataCoord or as
// recorded. ok is false if all of them are unknown, because etcd has none until the first sync.
func (c *Cluster) GrowingRows(id SegmentID) (rows int64, ok bool) {
	s := c.Segment(id)
	if s != nil && s.Details != nil && s.Details.Growing != nil {
		return s.Details.Growing.Rows, true
	}
	if x := c.Runtime.DataSegment(id); x != nil && x.Rows > 0 {
		return x.Rows, true
	}
	if s != nil && s.Rows > 0 {
		return s.Rows, true
	}
	return 0, false
}

// GrowingRowsIn returns the rows of one growing segment in a leader's view, which has only the sum. Segments
// with unknown rows get equal parts of the remaining rows.
func (c *Cluster) GrowingRowsIn(v *LeaderView, id SegmentID) int64 {
	if rows, ok := c.GrowingRows(id); ok && len(v.Growing) > 1 {
		return rows
	}
	rest, untold := v.GrowingRows, int64(0)
	for _, g := range v.Growing {
		if rows, ok := c.GrowingRows(g.ID); ok && len(v.Growing) > 1 {
			rest -= rows
		} else {
			untold++
		}
	}
	return max(0, rest) / max(1, untold)
}

// dedupBuilder computes a Dedup.
type dedupBuilder struct {
	*Dedup
	cluster *Cluster
	id      CollectionID
	nodes   map[NodeID]*Replica
	results map[SegmentID][]SegmentID // compaction results by input, built on demand
}

func (c *Cluster) newDedup(id CollectionID) *Dedup {
	o := &Dedup{copies: make(map[segmentCopy]struct{}), growing: make(map[*LeaderView]*dedupedGrowing)}
	x := &dedupBuilder{Dedup: o, cluster: c, id: id, nodes: make(map[NodeID]*Replica)}
	x.excludeMoved()
	x.excludeCompacted()
	x.excludeHandedOver()
	return o
}

// replica returns the replica for which a node serves the collection.
func (x *dedupBuilder) replica(node NodeID) *Replica {
	r, ok := x.nodes[node]
	if !ok {
		r = x.cluster.ReplicaOf(x.id, node)
		x.nodes[node] = r
	}
	return r
}

// excludeMoved finds sealed segments on two nodes of one replica.
func (x *dedupBuilder) excludeMoved() {
	for _, id := range x.cluster.Runtime.multiServedOf(x.id) {
		served := x.cluster.Runtime.Served(id)
		for i, s := range served {
			if s.Sealed == nil {
				continue
			}
			r := x.replica(s.Node.Node)
			for j, other := range served {
				if j != i && other.Sealed != nil && x.replica(other.Node.Node) == r && x.preferred(r, other, s) {
					x.copies[segmentCopy{s.Node.Node, id}] = struct{}{}
					break
				}
			}
		}
	}
}

// preferred reports whether copy a of a sealed segment counts rather than copy b. The copy that the shard leader
// uses wins, else the one loaded last.
func (x *dedupBuilder) preferred(r *Replica, a, b Served) bool {
	for _, v := range x.cluster.Runtime.ShardViews(a.Sealed.Channel) {
		if x.replica(v.Node.Node) != r {
			continue
		}
		if asked := v.NodeOf(a.Sealed.ID); asked == a.Node.Node || asked == b.Node.Node {
			return asked == a.Node.Node
		}
	}
	return cmp.Or(cmp.Compare(b.Sealed.Version, a.Sealed.Version), cmp.Compare(a.Node.Node, b.Node.Node)) < 0
}

// NodeOf returns the node that a leader queries for a sealed segment, or 0 if the view does not have it.
func (v *LeaderView) NodeOf(id SegmentID) NodeID {
	i, ok := slices.BinarySearchFunc(v.Sealed, id, func(s LeaderSegment, id SegmentID) int {
		return cmp.Compare(s.ID, id)
	})
	if !ok {
		return 0
	}
	return v.Sealed[i].Node
}

// excludeCompacted finds sealed segments whose compaction results are loaded. If only some of several results are
// loaded, those results do not count.
func (x *dedupBuilder) excludeCompacted() {
	if x.cluster.CollectionTotals(x.id).ByState[SegmentDropped] == 0 {
		return
	}
	segments := x.cluster.SegmentsOf(x.id)
	for i, state := range RecordsOf(x.cluster, x.id).States {
		if state != SegmentDropped {
			continue
		}
		s := segments[i]
		for _, on := range x.cluster.Runtime.Served(s.ID) {
			if on.Sealed == nil {
				continue
			}
			r := x.replica(on.Node.Node)
			if x.replaced(s.ID, r, 0) {
				x.copies[segmentCopy{on.Node.Node, s.ID}] = struct{}{}
				continue
			}
			for _, result := range x.compactedInto(s.ID) {
				x.exclude(result, r)
			}
		}
	}
}

// exclude excludes a sealed segment on all nodes of a replica.
func (x *dedupBuilder) exclude(id SegmentID, r *Replica) {
	for _, on := range x.cluster.Runtime.Served(id) {
		if on.Sealed != nil && x.replica(on.Node.Node) == r {
			x.copies[segmentCopy{on.Node.Node, id}] = struct{}{}
		}
	}
}

// maxGenerations limits how many successive compactions are followed.
const maxGenerations = 16

// replaced reports whether a replica has all compaction results of a segment sealed.
func (x *dedupBuilder) replaced(id SegmentID, r *Replica, depth int) bool {
	results := x.compactedInto(id)
	if len(results) == 0 || depth == maxGenerations {
		return false
	}
	return !slices.ContainsFunc(results, func(id SegmentID) bool {
		return !x.sealed(id, r) && !x.replaced(id, r, depth+1)
	})
}

// sealed reports whether a replica has a segment sealed.
func (x *dedupBuilder) sealed(id SegmentID, r *Replica) bool {
	return slices.ContainsFunc(x.cluster.Runtime.Served(id), func(s Served) bool {
		return s.Sealed != nil && x.replica(s.Node.Node) == r
	})
}

func (x *dedupBuilder) compactedInto(id SegmentID) []SegmentID {
	if x.results == nil {
		x.results = make(map[SegmentID][]SegmentID)
		for _, s := range x.cluster.SegmentsOf(x.id) {
			for _, from := range s.CompactedFrom {
				x.results[from] = append(x.results[from], s.ID)
			}
		}
	}
	return x.results[id]
}

// excludeHandedOver finds growing segments that are also loaded as sealed, or that another leader of the shard has.
func (x *dedupBuilder) excludeHandedOver() {
	for _, v := range x.cluster.Runtime.ViewsOf(x.id) {
		var copies []SegmentID
		rows := v.GrowingRows
		for _, g := range v.Growing {
			if x.counts(v, g.ID) {
				continue
			}
			copies = append(copies, g.ID)
			rows -= x.cluster.GrowingRowsIn(v.LeaderView, g.ID)
		}
		if len(copies) == 0 {
			continue
		}
		left := &dedupedGrowing{segments: len(v.Growing) - len(copies), copies: copies}
		if left.segments > 0 {
			left.rows = max(0, rows)
		}
		x.growing[v.LeaderView] = left
	}
}

// counts reports whether a growing segment counts in a view.
func (x *dedupBuilder) counts(v ShardView, id SegmentID) bool {
	r := x.replica(v.Node.Node)
	if x.sealed(id, r) {
		return false
	}
	if s := x.cluster.Segment(id); (s == nil || s.State != SegmentGrowing) && x.replaced(id, r, 0) {
		return false
	}
	return !slices.ContainsFunc(x.cluster.Runtime.ShardViews(v.Channel), func(other ShardView) bool {
		return other.LeaderView != v.LeaderView && x.replica(other.Node.Node) == r && other.hasGrowing(id) &&
			leads(other, v)
	})
}

func (v *LeaderView) hasGrowing(id SegmentID) bool {
	_, ok := slices.BinarySearchFunc(v.Growing, id, func(g GrowingView, id SegmentID) int {
		return cmp.Compare(g.ID, id)
	})
	return ok
}

// leads reports whether leader a of a shard takes precedence over b: the one that is serviceable, else the one
// with more segments.
func leads(a, b ShardView) bool {
	ready := func(v ShardView) int {
		if v.Serviceable == nil || *v.Serviceable {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(ready(a), ready(b)),
		cmp.Compare(len(b.Sealed)+len(b.Growing), len(a.Sealed)+len(a.Growing)),
		cmp.Compare(a.Node.Node, b.Node.Node)) < 0
}
