package facts

import (
	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// sealedSegment is a sealed segment of a query node. Record is nil if the collection has no record of it.
type sealedSegment struct {
	Node   *model.LiveNode
	Served *model.ServedSegment
	Record *model.Segment
}

// growingSegment is a growing segment of a leader's view.
type growingSegment struct {
	View    model.ShardView
	Growing model.GrowingView
}

// Anomalies holds the anomalies among the segments of one collection in the memory of query nodes, so that checks need
// not scan all segments. Like a Digest it does not depend on the time, and stays valid while its inputs are the
// same.
type Anomalies struct {
	digest  *Digest
	runtime *model.Runtime
	// Strays are sealed on a node, but dropped or without a record in the collection, by node and id.
	Strays []sealedSegment
	// Unindexed are sealed on a node without any index. MissingIndex are sealed on a node without some index that is
	// defined on a vector field and has files. Both exclude L0.
	Unindexed, MissingIndex []sealedSegment
	// Growing are growing in a leader's view, but flushed, dropped or without a record.
	Growing []growingSegment
}

func (o *Anomalies) validFor(d *Digest, r *model.Runtime) bool {
	return o != nil && o.digest == d && o.runtime == r
}

func newAnomalies(c *model.Cluster, id model.CollectionID, d *Digest, survey *balance.Survey) *Anomalies {
	o := &Anomalies{digest: d, runtime: c.Runtime}
	candidates, surveyed := survey.Anomalies(id)
	if !surveyed { // the survey failed
		candidates = allSealed(c, id)
	}
	wanted := WantedIndexes(c, id)
	for _, x := range candidates {
		s, h := x.Served, sealedSegment(x)
		if r := h.Record; r == nil || r.State == model.SegmentDropped || r.State == model.SegmentStateNone {
			o.Strays = append(o.Strays, h)
		}
		if s.Level == model.LevelL0 {
			continue
		}
		if len(s.Indexes) == 0 {
			o.Unindexed = append(o.Unindexed, h)
		}
		if !hasIndexes(s, wanted) {
			o.MissingIndex = append(o.MissingIndex, h)
		}
	}
	o.addGrowing(c, id)
	return o
}

// allSealed returns all sealed segments of a collection on query nodes, by node and id.
func allSealed(c *model.Cluster, id model.CollectionID) []balance.Anomaly {
	var list []balance.Anomaly
	segments, known := c.SegmentsOf(id), model.RecordsOf(c, id)
	for _, on := range c.Runtime.SealedOf(id) {
		for _, s := range on.Segments {
			x := balance.Anomaly{Node: on.Node, Served: s}
			if at, ok := known.Place(s.ID); ok {
				x.Record = segments[at]
			}
			list = append(list, x)
		}
	}
	return list
}

// addGrowing collects the segments that are growing in leaders' views but are recorded as flushed or dropped, or have
// no record.
func (o *Anomalies) addGrowing(c *model.Cluster, id model.CollectionID) {
	all := model.RecordsOf(c, id)
	for _, v := range c.Runtime.ViewsOf(id) {
		for _, g := range v.Growing {
			state := model.SegmentStateNone // if there is no record
			if at, known := all.Place(g.ID); known {
				state = all.States[at]
			}
			switch state {
			case model.SegmentStateNone, model.SegmentFlushed, model.SegmentDropped:
				o.Growing = append(o.Growing, growingSegment{v, g})
			default:
			}
		}
	}
}

// WantedIndexes returns the vector indexes of a collection that have files.
func WantedIndexes(c *model.Cluster, id model.CollectionID) []*model.Index {
	var list []*model.Index
	for _, x := range c.IndexesOf(id) {
		if !x.Deleted && x.Type != "" && !IsFlat(x.Type) && isVectorField(c, id, x.Field) {
			list = append(list, x)
		}
	}
	return list
}

func hasIndexes(s *model.ServedSegment, wanted []*model.Index) bool {
	for _, x := range wanted {
		if !HasIndex(s, x) {
			return false
		}
	}
	return true
}

// anomaliesOf returns the Anomalies of a collection, nil if nothing of it is served.
func (f *Facts) anomaliesOf(id model.CollectionID) *Anomalies {
	return f.anomalies()[id]
}

// EachAnomalies calls visit for each collection that is served, at least in part.
func (f *Facts) EachAnomalies(visit func(model.CollectionID, *Anomalies)) {
	for _, id := range f.Runtime.ServedCollections() {
		visit(id, f.anomaliesOf(id))
	}
}

// SegmentSet is the set of segments already counted: each counts once, however many nodes, leaders and replicas have
// it.
type SegmentSet map[model.SegmentID]bool

// Add reports whether a segment was not counted yet, and adds it to the set.
func (c *SegmentSet) Add(id model.SegmentID) bool {
	if (*c)[id] {
		return false
	}
	if *c == nil {
		*c = make(SegmentSet)
	}
	(*c)[id] = true
	return true
}

// HasIndex reports whether a served segment has an index x, or any index on the field of x.
func HasIndex(s *model.ServedSegment, x *model.Index) bool {
	for i := range s.Indexes {
		if s.Indexes[i].Index == x.ID || s.Indexes[i].Field == x.Field {
			return true
		}
	}
	return false
}
