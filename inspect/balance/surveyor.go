package balance

import (
	"slices"
	"sync"

	"kitescope/inspect/model"
)

// NewSurvey sums the data that query nodes serve. Without a Runtime only the groups and their members are known.
func NewSurvey(c *model.Cluster) *Survey { return new(Surveyor).Take(c) }

// Surveyor takes successive surveys, and recomputes only collections that changed. It is not safe for concurrent
// use. Its surveys are.
type Surveyor struct {
	cache map[model.CollectionID]*sealedSums
}

// Take surveys a cluster, like the function Take.
func (x *Surveyor) Take(c *model.Cluster) *Survey {
	s := &Survey{Weights: DefaultWeights(), HasRuntime: c.Runtime != nil, cluster: c, Auto: autoOf(c)}
	t := newSurveyBuilder(s, x.cache)
	t.distributions()
	t.metrics()
	t.finish()
	s.anomalies = make(map[model.CollectionID][]Anomaly, len(t.next))
	for id, sums := range t.next {
		s.anomalies[id] = sums.anomalies
	}
	s.items = sync.OnceValue(s.collectItems)
	x.cache = t.next
	return s
}

// sealedSums holds, for one collection, the sums of each query node's sealed segments, and all inputs. A
// Cluster's objects are immutable, so the sums are valid as long as the inputs are identical.
type sealedSums struct {
	runtime    *model.Runtime
	collection *model.Collection
	segments   []*model.Segment
	indexes    []*model.Index
	replicas   []*model.Replica
	resources  []*model.ResourceGroup
	weights    Weights
	once       *model.Dedup
	shares     []Share // by node; only sums of sealed segments are set
	anomalies  []Anomaly
}

// Anomaly is a sealed segment of a query node that may be unusual: it has no record, its record is of a dropped
// segment, one of its vector fields is not behind an index, or it does not count.
type Anomaly struct {
	Node   *model.LiveNode
	Served *model.ServedSegment
	Record *model.Segment // nil if the collection has no record of the segment
}

// Anomalies returns the odd segments of a collection, by node and id. With them, checks of loaded segments need not
// scan all segments. ok is false if the collection was not surveyed.
func (s *Survey) Anomalies(id model.CollectionID) (list []Anomaly, ok bool) {
	list, ok = s.anomalies[id]
	return list, ok
}

// valid reports whether the sums are valid for a cluster.
func (x *sealedSums) valid(c *model.Cluster, id model.CollectionID, weights Weights) bool {
	return x != nil && x.runtime == c.Runtime && x.collection == c.Collection(id) && x.weights == weights &&
		slices.Equal(x.segments, c.SegmentsOf(id)) && slices.Equal(x.indexes, c.IndexesOf(id)) &&
		slices.Equal(x.replicas, c.ReplicasOf(id)) && slices.Equal(x.resources, c.ResourceGroups)
}

// sumSealed sums one collection. It uses the collection's own records, because a segment never changes its
// collection.
func sumSealed(c *model.Cluster, id model.CollectionID, cost *costing) *sealedSums {
	x := &sealedSums{
		runtime: c.Runtime, collection: c.Collection(id), segments: c.SegmentsOf(id), indexes: c.IndexesOf(id),
		replicas: c.ReplicasOf(id), resources: c.ResourceGroups, weights: *cost.weights, once: c.Dedup(id),
	}
	known, served := model.RecordsOf(c, id), c.Runtime.SealedOf(id)
	x.shares = make([]Share, len(served))
	for i, on := range served {
		x.sum(&x.shares[i], on, known, cost)
	}
	return x
}

// sum sums the sealed segments of a node.
func (x *sealedSums) sum(share *Share, served model.NodeSegments, known *model.Records, cost *costing) {
	share.Node = served.Node.Node
	for _, s := range served.Segments {
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
		odd := Anomaly{Node: served.Node, Served: s}
		if ok {
			odd.Record = x.segments[at]
		}
		x.anomalies = append(x.anomalies, odd)
	}
}
