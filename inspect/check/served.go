package check

import (
	"kitescope/inspect/model"
)

// held is a sealed segment of a query node, with its record where the collection has one.
type held struct {
	node   *model.LiveNode
	served *model.ServedSegment
	record *model.Segment
}

// grown is a growing segment of a leader's view.
type grown struct {
	view    model.ShardView
	growing model.GrowingView
}

// odds are, of one collection, the segments in the memory of query nodes that are not as most are: whoever looks for what is wrong
// with them need not go through all. Like a digest they know no time, and are right as long as they are made of the same.
type odds struct {
	digest  *digest
	runtime *model.Runtime
	// strays are sealed there, and dropped or without a record of the collection, by node and id.
	strays []held
	// bare are sealed there without any index, L0 left out, and lacking those without one that is defined for a vector field and
	// has files.
	bare, lacking []held
	// grown are growing there, and flushed, dropped or without a record.
	grown []grown
}

func (o *odds) isOf(d *digest, r *model.Runtime) bool {
	return o != nil && o.digest == d && o.runtime == r
}

func newOdds(c *model.Cluster, id model.CollectionID, d *digest) *odds {
	o := &odds{digest: d, runtime: c.Runtime}
	segments := c.SegmentsOf(id)
	all := newRecords(segments)
	wanted := wantedIndexes(c, id)
	for _, on := range c.Runtime.SealedOf(id) {
		at := 0
		for _, s := range on.Segments {
			var known bool
			at, known = all.seek(s.ID, at)
			h := held{node: on.Node, served: s}
			if known {
				h.record = segments[at]
			}
			if !known || all.states[at] == model.SegmentDropped || all.states[at] == model.SegmentStateNone {
				o.strays = append(o.strays, h)
			}
			if s.Level == model.LevelL0 {
				continue
			}
			if len(s.Indexes) == 0 {
				o.bare = append(o.bare, h)
			}
			if !hasIndexes(s, wanted) {
				o.lacking = append(o.lacking, h)
			}
		}
	}
	for _, v := range c.Runtime.ViewsOf(id) {
		at := 0
		for _, g := range v.Growing {
			var state model.SegmentState
			switch state, at = all.state(g.ID, at); state {
			case model.SegmentStateNone, model.SegmentFlushed, model.SegmentDropped:
				o.grown = append(o.grown, grown{v, g})
			default:
			}
		}
	}
	return o
}

// wantedIndexes are the vector indexes of a collection that have files.
func wantedIndexes(c *model.Cluster, id model.CollectionID) []*model.Index {
	var list []*model.Index
	for _, x := range c.IndexesOf(id) {
		if !x.Deleted && x.Type != "" && !flat(x.Type) && isVectorField(c, id, x.Field) {
			list = append(list, x)
		}
	}
	return list
}

func hasIndexes(s *model.ServedSegment, wanted []*model.Index) bool {
	for _, x := range wanted {
		if !hasIndex(s, x) {
			return false
		}
	}
	return true
}

// oddsOf are the odds of a collection, nil if nobody serves anything of it.
func (p *Facts) oddsOf(id model.CollectionID) *odds {
	return p.odds()[id]
}

// eachOdds calls f for each collection of which something is served.
func (p *Facts) eachOdds(f func(model.CollectionID, *odds)) {
	for _, id := range p.Runtime.ServedCollections() {
		f(id, p.oddsOf(id))
	}
}

// counted are segments that were counted already: each counts once, however many nodes, leaders and replicas have it.
type counted map[model.SegmentID]bool

// first reports whether a segment was not counted yet, and counts it.
func (c *counted) first(id model.SegmentID) bool {
	if (*c)[id] {
		return false
	}
	if *c == nil {
		*c = make(counted)
	}
	(*c)[id] = true
	return true
}

// hasIndex reports whether a node has an index of a segment's field in use.
func hasIndex(s *model.ServedSegment, x *model.Index) bool {
	for i := range s.Indexes {
		if s.Indexes[i].Index == x.ID || s.Indexes[i].Field == x.Field {
			return true
		}
	}
	return false
}
