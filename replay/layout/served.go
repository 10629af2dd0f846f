package layout

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// anyReported reports whether any query node of the collection's replicas reported its segments.
func (b *builder) anyReported() bool {
	for _, n := range b.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for _, m := range b.members {
			if slices.Contains(m.all, n.Node) {
				return true
			}
		}
	}
	return len(b.Runtime.SealedOf(b.collection.ID)) > 0 || len(b.Runtime.ViewsOf(b.collection.ID)) > 0
}

// addServed adds the segments that nodes report. They take precedence over the metadata.
func (b *builder) addServed() {
	views := b.views()
	moved, compacted := b.addServedSealed()
	both := b.addServedGrowing(views)
	if moved > 0 {
		b.note("%d sealed segments are on two nodes of a replica, probably being moved: using the copy the shard "+
			"leader queries", moved)
	}
	if compacted > 0 {
		b.note("%s in memory next to the result of its compaction: searching the result",
			words.Count(compacted, "sealed segment is", "sealed segments are"))
	}
	if both > 0 {
		b.note("%d segments are served both sealed and growing, probably just flushed: searching the sealed ones", both)
	}
	b.assignUnreported()
	b.noteUnserved()
	for i := range b.l.Replicas {
		if n := b.leaders(i); n > 0 {
			b.note("replica %d: no node reports leading %d of its shards: assuming leaders", b.l.Replicas[i].ID, n)
		}
	}
}

// views returns the leaders' views by replica and channel, and sets the leaders of the replicas. If a shard has two
// views, e.g. while it is moved, a serviceable leader takes precedence, then the view with more segments.
func (b *builder) views() []map[string]*model.LeaderView {
	found := make([]map[string]*model.LeaderView, len(b.l.Replicas))
	for i := range found {
		found[i] = make(map[string]*model.LeaderView)
	}
	better := func(x, y *model.LeaderView) bool {
		a, c := x.Serviceable == nil || *x.Serviceable, y.Serviceable == nil || *y.Serviceable
		if a != c {
			return a
		}
		return len(x.Sealed)+len(x.Growing) > len(y.Sealed)+len(y.Growing)
	}
	for _, v := range b.Runtime.ViewsOf(b.collection.ID) {
		i := b.replicaOf(v.Node.Node)
		if old := found[i][v.Channel]; old == nil || better(v.LeaderView, old) {
			found[i][v.Channel] = v.LeaderView
			b.l.Replicas[i].Leaders[v.Channel] = int64(v.Node.Node)
		}
	}
	return found
}

// addServedSealed adds the sealed segments of all nodes, each once per replica. It returns the number of skipped
// copies that are on another node as well, and the number of segments skipped because their compaction result is
// served.
func (b *builder) addServedSealed() (moved, compacted int) {
	once := b.Dedup(b.collection.ID)
	for _, on := range b.Runtime.SealedOf(b.collection.ID) {
		i := b.replicaOf(on.Node.Node)
		for _, x := range on.Segments {
			rec := b.segmentOf(x.ID)
			switch {
			case x.Level == model.LevelL0 || rec != nil && rec.Level == model.LevelL0:
			case once.Sealed(on.Node.Node, x.ID):
				s := b.segment(x.ID, rec, x.Partition, x.Channel)
				s.On[i] = int64(on.Node.Node)
				b.setSealedState(s, rec, x)
			case rec != nil && rec.State == model.SegmentDropped:
				compacted++
			default:
				moved++
			}
		}
	}
	return moved, compacted
}

// setSealedState sets the state of a sealed segment: indexed if the node has loaded the files of an index.
func (b *builder) setSealedState(s *replay.Segment, rec *model.Segment, x *model.ServedSegment) {
	if rec != nil {
		s.Rows = rec.Rows
	}
	// Up to 2.2 nodes do not report their indexes (query_coord.proto: SegmentVersionInfo).
	if b.before(3) {
		b.setRecordedState(s, rec)
		return
	}
	s.State, s.Index = replay.Unindexed, replay.Index{}
	for i := range x.Indexes {
		if x.Indexes[i].Field != b.field.ID {
			continue
		}
		if rec == nil {
			s.Rows = x.Indexes[i].Rows
		}
		b.setIndex(s, x.Indexes[i].Index)
	}
	if s.State == replay.Unindexed && b.index != nil && isBruteForce(b.index.Type) {
		s.Index = indexOf(b.index) // FLAT has no files to load
	}
}

// setIndex sets the index of a segment. The state becomes Indexed, unless the index compares row by row.
func (b *builder) setIndex(s *replay.Segment, id model.IndexID) {
	x := b.index
	for _, other := range b.IndexesOf(b.collection.ID) {
		if other.ID == id {
			x = other
		}
	}
	s.State = replay.Indexed
	if x == nil {
		return // the files contain the type
	}
	if s.Index = indexOf(x); x.Type != "" && isBruteForce(x.Type) {
		s.State = replay.Unindexed
	}
}

// addServedGrowing adds the growing segments of the shard leaders. It returns the number of segments that are sealed
// as well.
func (b *builder) addServedGrowing(views []map[string]*model.LeaderView) (both int) {
	once := b.Dedup(b.collection.ID)
	for i := range views {
		for _, channel := range sortedKeys(views[i]) {
			v := views[i][channel]
			var list []*replay.Segment
			for _, g := range v.Growing {
				if !once.GrowingCounts(v, g.ID) {
					both++
					continue
				}
				rec := b.segmentOf(g.ID)
				if s := b.segments[g.ID]; s != nil && s.State != replay.Growing {
					// The segment is sealed in another replica but still growing in this one. A layout has one state
					// per segment, so the sealed state is used.
					s.On[i] = b.l.Replicas[i].Leaders[channel]
					continue
				}
				s := b.segment(g.ID, rec, partitionOf(rec), channel)
				s.State, s.On[i] = replay.Growing, b.l.Replicas[i].Leaders[channel]
				if rows, ok := b.GrowingRows(g.ID); ok {
					s.Rows = max(s.Rows, rows)
				}
				list = append(list, s)
			}
			_, rows := once.Growing(v)
			b.shareRows(channel, rows, list)
		}
	}
	return both
}

func partitionOf(rec *model.Segment) model.PartitionID {
	if rec == nil {
		return -1
	}
	return rec.Partition
}

// shareRows distributes a view's growing rows to its segments, because nodes report only the sum. A single segment
// gets all rows. If one of several segments has an unknown number of rows, it gets the remainder.
func (b *builder) shareRows(channel string, sum int64, list []*replay.Segment) {
	known, rest := int64(0), []*replay.Segment{}
	for _, s := range list {
		if s.Rows < 0 {
			rest = append(rest, s)
		}
		known += max(0, s.Rows)
	}
	switch {
	case len(list) == 1:
		list[0].Rows = sum // the leader's report is the newest
	case len(rest) == 1 && sum >= known:
		rest[0].Rows = sum - known
	case len(rest) > 1:
		b.note("%s: %d growing segments have %d rows together; for %d of them the row count is unknown", channel,
			len(list), sum, len(rest))
	}
}

// assignUnreported assigns the segments that no node reports to the nodes that did not respond.
func (b *builder) assignUnreported() {
	for i, m := range b.members {
		var nodes []model.NodeID
		var names []string
		for _, id := range m.sealedNodes {
			if n := b.Runtime.LiveNode("querynode", id); n == nil || n.Distribution == nil {
				nodes = append(nodes, id)
				names = append(names, queryNodeName(id)+outcomeNote(n))
			}
		}
		if len(nodes) == 0 {
			continue
		}
		count, rows := b.fill(i, nodes)
		b.note("segments on %s unknown: assuming the %d segments with %d rows that no other node serves",
			strings.Join(names, ", "), count, rows)
	}
}

func outcomeNote(n *model.LiveNode) string {
	if n == nil {
		return " (not queried)"
	}
	return " (" + n.Outcome.String() + ")"
}

// fill assigns the flushed segments that a replica lacks to the given nodes.
func (b *builder) fill(replica int, nodes []model.NodeID) (count int, rows int64) {
	var lacking []*replay.Segment
	for _, rec := range b.SegmentsOf(b.collection.ID) {
		if b.wanted(rec) != wantSealed || b.segments[rec.ID] != nil && b.segments[rec.ID].On[replica] != 0 {
			continue
		}
		known := b.segments[rec.ID] != nil
		s := b.segment(rec.ID, rec, rec.Partition, rec.VChannel)
		if !known {
			s.Rows = rec.Rows
			b.setRecordedState(s, rec)
		}
		lacking = append(lacking, s)
		count, rows = count+1, rows+rec.Rows
	}
	b.assignByRows(replica, lacking, nodes)
	return count, rows
}

// noteUnserved adds notes on the segments in the metadata that no node serves.
func (b *builder) noteUnserved() {
	sealed, sealedRows, growing := 0, int64(0), 0
	for _, rec := range b.SegmentsOf(b.collection.ID) {
		if s := b.segments[rec.ID]; s != nil {
			continue
		}
		switch b.wanted(rec) {
		case wantSealed:
			sealed, sealedRows = sealed+1, sealedRows+rec.Rows
		case wantGrowing:
			growing++
		case wantDeletes:
			b.levelZero = append(b.levelZero, rec)
		case wantNot:
		}
	}
	if sealed > 0 {
		b.note("skipped: %s, %d rows, not served by any node",
			words.Count(sealed, "flushed segment", "flushed segments"), sealedRows)
	}
	if growing > 0 {
		b.note("skipped: %s in the metadata, not on any node",
			words.Count(growing, "growing segment", "growing segments"))
	}
	var gone []string
	for _, id := range sortedKeys(b.segments) {
		if rec := b.segmentOf(id); rec == nil || !rec.State.Healthy() {
			gone = append(gone, id.String())
		}
	}
	if len(gone) > 0 {
		b.note("%s still served but dropped in the metadata, probably compacted: %s",
			words.Count(len(gone), "segment is", "segments are"), words.FirstOf(gone, 20, ", "))
	}
}
