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
	known := newRecords(x.segments)
	served := c.Runtime.SealedOf(id)
	x.shares = make([]Share, len(served))
	for i, on := range served {
		share := &x.shares[i]
		share.Node = on.Node.Node
		at := 0
		for _, s := range on.Segments {
			if s.Level == model.LevelL0 {
				share.LevelZero++
				continue
			}
			var ok bool
			var of sealedFigures
			if at, ok = model.Seek(known.ids, s.ID, at); ok {
				of = sealedFigures{known.rows[at], known.bytes[at], true}
			} else {
				of.rows, of.known = loadedRows(s)
			}
			share.addSealed(cost, s, of, x.once.Sealed(share.Node, s.ID))
		}
	}
	return x
}
