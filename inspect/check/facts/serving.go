package facts

import (
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Grace periods of checks that compare metadata with what nodes serve. The two are never of the same
// moment, and Milvus takes its time; nothing younger than these is a finding.
const (
	// HandoffGrace is what a growing segment is given to go after its flush. On an idle 2.3.5 with small
	// segments the sealed copy was there after 3 s and the growing one gone after 13.5 s: QueryCoord looks for
	// a new target every 10 s (updateNextTargetInterval in target_observer.go) and loads it first.
	HandoffGrace = 2 * time.Minute
	// SlowHandoff is what it is given where its sealed copy is not there yet: QueryCoord may take 5 minutes to draw up a target
	// that has it (queryCoord.NextTargetSurviveTime: 300) while another one is being loaded.
	SlowHandoff = 6 * time.Minute
	// MoveGrace is what a move is given: until the old node lets go, both have the segment or channel. QueryCoord
	// gives a segment task 2 minutes (queryCoord.segmentTaskTimeout: 120000), a channel task one.
	MoveGrace = 2 * time.Minute
	// LoadGrace is what a new segment, or an index, is given to be loaded: QueryCoord may take 5 minutes to
	// fetch a new target (queryCoord.NextTargetSurviveTime: 300), then loads.
	LoadGrace = 10 * time.Minute
)

// AskedAt is the time of which the answers of processes are. A recording may not say; then the latest time
// that anyone mentions comes near: query nodes and DataCoord tell positions in queues that are
// fractions of a second old.
func (f *Facts) AskedAt() time.Time {
	r := f.Runtime
	if r == nil {
		return f.Now
	}
	if !r.To.IsZero() {
		return r.To.Add(-f.Ahead)
	}
	var latest time.Time
	mention := func(t time.Time) {
		if t.After(latest) {
			latest = t
		}
	}
	for _, n := range r.Nodes {
		if n.System != nil && n.System.Quota != nil {
			mention(n.System.Quota.SlowestAt.Time())
		}
		if d := n.Distribution; d != nil {
			mention(d.ModifiedAt)
			for i := range d.Leaders {
				mention(VersionTime(d.Leaders[i].TargetVersion))
			}
		}
	}
	for _, x := range r.Recovery {
		mention(x.SeekAt.Time())
	}
	if latest.IsZero() {
		return f.Now
	}
	return latest
}

// FirstAsked is a time at which none of the answers had been given yet: what metadata had before that, they know.
func (f *Facts) FirstAsked() time.Time {
	if r := f.Runtime; r != nil && !r.From.IsZero() {
		return r.From.Add(-f.Ahead)
	}
	return f.AskedAt().Add(-Agreeing)
}

// VersionTime is when a segment or channel was loaded, or a target drawn up: QueryCoord takes the time in
// nanoseconds as a version (querycoordv2/meta/target_manager.go, task/executor.go). Zero if
// it is no such time.
func VersionTime(version int64) time.Time {
	const y2020, y2100 = 1577836800e9, 4102444800e9
	if version < y2020 || version > y2100 {
		return time.Time{}
	}
	return time.Unix(0, version).UTC()
}

// FlushedAt is when a flushed segment was flushed, as near as metadata knows: the position up to which it
// was written is the channel's at that time. Of a result of compaction, which takes over
// the position, it is when its sources were dropped; if they are gone, it is long ago. ok is false if nothing tells.
func FlushedAt(c *model.Cluster, s *model.Segment) (at time.Time, ok bool) {
	if len(s.CompactedFrom) == 0 {
		at = s.PositionAt.Time()
		return at, !at.IsZero()
	}
	for _, id := range s.CompactedFrom {
		source := c.Segment(id)
		switch {
		case source == nil:
		case source.DroppedAt.Time().IsZero() && source.State != model.SegmentDropped:
			return time.Time{}, false // the compaction is not over
		case source.DroppedAt.Time().After(at):
			at = source.DroppedAt.Time()
		}
	}
	if at.IsZero() {
		at = s.PositionAt.Time()
	}
	return at, !at.IsZero()
}

// IsLoaded reports whether metadata wants a collection in memory, and has it so.
func IsLoaded(c *model.Cluster, id model.CollectionID) bool {
	l := c.LoadState(id)
	return l != nil && l.Status == "Loaded"
}

// WantsPartition reports whether a partition of a collection is to be in memory, and loaded. Partition -1 is
// all of them.
func WantsPartition(l *model.LoadState, id model.PartitionID) bool {
	if l == nil {
		return false
	}
	return id < 0 || l.PartitionStatus(id) == "Loaded"
}

// MembersOf are all nodes of a replica, those that leave too.
func MembersOf(r *model.Replica) []model.NodeID {
	return slices.Concat(r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes)
}

// ReplicaWith is the replica of a collection that a node belongs to, nil if none names it.
func ReplicaWith(c *model.Cluster, id model.CollectionID, node model.NodeID) *model.Replica {
	for _, r := range c.ReplicasOf(id) {
		if slices.Contains(r.Nodes, node) || slices.Contains(r.RONodes, node) ||
			slices.Contains(r.StreamingNodes, node) || slices.Contains(r.ROStreamingNodes, node) {
			return r
		}
	}
	return nil
}

// BlindIn are the query nodes of a replica of which it is unknown what they serve.
func BlindIn(f *Facts, replica *model.Replica) []*model.LiveNode {
	var blind []*model.LiveNode
	for _, id := range MembersOf(replica) {
		if n := f.Runtime.LiveNode("querynode", id); n != nil && n.Distribution == nil && !f.IsGone(n) {
			blind = append(blind, n)
		}
	}
	return blind
}

// servingNodes are the query nodes that said what they serve, by id.
func servingNodes(r *model.Runtime) map[model.NodeID]*model.LiveNode {
	nodes := make(map[model.NodeID]*model.LiveNode)
	for _, n := range r.QueryNodes() {
		if n.Distribution != nil {
			nodes[n.Node] = n
		}
	}
	return nodes
}

// LiveChannels are the vchannels of a collection that is to be served, by name.
func LiveChannels(c *model.Cluster, id model.CollectionID) []string {
	x := c.Collection(id)
	if x == nil {
		return nil
	}
	if len(x.VChannels) > 0 {
		return slices.Sorted(slices.Values(x.VChannels))
	}
	var names []string
	for _, v := range c.VChannelsOf(id) {
		if v.Removal != "removed" {
			names = append(names, v.Name)
		}
	}
	return names
}

// Work is what searches of a collection cost, over all its replicas, as package balance weighs it.
type Work struct {
	// rows in memory, growing ones among them, and sealed ones without an index: each once, of several replicas those of the one that
	// has most.
	Rows, GrowingRows, UnindexedRows int64
	Cost, BruteCost, GrowCost        float64
	Known                            bool // at least one node said what it serves
	Flat                             bool // nothing but brute force is defined
}

// WorkOf is the work of one collection; all is zero if nothing of it is served.
func (f *Facts) WorkOf(id model.CollectionID) Work {
	w := f.works()[id]
	w.Flat = FlatByDesign(f.Cluster, id)
	return w
}

// worksOf adds the survey's groups up by collection.
func worksOf(s *balance.Survey) map[model.CollectionID]Work {
	works := make(map[model.CollectionID]Work)
	for _, g := range s.Groups {
		w := works[g.ID]
		if rows := g.Rows(); rows > w.Rows {
			w.Rows, w.GrowingRows, w.UnindexedRows = rows, 0, 0
			for _, x := range g.Shares {
				w.GrowingRows += x.GrowingRows
				w.UnindexedRows += x.BruteRows - x.GrowingRows
			}
		}
		for _, x := range g.Shares {
			w.Known = w.Known || x.Known
			w.Cost += x.Cost
			w.BruteCost += x.BruteCost
			w.GrowCost += x.GrowingCost
		}
		works[g.ID] = w
	}
	return works
}

// Costing is what a part of the search work of one collection is of that of all, as if all loaded ones were searched
// alike: what a finding about it costs, so that findings about different ones can be put in order.
func (f *Facts) Costing(id model.CollectionID, part float64) float64 {
	total := 0.0
	for _, n := range f.Balance.Nodes {
		total += n.Cost
	}
	if total <= 0 {
		return f.Losing(part)
	}
	return min(1, part*f.works()[id].Cost/total)
}

// Losing is what a part of the answers of one collection is of those of all that are loaded.
func (f *Facts) Losing(part float64) float64 {
	return min(1, part/float64(max(1, len(f.LoadStates))))
}

// ShareOfGrowing is the part of the collection's search work that some growing rows cost.
func (w *Work) ShareOfGrowing(rows int64) float64 {
	if w.Cost <= 0 || w.GrowingRows <= 0 {
		return 0
	}
	return min(1, w.GrowCost/w.Cost*min(1, float64(rows)/float64(w.GrowingRows)))
}

// ShareOfRows is the part of all rows in memory, of which each counts once.
func (w *Work) ShareOfRows(rows int64) float64 {
	if w.Rows <= 0 {
		return 0
	}
	return min(1, float64(rows)/float64(w.Rows))
}

// FlatByDesign reports whether searches of a collection compare every row because its index definitions
// say so: FLAT in every vector field, or no index at all.
func FlatByDesign(c *model.Cluster, id model.CollectionID) bool {
	for _, x := range c.IndexesOf(id) {
		if !x.Deleted && isVectorField(c, id, x.Field) && x.Type != "" && !IsFlat(x.Type) {
			return false
		}
	}
	return true
}

func isVectorField(c *model.Cluster, id model.CollectionID, field model.FieldID) bool {
	x := c.Collection(id)
	if x == nil {
		return false
	}
	f := x.Field(field)
	return f != nil && f.Vector()
}
