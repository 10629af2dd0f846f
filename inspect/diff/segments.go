package diff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// segments matches segments by id. It follows segments that disappeared to the results of their
// compactions.
func (p *pair) segments() {
	if !p.bothRead("segments", model.PartSegments) {
		return
	}
	c := &segmentComparison{
		pair: p, children: map[model.SegmentID][]*model.Segment{}, reported: map[model.SegmentID]bool{},
	}
	c.logs = p.bothRead("segments.size_bytes", model.PartLogs)
	c.indexes = p.bothRead("segments.index_state", model.PartIndexes|model.PartSegmentIndexes)
	c.pairUp()
	c.reportRemoved()
	for _, y := range c.added {
		if !c.reported[y.ID] {
			p.add(Change{
				Kind: Added, Object: segmentRef(y), Collection: p.collectionRef(y.Collection), To: describeSegment(y),
			})
		}
	}
}

type segmentComparison struct {
	*pair
	logs, indexes bool
	// removed holds segments that were healthy before and are gone or dropped after.
	removed []*model.Segment
	// added holds healthy segments that are new.
	added []*model.Segment
	// children maps a segment to the segments of the newer side that were compacted from it.
	children map[model.SegmentID][]*model.Segment
	reported map[model.SegmentID]bool
	// equalIndexes caches whether the index definitions of a collection are equal on both sides.
	equalIndexes map[model.CollectionID]bool
}

// pairUp merges the two lists of segments, which are sorted by id.
func (c *segmentComparison) pairUp() {
	a, b := c.a.Segments, c.b.Segments
	// Skip segments that both sides share if the index definitions are equal, too. After a refresh nearly all
	// segments are shared.
	shared := !c.indexes || slices.Equal(c.a.Indexes, c.b.Indexes)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case shared && len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && a[0].ID < b[0].ID:
			c.visitRemoved(a[0])
			a = a[1:]
		case len(a) == 0 || b[0].ID < a[0].ID:
			c.visitAdded(b[0])
			b = b[1:]
		default:
			c.visitBoth(a[0], b[0])
			a, b = a[1:], b[1:]
		}
	}
}

func (c *segmentComparison) visitRemoved(x *model.Segment) {
	switch {
	case x.State.Healthy():
		c.removed = append(c.removed, x)
	case c.options.Volatile:
		c.add(Change{
			Kind: Removed, Object: segmentRef(x), Collection: c.collectionRef(x.Collection), From: describeSegment(x),
		})
	}
}

func (c *segmentComparison) visitAdded(y *model.Segment) {
	switch {
	case y.State.Healthy():
		c.added = append(c.added, y)
	case c.options.Volatile:
		c.add(Change{
			Kind: Added, Object: segmentRef(y), Collection: c.collectionRef(y.Collection), To: describeSegment(y),
		})
	}
}

func (c *segmentComparison) visitBoth(x, y *model.Segment) {
	if x.State.Healthy() && !y.State.Healthy() {
		c.removed = append(c.removed, x)
		return
	}
	if x == y && (!c.indexes || c.sameIndexes(x.Collection)) {
		return
	}
	c.compareSegments(x, y)
}

// sameIndexes reports whether the index definitions of a collection are equal on both sides. If they are
// not, the index state of an unchanged segment may have changed.
func (c *segmentComparison) sameIndexes(id model.CollectionID) bool {
	same, known := c.equalIndexes[id]
	if known {
		return same
	}
	if c.equalIndexes == nil {
		c.equalIndexes = map[model.CollectionID]bool{}
	}
	same = slices.EqualFunc(c.a.IndexesOf(id), c.b.IndexesOf(id), func(x, y *model.Index) bool {
		return x == y || x.ID == y.ID && x.Deleted == y.Deleted
	})
	c.equalIndexes[id] = same
	return same
}

func (c *segmentComparison) compareSegments(x, y *model.Segment) {
	changed := func(field, from, to string) {
		c.add(Change{
			Kind: Changed, Object: segmentRef(y), Collection: c.collectionRef(y.Collection), Field: field, From: from,
			To: to,
		})
	}
	number := func(field string, from, to int64) {
		if from != to {
			changed(field, strconv.FormatInt(from, 10), strconv.FormatInt(to, 10))
		}
	}
	if x.State != y.State {
		changed("state", x.State.String(), y.State.String())
	}
	if x.Level != y.Level {
		changed("level", x.Level.String(), y.Level.String())
	}
	number("rows", x.Rows, y.Rows)
	number("partition_id", int64(x.Partition), int64(y.Partition))
	if x.VChannel != y.VChannel {
		changed("vchannel", x.VChannel, y.VChannel)
	}
	if c.logs {
		number("deleted_rows", x.DeletedRows, y.DeletedRows)
		number("size_bytes", x.Bytes, y.Bytes)
	}
	if c.indexes {
		if from, to := c.a.IndexState(x), c.b.IndexState(y); from != to {
			changed("index_state", from.String(), to.String())
		}
	}
	if c.options.Volatile && x.PositionAt != y.PositionAt {
		changed("position_at", timeText(x.PositionAt.Time()), timeText(y.PositionAt.Time()))
	}
}

// reportRemoved adds a change for each segment in removed: replaced, state changed or removed.
func (c *segmentComparison) reportRemoved() {
	c.followCompactions()
	for _, x := range c.removed {
		owner := c.collectionRef(x.Collection)
		heirs := c.successors(x.ID)
		switch y := c.b.Segment(x.ID); {
		case len(heirs) > 0:
			refs := make([]model.Ref, len(heirs))
			for i, h := range heirs {
				refs[i] = segmentRef(h)
				c.reported[h.ID] = true
			}
			c.add(Change{
				Kind: Replaced, Object: segmentRef(x), Collection: owner,
				From: describeSegment(x), To: describeAll(heirs), By: refs,
			})
		case y != nil:
			c.add(Change{
				Kind: Changed, Object: segmentRef(x), Collection: owner, Field: "state", From: x.State.String(),
				To: y.State.String(),
			})
		default:
			c.add(Change{Kind: Removed, Object: segmentRef(x), Collection: owner, From: describeSegment(x)})
		}
	}
}

// followCompactions fills children for the collections of the segments in removed.
func (c *segmentComparison) followCompactions() {
	done := map[model.CollectionID]bool{}
	for _, x := range c.removed {
		if done[x.Collection] {
			continue
		}
		done[x.Collection] = true
		for _, y := range c.b.SegmentsOf(x.Collection) {
			for _, parent := range y.CompactedFrom {
				c.children[parent] = append(c.children[parent], y)
			}
		}
	}
}

// successors returns the healthy segments that hold the rows of a segment after any number of compactions,
// sorted by id. It visits each segment once, because CompactedFrom may be circular in damaged metadata.
func (c *segmentComparison) successors(id model.SegmentID) []*model.Segment {
	var found []*model.Segment
	visited := map[model.SegmentID]bool{id: true}
	next := []model.SegmentID{id}
	for len(next) > 0 {
		parent := next[0]
		next = next[1:]
		for _, child := range c.children[parent] {
			if visited[child.ID] {
				continue
			}
			visited[child.ID] = true
			if child.State.Healthy() {
				found = append(found, child)
				continue
			}
			next = append(next, child.ID)
		}
	}
	slices.SortFunc(found, func(x, y *model.Segment) int { return cmp.Compare(x.ID, y.ID) })
	return found
}

func segmentRef(s *model.Segment) model.Ref {
	return model.Ref{Resource: "segments", ID: s.ID.String()}
}

func describeSegment(s *model.Segment) string {
	return "state=" + s.State.String() + " rows=" + strconv.FormatInt(s.Rows, 10)
}

func describeAll(list []*model.Segment) string {
	if len(list) == 1 {
		return describeSegment(list[0])
	}
	var rows int64
	states := map[string]bool{}
	var words []string
	for _, s := range list {
		rows += s.Rows
		if w := s.State.String(); !states[w] {
			states[w] = true
			words = append(words, w)
		}
	}
	return "state=" + strings.Join(words, ",") + " rows=" + strconv.FormatInt(rows, 10)
}

func (p *pair) newSummary(ref model.Ref) Summary {
	id, _ := strconv.ParseInt(ref.ID, 10, 64)
	before, after := p.a.CollectionTotals(model.CollectionID(id)), p.b.CollectionTotals(model.CollectionID(id))
	return Summary{
		Collection: ref, RowsBefore: before.Rows, RowsAfter: after.Rows,
		SegmentsBefore: before.Segments, SegmentsAfter: after.Segments,
	}
}
