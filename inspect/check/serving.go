package check

import (
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Grace periods of checks that compare metadata with what nodes serve. The two are never of the same
// moment, and Milvus takes its time; nothing younger than these is a finding.
const (
	// handoffGrace is what a growing segment is given to go after its flush. On an idle 2.3.5 with small
	// segments the sealed copy was there after 3 s and the growing one gone after 13.5 s: QueryCoord looks for
	// a new target every 10 s (updateNextTargetInterval in target_observer.go) and loads it first.
	handoffGrace = 2 * time.Minute
	// slowHandoff is what it is given where its sealed copy is not there yet: QueryCoord may take 5 minutes to draw up a target
	// that has it (queryCoord.NextTargetSurviveTime: 300) while another one is being loaded.
	slowHandoff = 6 * time.Minute
	// moveGrace is what a move is given: until the old node lets go, both have the segment or channel. QueryCoord
	// gives a segment task 2 minutes (queryCoord.segmentTaskTimeout: 120000), a channel task one.
	moveGrace = 2 * time.Minute
	// loadGrace is what a new segment, or an index, is given to be loaded: QueryCoord may take 5 minutes to
	// fetch a new target (queryCoord.NextTargetSurviveTime: 300), then loads.
	loadGrace = 10 * time.Minute
)

// askedAt is the time of which the answers of processes are. A recording may not say; then the latest time
// that anyone mentions comes near: query nodes and DataCoord tell positions in queues that are
// fractions of a second old.
func (p *Facts) askedAt() time.Time {
	r := p.Runtime
	if r == nil {
		return p.Now
	}
	if !r.To.IsZero() {
		return r.To.Add(-p.Ahead)
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
				mention(versionTime(d.Leaders[i].TargetVersion))
			}
		}
	}
	for _, x := range r.Recovery {
		mention(x.SeekAt.Time())
	}
	if latest.IsZero() {
		return p.Now
	}
	return latest
}

// firstAsked is a time at which none of the answers had been given yet: what metadata had before that, they know.
func (p *Facts) firstAsked() time.Time {
	if r := p.Runtime; r != nil && !r.From.IsZero() {
		return r.From.Add(-p.Ahead)
	}
	return p.askedAt().Add(-agreeing)
}

// versionTime is when a segment or channel was loaded, or a target drawn up: QueryCoord takes the time in
// nanoseconds as a version (querycoordv2/meta/target_manager.go, task/executor.go). Zero if
// it is no such time.
func versionTime(version int64) time.Time {
	const y2020, y2100 = 1577836800e9, 4102444800e9
	if version < y2020 || version > y2100 {
		return time.Time{}
	}
	return time.Unix(0, version).UTC()
}

// flushedAt is when a flushed segment was flushed, as near as metadata knows: the position up to which it
// was written is the channel's at that time. Of a result of compaction, which takes over
// the position, it is when its sources were dropped; if they are gone, it is long ago. ok is false if nothing tells.
func flushedAt(c *model.Cluster, s *model.Segment) (at time.Time, ok bool) {
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

// isLoaded reports whether metadata wants a collection in memory, and has it so.
func isLoaded(c *model.Cluster, id model.CollectionID) bool {
	l := c.LoadState(id)
	return l != nil && l.Status == "Loaded"
}

// wantsPartition reports whether a partition of a collection is to be in memory, and loaded. Partition -1 is
// all of them.
func wantsPartition(l *model.LoadState, id model.PartitionID) bool {
	if l == nil {
		return false
	}
	return id < 0 || l.PartitionStatus(id) == "Loaded"
}

// membersOf are all nodes of a replica, those that leave too.
func membersOf(r *model.Replica) []model.NodeID {
	return slices.Concat(r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes)
}

// replicaWith is the replica of a collection that a node belongs to, nil if none names it.
func replicaWith(c *model.Cluster, id model.CollectionID, node model.NodeID) *model.Replica {
	for _, r := range c.ReplicasOf(id) {
		if slices.Contains(r.Nodes, node) || slices.Contains(r.RONodes, node) ||
			slices.Contains(r.StreamingNodes, node) || slices.Contains(r.ROStreamingNodes, node) {
			return r
		}
	}
	return nil
}

// blindIn are the query nodes of a replica of which it is unknown what they serve.
func blindIn(p *Facts, replica *model.Replica) []*model.LiveNode {
	var blind []*model.LiveNode
	for _, id := range membersOf(replica) {
		if n := p.Runtime.LiveNode("querynode", id); n != nil && n.Distribution == nil && !p.isGone(n) {
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

// liveChannels are the vchannels of a collection that is to be served, by name.
func liveChannels(c *model.Cluster, id model.CollectionID) []string {
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

// work is what searches of a collection cost, over all its replicas, as package balance weighs it.
type work struct {
	// rows in memory, growing ones among them, and sealed ones without an index: each once, of several replicas those of the one that
	// has most.
	rows, growingRows, unindexedRows int64
	cost, bruteCost, growCost        float64
	known                            bool // at least one node said what it serves
	flat                             bool // nothing but brute force is defined
}

// workOf is the work of one collection; all is zero if nothing of it is served.
func (p *Facts) workOf(id model.CollectionID) work {
	w := p.works()[id]
	w.flat = flatByDesign(p.Cluster, id)
	return w
}

// worksOf adds the survey's groups up by collection.
func worksOf(s *balance.Survey) map[model.CollectionID]work {
	works := make(map[model.CollectionID]work)
	for _, g := range s.Groups {
		w := works[g.ID]
		if rows := g.Rows(); rows > w.rows {
			w.rows, w.growingRows, w.unindexedRows = rows, 0, 0
			for _, x := range g.Shares {
				w.growingRows += x.GrowingRows
				w.unindexedRows += x.BruteRows - x.GrowingRows
			}
		}
		for _, x := range g.Shares {
			w.known = w.known || x.Known
			w.cost += x.Cost
			w.bruteCost += x.BruteCost
			w.growCost += x.GrowingCost
		}
		works[g.ID] = w
	}
	return works
}

// costing is what a part of the search work of one collection is of that of all, as if all loaded ones were searched
// alike: what a finding about it costs, so that findings about different ones can be put in order.
func (p *Facts) costing(id model.CollectionID, part float64) float64 {
	total := 0.0
	for _, n := range p.Balance.Nodes {
		total += n.Cost
	}
	if total <= 0 {
		return p.losing(part)
	}
	return min(1, part*p.works()[id].cost/total)
}

// losing is what a part of the answers of one collection is of those of all that are loaded.
func (p *Facts) losing(part float64) float64 {
	return min(1, part/float64(max(1, len(p.LoadStates))))
}

// shareOfGrowing is the part of the collection's search work that some growing rows cost.
func (w *work) shareOfGrowing(rows int64) float64 {
	if w.cost <= 0 || w.growingRows <= 0 {
		return 0
	}
	return min(1, w.growCost/w.cost*min(1, float64(rows)/float64(w.growingRows)))
}

// shareOfRows is the part of all rows in memory, of which each counts once.
func (w *work) shareOfRows(rows int64) float64 {
	if w.rows <= 0 {
		return 0
	}
	return min(1, float64(rows)/float64(w.rows))
}

// flatByDesign reports whether searches of a collection compare every row because its index definitions
// say so: FLAT in every vector field, or no index at all.
func flatByDesign(c *model.Cluster, id model.CollectionID) bool {
	for _, x := range c.IndexesOf(id) {
		if !x.Deleted && isVectorField(c, id, x.Field) && x.Type != "" && !flat(x.Type) {
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
