package model

import (
	"maps"
	"slices"
)

// SealedOn is what one query node has sealed of one collection.
type SealedOn struct {
	Node     *LiveNode
	Segments []*ServedSegment // by id
}

// byCollection is what query nodes serve, collection by collection.
type byCollection struct {
	sealed map[CollectionID][]SealedOn
	views  map[CollectionID][]ShardView
	often  map[CollectionID][]SegmentID
	ids    []CollectionID
}

// SealedOf is what query nodes have sealed of a collection, L0 segments too, by node.
func (r *Runtime) SealedOf(id CollectionID) []SealedOn {
	if r == nil {
		return nil
	}
	return r.grouped().sealed[id]
}

// ViewsOf are the views of all leaders of a collection, by node and channel.
func (r *Runtime) ViewsOf(id CollectionID) []ShardView {
	if r == nil {
		return nil
	}
	return r.grouped().views[id]
}

// servedOften are the sealed segments of a collection that more than one node has, L0 left out.
func (r *Runtime) servedOften(id CollectionID) []SegmentID { return r.grouped().often[id] }

// ServedCollections are the collections of which a query node has a segment or leads a shard, by id.
func (r *Runtime) ServedCollections() []CollectionID {
	if r == nil {
		return nil
	}
	return r.grouped().ids
}

// group splits what query nodes serve by collection. Not everyone asks, so it is done when somebody does.
func (r *Runtime) group() *byCollection {
	g := &byCollection{sealed: make(map[CollectionID][]SealedOn), views: make(map[CollectionID][]ShardView), often: make(map[CollectionID][]SegmentID)}
	found := make(map[CollectionID]bool)
	for _, n := range r.queryNodes {
		if n.Distribution == nil {
			continue
		}
		for id, segments := range groupSealed(n.Distribution.Sealed) {
			g.sealed[id] = append(g.sealed[id], SealedOn{n, segments}) // one a node: their order is that of the nodes
			found[id] = true
		}
		for i := range n.Distribution.Leaders {
			v := &n.Distribution.Leaders[i]
			g.views[v.Collection] = append(g.views[v.Collection], ShardView{n, v})
			found[v.Collection] = true
		}
	}
	for _, id := range r.several {
		at := slices.IndexFunc(r.served[id], func(s Served) bool { return s.Sealed != nil })
		if s := r.served[id][at].Sealed; s.Level != LevelL0 {
			g.often[s.Collection] = append(g.often[s.Collection], id)
		}
	}
	g.ids = slices.Sorted(maps.Keys(found))
	return g
}

// groupSealed groups one node's segments into one array, keeping their order.
func groupSealed(list []ServedSegment) map[CollectionID][]*ServedSegment {
	counts := make(map[CollectionID]int)
	for i := range list {
		counts[list[i].Collection]++
	}
	backing := make([]*ServedSegment, len(list))
	groups := make(map[CollectionID][]*ServedSegment, len(counts))
	next := 0
	for id, n := range counts {
		groups[id] = backing[next : next : next+n]
		next += n
	}
	for i := range list {
		id := list[i].Collection
		groups[id] = append(groups[id], &list[i])
	}
	return groups
}
