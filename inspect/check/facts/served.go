package facts

import (
	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// held is a sealed segment of a query node, with its record where the collection has one.
type held struct {
	Node   *model.LiveNode
	Served *model.ServedSegment
	Record *model.Segment
}

// grown is a growing segment of a leader's view.
type grown struct {
	View    model.ShardView
	Growing model.GrowingView
}

// Odds are, of one collection, the segments in the memory of query nodes that are not as most are: whoever looks for what is wrong
// with them need not go through all. Like a digest they know no time, and are right as long as they are made of the same.
type Odds struct {
	digest  *Digest
	runtime *model.Runtime
	// Strays are sealed there, and dropped or without a record of the collection, by node and id.
	Strays []held
	// Bare are sealed there without any index, L0 left out, and lacking those without one that is defined for a vector field and
	// has files.
	Bare, Lacking []held
	// Grown are growing there, and flushed, dropped or without a record.
	Grown []grown
}

func (o *Odds) isOf(d *Digest, r *model.Runtime) bool {
	return o != nil && o.digest == d && o.runtime == r
}

func newOdds(c *model.Cluster, id model.CollectionID, d *Digest, survey *balance.Survey) *Odds {
	o := &Odds{digest: d, runtime: c.Runtime}
	candidates, surveyed := survey.Odd(id)
	if !surveyed { // the survey broke
		candidates = allSealed(c, id)
	}
	wanted := WantedIndexes(c, id)
	for _, x := range candidates {
		s, h := x.Served, held(x)
		if r := h.Record; r == nil || r.State == model.SegmentDropped || r.State == model.SegmentStateNone {
			o.Strays = append(o.Strays, h)
		}
		if s.Level == model.LevelL0 {
			continue
		}
		if len(s.Indexes) == 0 {
			o.Bare = append(o.Bare, h)
		}
		if !hasIndexes(s, wanted) {
			o.Lacking = append(o.Lacking, h)
		}
	}
	o.addGrown(c, id)
	return o
}

// allSealed are all sealed segments that query nodes have of a collection, by node and id.
func allSealed(c *model.Cluster, id model.CollectionID) []balance.Odd {
	var list []balance.Odd
	segments, known := c.SegmentsOf(id), model.RecordsOf(c, id)
	for _, on := range c.Runtime.SealedOf(id) {
		for _, s := range on.Segments {
			x := balance.Odd{Node: on.Node, Served: s}
			if at, ok := known.Place(s.ID); ok {
				x.Record = segments[at]
			}
			list = append(list, x)
		}
	}
	return list
}

// addGrown finds what is growing in leaders' views and should not be.
func (o *Odds) addGrown(c *model.Cluster, id model.CollectionID) {
	all := model.RecordsOf(c, id)
	for _, v := range c.Runtime.ViewsOf(id) {
		for _, g := range v.Growing {
			state := model.SegmentStateNone // where there is no record
			if at, known := all.Place(g.ID); known {
				state = all.States[at]
			}
			switch state {
			case model.SegmentStateNone, model.SegmentFlushed, model.SegmentDropped:
				o.Grown = append(o.Grown, grown{v, g})
			default:
			}
		}
	}
}

// WantedIndexes are the vector indexes of a collection that have files.
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

// oddsOf are the odds of a collection, nil if nobody serves anything of it.
func (f *Facts) oddsOf(id model.CollectionID) *Odds {
	return f.odds()[id]
}

// EachOdds calls f for each collection of which something is served.
func (f *Facts) EachOdds(visit func(model.CollectionID, *Odds)) {
	for _, id := range f.Runtime.ServedCollections() {
		visit(id, f.oddsOf(id))
	}
}

// Counted are segments that were counted already: each counts once, however many nodes, leaders and replicas have it.
type Counted map[model.SegmentID]bool

// First reports whether a segment was not counted yet, and counts it.
func (c *Counted) First(id model.SegmentID) bool {
	if (*c)[id] {
		return false
	}
	if *c == nil {
		*c = make(Counted)
	}
	(*c)[id] = true
	return true
}

// HasIndex reports whether a node has an index of a segment's field in use.
func HasIndex(s *model.ServedSegment, x *model.Index) bool {
	for i := range s.Indexes {
		if s.Indexes[i].Index == x.ID || s.Indexes[i].Field == x.Field {
			return true
		}
	}
	return false
}
