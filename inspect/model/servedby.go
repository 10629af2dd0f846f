package model

import (
	"maps"
	"slices"
)

// NodeSegments holds the sealed segments of one collection on one query node.
type NodeSegments struct {
	Node     *LiveNode
	Segments []*ServedSegment // by id
}

// collectionGroups holds the segments and views of query nodes by collection.
type collectionGroups struct {
	sealed      map[CollectionID][]NodeSegments
	views       map[CollectionID][]ShardView
	multiServed map[CollectionID][]SegmentID
	ids         []CollectionID
}

// SealedOf returns the sealed segments of a collection on query nodes, including L0, by node.
func (r *Runtime) SealedOf(id CollectionID) []NodeSegments {
	if r == nil {
		return nil
	}
	return r.grouped().sealed[id]
}

// ViewsOf returns the views of all leaders of a collection, by node and channel.
func (r *Runtime) ViewsOf(id CollectionID) []ShardView {
	if r == nil {
		return nil
	}
	return r.grouped().views[id]
}

// multiServedOf returns the segments of a collection that more than one node has sealed, without L0.
func (r *Runtime) multiServedOf(id CollectionID) []SegmentID { return r.grouped().multiServed[id] }

// ServedCollections returns the collections with a segment or shard leader on a query node, by id.
func (r *Runtime) ServedCollections() []CollectionID {
	if r == nil {
		return nil
	}
	return r.grouped().ids
}

// group groups the segments and views of query nodes by collection. It runs on first use.
func (r *Runtime) group() *collectionGroups {
	g := &collectionGroups{
		sealed: make(map[CollectionID][]NodeSegments), views: make(map[CollectionID][]ShardView),
		multiServed: make(map[CollectionID][]SegmentID),
	}
	found := make(map[CollectionID]bool)
	var divided sealedGroups
	for _, n := range r.queryNodes {
		if n.Distribution == nil {
			continue
		}
		divided.divide(n.Distribution.Sealed)
		for i, id := range divided.ids {
			g.sealed[id] = append(g.sealed[id], NodeSegments{n, divided.segments[i]}) // in order of nodes
			found[id] = true
		}
		for i := range n.Distribution.Leaders {
			v := &n.Distribution.Leaders[i]
			g.views[v.Collection] = append(g.views[v.Collection], ShardView{n, v})
			found[v.Collection] = true
		}
	}
	for _, id := range r.multiServed {
		at := slices.IndexFunc(r.served[id], func(s Served) bool { return s.Sealed != nil })
		if s := r.served[id][at].Sealed; s.Level != LevelL0 {
			g.multiServed[s.Collection] = append(g.multiServed[s.Collection], id)
		}
	}
	g.ids = slices.Sorted(maps.Keys(found))
	return g
}

// sealedGroups holds one node's sealed segments by collection. Its memory is reused for the next node, except
// for the segments.
type sealedGroups struct {
	ids      []CollectionID
	segments [][]*ServedSegment // of each collection, in the order of the node

	at     map[CollectionID]int // of a collection in ids
	group  []int                // the group of each segment
	counts []int
}

// divide groups a node's segments in a single array. There may be 200,000, so each is looked up only once.
func (g *sealedGroups) divide(list []ServedSegment) {
	g.ids, g.segments, g.group, g.counts = g.ids[:0], g.segments[:0], g.group[:0], g.counts[:0]
	if g.at == nil {
		g.at = make(map[CollectionID]int)
	}
	clear(g.at)
	for i := range list {
		id := list[i].Collection
		at, known := g.at[id]
		if !known {
			at = len(g.ids)
			g.at[id], g.ids, g.counts = at, append(g.ids, id), append(g.counts, 0)
		}
		g.group = append(g.group, at)
		g.counts[at]++
	}
	backing := make([]*ServedSegment, len(list))
	next := 0
	for _, n := range g.counts {
		g.segments = append(g.segments, backing[next:next:next+n])
		next += n
	}
	for i, at := range g.group {
		g.segments[at] = append(g.segments[at], &list[i])
	}
}
