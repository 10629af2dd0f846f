package facts

import (
	"slices"
	"sync"

	"kitescope/inspect/model"
)

// Views holds comparisons between the responses of processes. They do not depend on the metadata or the time, so
// they stay valid as long as the Runtime is the same. Each is computed on first use.
type Views struct {
	runtime *model.Runtime
	// Lost returns the sealed segments of a leader's view that the named node does not have, though it reported its
	// segments.
	Lost func() map[*model.LeaderView][]model.LeaderSegment
	// Missing returns the flushed segments that DataCoord wants served and that are not sealed in a leader's view.
	Missing func() map[*model.LeaderView][]model.SegmentID
	// QueriedNodes returns the nodes that a leader queries for sealed segments, in the order of the first segment of
	// each.
	QueriedNodes func() map[*model.LeaderView][]model.NodeID
	// Drifts returns the processes whose configuration differs from that of their peers.
	Drifts func() map[*model.LiveNode]*Drift
}

func newViews(r *model.Runtime) *Views {
	return &Views{
		runtime:      r,
		Lost:         sync.OnceValue(func() map[*model.LeaderView][]model.LeaderSegment { return lostSegments(r) }),
		Missing:      sync.OnceValue(func() map[*model.LeaderView][]model.SegmentID { return missingSegments(r) }),
		QueriedNodes: sync.OnceValue(func() map[*model.LeaderView][]model.NodeID { return queriedNodes(r) }),
		Drifts:       sync.OnceValue(func() map[*model.LiveNode]*Drift { return findDrifts(r) }),
	}
}

// eachView calls f for each leader's view.
func eachView(r *model.Runtime, f func(*model.LiveNode, *model.LeaderView)) {
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Leaders {
			f(n, &n.Distribution.Leaders[i])
		}
	}
}

func missingSegments(r *model.Runtime) map[*model.LeaderView][]model.SegmentID {
	found := make(map[*model.LeaderView][]model.SegmentID)
	eachView(r, func(_ *model.LiveNode, v *model.LeaderView) {
		if wanted := r.RecoveryOf(v.Channel); wanted != nil {
			missingFrom(wanted.Flushed, v.Sealed, func(id model.SegmentID) { found[v] = append(found[v], id) })
		}
	})
	return found
}

func queriedNodes(r *model.Runtime) map[*model.LeaderView][]model.NodeID {
	found := make(map[*model.LeaderView][]model.NodeID)
	seen := make(map[model.NodeID]*model.LeaderView) // the last view that named the node
	eachView(r, func(_ *model.LiveNode, v *model.LeaderView) {
		for i := range v.Sealed {
			if id := v.Sealed[i].Node; seen[id] != v {
				seen[id] = v
				found[v] = append(found[v], id)
			}
		}
	})
	return found
}

func lostSegments(r *model.Runtime) map[*model.LeaderView][]model.LeaderSegment {
	found := make(map[*model.LeaderView][]model.LeaderSegment)
	// Keep the ids in a separate slice, because each step of a search among 200,000 segments reads a cache line.
	sealed := make(map[model.NodeID][]model.SegmentID)
	for id, n := range servingNodes(r) {
		ids := make([]model.SegmentID, len(n.Distribution.Sealed))
		for i := range ids {
			ids[i] = n.Distribution.Sealed[i].ID
		}
		sealed[id] = ids
	}
	eachView(r, func(_ *model.LiveNode, v *model.LeaderView) {
		for _, x := range v.Sealed {
			// Segments are not lost if their node did not report its segments: see shard-not-serviceable.
			ids, told := sealed[x.Node]
			if _, has := slices.BinarySearch(ids, x.ID); told && !has {
				found[v] = append(found[v], x)
			}
		}
	})
	return found
}

// missingFrom calls f for each id in wanted that is not in had. Both are sorted by id.
func missingFrom(wanted []model.SegmentID, had []model.LeaderSegment, f func(model.SegmentID)) {
	at := 0
	for _, id := range wanted {
		for at < len(had) && had[at].ID < id {
			at++
		}
		if at == len(had) || had[at].ID != id {
			f(id)
		}
	}
}
