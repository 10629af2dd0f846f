package facts

import (
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Grace periods of checks that compare metadata with the segments that nodes serve. The two are never read at the
// same moment, and Milvus takes time to apply changes. Nothing younger than these is a finding.
const (
	// HandoffGrace is the time for a growing segment to disappear after its flush. On an idle 2.3.5 with small
	// segments the sealed copy was there after 3 s and the growing one gone after 13.5 s: QueryCoord looks for a
	// new target every 10 s (updateNextTargetInterval in target_observer.go) and loads it first.
	HandoffGrace = 2 * time.Minute
	// SlowHandoff is that time if the sealed copy is not loaded yet. While another target is being loaded,
	// QueryCoord may take 5 minutes to compute a target that includes it (queryCoord.NextTargetSurviveTime: 300).
	SlowHandoff = 6 * time.Minute
	// MoveGrace is the time for a move: both nodes have the segment or channel until the old node releases it.
	// QueryCoord allows 2 minutes for a segment task (queryCoord.segmentTaskTimeout: 120000) and one for a channel
	// task.
	MoveGrace = 2 * time.Minute
	// LoadGrace is the time for a new segment or index to be loaded: QueryCoord may take 5 minutes to fetch a new
	// target (queryCoord.NextTargetSurviveTime: 300) before it loads it.
	LoadGrace = 10 * time.Minute
)

// AskedAt returns the time of the responses of processes. If a recording does not have it, AskedAt returns the
// latest time in the responses, which is close: query nodes and DataCoord report queue positions that are fractions
// of a second old.
func (f *Facts) AskedAt() time.Time {
	r := f.Runtime
	if r == nil {
		return f.Now
	}
	if !r.To.IsZero() {
		return r.To.Add(-f.ClockSkew)
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

// FirstAsked returns a time before the first response. Older metadata is known to all processes that responded.
func (f *Facts) FirstAsked() time.Time {
	if r := f.Runtime; r != nil && !r.From.IsZero() {
		return r.From.Add(-f.ClockSkew)
	}
	return f.AskedAt().Add(-ClockTolerance)
}

// VersionTime returns the time at which a segment or channel was loaded, or a target computed. QueryCoord uses the
// time in nanoseconds as the version (querycoordv2/meta/target_manager.go, task/executor.go). It returns zero if
// the version is not such a time.
func VersionTime(version int64) time.Time {
	const y2020, y2100 = 1577836800e9, 4102444800e9
	if version < y2020 || version > y2100 {
		return time.Time{}
	}
	return time.Unix(0, version).UTC()
}

// FlushedAt returns the time at which a segment was flushed, as far as the metadata has it: the last position of a
// segment is that of the channel at the time of the flush. The result of a compaction takes over that position, so
// its time is that of the drop of its sources, or its position if they are gone. ok is false if the time is
// unknown.
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
			return time.Time{}, false // the compaction is still running
		case source.DroppedAt.Time().After(at):
			at = source.DroppedAt.Time()
		}
	}
	if at.IsZero() {
		at = s.PositionAt.Time()
	}
	return at, !at.IsZero()
}

// IsLoaded reports whether the metadata records a collection as loaded.
func IsLoaded(c *model.Cluster, id model.CollectionID) bool {
	l := c.LoadState(id)
	return l != nil && l.Status == "Loaded"
}

// WantsPartition reports whether a partition of a collection is recorded as loaded. Partition -1 stands for all
// partitions.
func WantsPartition(l *model.LoadState, id model.PartitionID) bool {
	if l == nil {
		return false
	}
	return id < 0 || l.PartitionStatus(id) == "Loaded"
}

// MembersOf returns all nodes of a replica, including those that are leaving.
func MembersOf(r *model.Replica) []model.NodeID {
	return slices.Concat(r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes)
}

// ReplicaWith returns the replica of a collection that a node belongs to, nil if there is none.
func ReplicaWith(c *model.Cluster, id model.CollectionID, node model.NodeID) *model.Replica {
	for _, r := range c.ReplicasOf(id) {
		if slices.Contains(r.Nodes, node) || slices.Contains(r.RONodes, node) ||
			slices.Contains(r.StreamingNodes, node) || slices.Contains(r.ROStreamingNodes, node) {
			return r
		}
	}
	return nil
}

// UnresponsiveNodes returns the query nodes of a replica that did not report what they serve.
func UnresponsiveNodes(f *Facts, replica *model.Replica) []*model.LiveNode {
	var blind []*model.LiveNode
	for _, id := range MembersOf(replica) {
		if n := f.Runtime.LiveNode("querynode", id); n != nil && n.Distribution == nil && !f.IsGone(n) {
			blind = append(blind, n)
		}
	}
	return blind
}

// servingNodes returns the query nodes that reported what they serve, by id.
func servingNodes(r *model.Runtime) map[model.NodeID]*model.LiveNode {
	nodes := make(map[model.NodeID]*model.LiveNode)
	for _, n := range r.QueryNodes() {
		if n.Distribution != nil {
			nodes[n.Node] = n
		}
	}
	return nodes
}

// LiveChannels returns the vchannels that a collection should have served, sorted by name.
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

// Work is the cost of searches of a collection, over all its replicas, in the units of package balance.
type Work struct {
	// Rows in memory, including growing ones, and sealed rows without an index. Each row counts once: they are
	// those of the replica with the most rows.
	Rows, GrowingRows, UnindexedRows int64
	Cost, BruteCost, GrowCost        float64
	Known                            bool // at least one node reported what it serves
	Flat                             bool // only brute force is defined
}

// WorkOf returns the work of one collection. Unless part of it is served, only Flat may be set.
func (f *Facts) WorkOf(id model.CollectionID) Work {
	w := f.works()[id]
	w.Flat = FlatByDesign(f.Cluster, id)
	return w
}

// workByCollection adds up the survey's groups by collection.
func workByCollection(s *balance.Survey) map[model.CollectionID]Work {
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

// ClusterCost scales a share of one collection's search work to all loaded collections, assuming that all are searched
// equally. The result orders findings about different collections by cost.
func (f *Facts) ClusterCost(id model.CollectionID, part float64) float64 {
	total := 0.0
	for _, n := range f.Balance.Nodes {
		total += n.Cost
	}
	if total <= 0 {
		return f.ClusterLoss(part)
	}
	return min(1, part*f.works()[id].Cost/total)
}

// ClusterLoss scales a share of the results of one collection to all loaded collections.
func (f *Facts) ClusterLoss(part float64) float64 {
	return min(1, part/float64(max(1, len(f.LoadStates))))
}

// ShareOfGrowing returns the share of the collection's search work that the given number of growing rows costs.
func (w *Work) ShareOfGrowing(rows int64) float64 {
	if w.Cost <= 0 || w.GrowingRows <= 0 {
		return 0
	}
	return min(1, w.GrowCost/w.Cost*min(1, float64(rows)/float64(w.GrowingRows)))
}

// ShareOfRows returns the share of all rows in memory. Each row counts once.
func (w *Work) ShareOfRows(rows int64) float64 {
	if w.Rows <= 0 {
		return 0
	}
	return min(1, float64(rows)/float64(w.Rows))
}

// FlatByDesign reports whether searches of a collection compare every row because of its index definitions: FLAT on
// every vector field, or no index.
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
