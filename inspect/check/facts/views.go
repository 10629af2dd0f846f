package facts

import (
	"slices"
	"sync"

	"kitescope/inspect/model"
)

// Views are what the answers of processes say against each other: of metadata and of the time they know nothing, so that they are
// right for as long as the Runtime is the same. Each part is worked out when somebody asks for it.
type Views struct {
	runtime *model.Runtime
	// Lost are the sealed segments of a leader's view that the node which it names has not, though that one said what it has.
	Lost func() map[*model.LeaderView][]model.LeaderSegment
	// Missing are the flushed segments that DataCoord wants served and that a leader's view has not sealed.
	Missing func() map[*model.LeaderView][]model.SegmentID
	// Named are the nodes that a leader asks for sealed segments, in the order of the first that it asks each for.
	Named func() map[*model.LeaderView][]model.NodeID
	// Drifts are the processes whose configuration is not that of their peers.
	Drifts func() map[*model.LiveNode]*Drift
}

func newViews(r *model.Runtime) *Views {
	return &Views{
		runtime: r,
		Lost:    sync.OnceValue(func() map[*model.LeaderView][]model.LeaderSegment { return lostSegments(r) }),
		Missing: sync.OnceValue(func() map[*model.LeaderView][]model.SegmentID { return missingSegments(r) }),
		Named:   sync.OnceValue(func() map[*model.LeaderView][]model.NodeID { return namedNodes(r) }),
		Drifts:  sync.OnceValue(func() map[*model.LiveNode]*Drift { return findDrifts(r) }),
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

func namedNodes(r *model.Runtime) map[*model.LeaderView][]model.NodeID {
	found := make(map[*model.LeaderView][]model.NodeID)
	seen := make(map[model.NodeID]*model.LeaderView) // the last view that named it
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
	// Their ids stand alone, because a search among 200,000 segments takes a line of memory at each step.
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
			// Of a node that did not say what it has nothing is lost: see shard-not-serviceable.
			ids, told := sealed[x.Node]
			if _, has := slices.BinarySearch(ids, x.ID); told && !has {
				found[v] = append(found[v], x)
			}
		}
	})
	return found
}

// missingFrom calls f for each id that is wanted and not had. Both are in order.
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
