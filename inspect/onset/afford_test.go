package onset

import (
	"testing"

	"kitescope/inspect/model"
)

// TestAffordable: of a large cluster fewer moments are judged, of what its processes said fewer still, and never too few to tell anything.
func TestAffordable(t *testing.T) {
	cluster := func(segments, processes int) *model.Cluster {
		p := model.Parts{Loaded: model.PartAll}
		for i := range segments {
			p.Segments = append(p.Segments, &model.Segment{ID: model.SegmentID(i + 1)})
		}
		c := model.Build(p)
		if processes == 0 {
			return c
		}
		nodes := make([]*model.LiveNode, processes)
		for i := range nodes {
			nodes[i] = &model.LiveNode{Node: model.NodeID(i + 1), Role: "proxy"}
		}
		return c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: nodes}))
	}
	for _, x := range []struct{ segments, processes, most, want int }{
		{100, 0, MostMoments, MostMoments},
		{2000, 5, MostMoments, MostMoments},
		{100_000, 0, MostMoments, 266},
		{100_000, 0, 60, 60},
		{100, 50, MostMoments, 47},
		{100_000, 205, MostMoments, leastMoments},
		{100_000, 205, 4, 4},
	} {
		if got := affordable(cluster(x.segments, x.processes), x.most); got != x.want {
			t.Errorf("%d segments, %d processes, %d: %d, want %d", x.segments, x.processes, x.most, got, x.want)
		}
	}
}
