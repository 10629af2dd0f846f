package balance

import (
	"slices"
	"sync"

	"kitescope/inspect/model"
)

// Take adds up what query nodes serve. Without a Runtime only the groups and their
// members are known.
func Take(c *model.Cluster) *Survey { return new(Surveyor).Take(c) }

// Surveyor takes one survey after another, and adds up anew only collections of which something changed. It is not for
// several goroutines at once; the surveys are.
type Surveyor struct {
	kept map[model.CollectionID]*sealedSums
}

// Take surveys a cluster as the function of that name does.
func (x *Surveyor) Take(c *model.Cluster) *Survey {
	s := &Survey{Weights: DefaultWeights(), Asked: c.Runtime != nil, cluster: c, Auto: autoOf(c)}
	t := newSurveyBuilder(s, x.kept)
	t.distributions()
	t.metrics()
	t.finish()
	s.odd = make(map[model.CollectionID][]Odd, len(t.next))
	for id, sums := range t.next {
		s.odd[id] = sums.odd
	}
	s.items = sync.OnceValue(s.collectItems)
	x.kept = t.next
	return s
}

// sealedSums are what each query node has sealed of one collection, and everything that this was worked out from. A Cluster's
// objects do not change: while they are the same ones, the sums are right.
type sealedSums struct {
	runtime    *model.Runtime
	collection *model.Collection
	segments   []*model.Segment
	indexes    []*model.Index
	replicas   []*model.Replica
	resources  []*model.ResourceGroup
	weights    Weights
	once       *model.Once
	shares     []Share // by node; only sums of sealed segments are set
	odd        []Odd
}

// Odd is a sealed segment of a query node that is not as most are, or may not be: it has no record or one of a segment that was dropped, not
// every vector field of it is behind an index, or it does not count.
type Odd struct {
	Node   *model.LiveNode
	Served *model.ServedSegment
	Record *model.Segment // nil: the collection has none
}

// Odd are those of a collection, by node and id: who looks for what is wrong with segments in memory need not go through all again. ok is
// false if the collection was not surveyed.
func (s *Survey) Odd(id model.CollectionID) (list []Odd, ok bool) {
	list, ok = s.odd[id]
	return list, ok
}

// holds reports whether the sums are those of a cluster, too.
func (x *sealedSums) holds(c *model.Cluster, id model.CollectionID, weights Weights) bool {
	return x != nil && x.runtime == c.Runtime && x.collection == c.Collection(id) && x.weights == weights &&
		slices.Equal(x.segments, c.SegmentsOf(id)) && slices.Equal(x.indexes, c.IndexesOf(id)) &&
		slices.Equal(x.replicas, c.ReplicasOf(id)) && slices.Equal(x.resources, c.ResourceGroups)
}

// sumSealed adds up one collection. Its own records count: a segment never changes its collection.
func sumSealed(c *model.Cluster, id model.CollectionID, cost *costing) *sealedSums {
	x := &sealedSums{
		runtime: c.Runtime, collection: c.Collection(id), segments: c.SegmentsOf(id), indexes: c.IndexesOf(id),
		replicas: c.ReplicasOf(id), resources: c.ResourceGroups, weights: *cost.weights, once: c.Once(id),
	}
	known, served := model.RecordsOf(c, id), c.Runtime.SealedOf(id)
	x.shares = make([]Share, len(served))
	for i, on := range served {
		x.sum(&x.shares[i], on, known, cost)
	}
	return x
}

// sum adds up what one node has sealed.
func (x *sealedSums) sum(share *Share, on model.SealedOn, known *model.Records, cost *costing) {
	share.Node = on.Node.Node
	for _, s := range on.Segments {
		at, ok := known.Place(s.ID)
		plain := ok && known.States[at] != model.SegmentDropped && known.States[at] != model.SegmentStateNone
		if s.Level == model.LevelL0 {
			share.LevelZero++
		} else {
			var of sealedFigures
			if ok {
				of = sealedFigures{known.Rows[at], known.Bytes[at], true}
			} else {
				of.rows, of.known = loadedRows(s)
			}
			plain = share.addSealed(cost, s, of, x.once.Sealed(share.Node, s.ID)) && plain
		}
		if plain {
			continue
		}
		odd := Odd{Node: on.Node, Served: s}
		if ok {
			odd.Record = x.segments[at]
		}
		x.odd = append(x.odd, odd)
	}
}
