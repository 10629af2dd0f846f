package model_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
)

// servedCluster is a cluster of one collection with the responses of its query nodes.
type servedCluster struct {
	model.Parts
	nodes []*model.LiveNode
}

// addFlushed adds the record of a segment with 100 rows and marks its compaction sources as dropped.
func (s *servedCluster) addFlushed(id model.SegmentID, from ...model.SegmentID) {
	for _, x := range s.Segments {
		if slices.Contains(from, x.ID) {
			x.State = model.SegmentDropped
		}
	}
	s.Segments = append(s.Segments, &model.Segment{
		ID: id, Collection: 1, VChannel: "c", State: model.SegmentFlushed, Rows: 100, CompactedFrom: from,
	})
}

// addNode adds a query node with sealed segments. Nodes added later have higher versions.
func (s *servedCluster) addNode(id model.NodeID, sealed ...model.SegmentID) *model.Distribution {
	d := &model.Distribution{}
	for _, x := range sealed {
		d.Sealed = append(d.Sealed, model.ServedSegment{
			ID: x, Collection: 1, Channel: "c", Version: int64(len(s.nodes)),
		})
	}
	s.nodes = append(s.nodes, &model.LiveNode{Role: "querynode", Node: id, Distribution: d})
	return d
}

// addLeader adds a leader's view to a node, with the total rows of growing segments and the nodes of sealed ones.
func addLeader(
	d *model.Distribution, rows int64, growing []model.SegmentID, asks map[model.SegmentID]model.NodeID,
) *model.LeaderView {
	v := model.LeaderView{Channel: "c", Collection: 1, GrowingRows: rows}
	for _, id := range growing {
		v.Growing = append(v.Growing, model.GrowingView{ID: id})
	}
	for _, id := range slices.Sorted(maps.Keys(asks)) {
		v.Sealed = append(v.Sealed, model.LeaderSegment{ID: id, Node: asks[id]})
	}
	d.Leaders = append(d.Leaders, v)
	return &d.Leaders[len(d.Leaders)-1]
}

// TestOnce checks which copies of segments count.
func TestOnce(t *testing.T) {
	type ids = []model.SegmentID
	for _, tt := range []struct {
		name   string
		has    func(*servedCluster)
		sealed map[model.NodeID]ids // copies that count
		grown  map[model.NodeID]int64
	}{
		{"nothing is there twice", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(12)
			addLeader(s.addNode(1, 11), 500, ids{21}, nil)
			s.addNode(2, 12)
		}, map[model.NodeID]ids{1: {11}, 2: {12}}, map[model.NodeID]int64{1: 500}},
		{"moved, and the leader asks the old node", func(s *servedCluster) {
			s.addFlushed(11)
			addLeader(s.addNode(1, 11), 0, nil, map[model.SegmentID]model.NodeID{11: 1})
			s.addNode(2, 11)
		}, map[model.NodeID]ids{1: {11}}, map[model.NodeID]int64{1: 0}},
		{"moved, and the leader asks the new node", func(s *servedCluster) {
			s.addFlushed(11)
			addLeader(s.addNode(1, 11), 0, nil, map[model.SegmentID]model.NodeID{11: 2})
			s.addNode(2, 11)
		}, map[model.NodeID]ids{2: {11}}, map[model.NodeID]int64{1: 0}},
		{"on three nodes, and nobody says which is asked: the newest", func(s *servedCluster) {
			s.addFlushed(11)
			s.addNode(1, 11)
			s.addNode(2, 11)
			s.addNode(3, 11)
		}, map[model.NodeID]ids{3: {11}}, nil},
		{"each replica has its own", func(s *servedCluster) {
			s.Replicas = []*model.Replica{
				{ID: 50, Collection: 1, Nodes: []model.NodeID{1}}, {ID: 51, Collection: 1, Nodes: []model.NodeID{2}},
			}
			s.addFlushed(11)
			addLeader(s.addNode(1, 11), 500, ids{21}, map[model.SegmentID]model.NodeID{11: 1})
			addLeader(s.addNode(2, 11), 500, ids{21}, map[model.SegmentID]model.NodeID{11: 2})
		}, map[model.NodeID]ids{1: {11}, 2: {11}}, map[model.NodeID]int64{1: 500, 2: 500}},
		{"compacted, and the result is loaded", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(12)
			s.addFlushed(13, 11, 12)
			s.addNode(1, 11, 12)
			s.addNode(2, 13)
		}, map[model.NodeID]ids{2: {13}}, nil},
		{"compacted, and the result is not loaded", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(13, 11)
			s.addNode(1, 11)
		}, map[model.NodeID]ids{1: {11}}, nil},
		{"compacted, and only another replica has the result", func(s *servedCluster) {
			s.Replicas = []*model.Replica{
				{ID: 50, Collection: 1, Nodes: []model.NodeID{1}}, {ID: 51, Collection: 1, Nodes: []model.NodeID{2}},
			}
			s.addFlushed(11)
			s.addFlushed(13, 11)
			s.addNode(1, 11)
			s.addNode(2, 13)
		}, map[model.NodeID]ids{1: {11}, 2: {13}}, nil},
		{"compacted twice", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(12, 11)
			s.addFlushed(13, 12)
			addLeader(s.addNode(1, 11), 500, ids{11}, nil)
			s.addNode(2, 13)
		}, map[model.NodeID]ids{2: {13}}, map[model.NodeID]int64{1: 0}},
		{"one of two results is loaded", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(13, 11)
			s.addFlushed(14, 11)
			s.addNode(1, 11)
			s.addNode(2, 13)
		}, map[model.NodeID]ids{1: {11}}, nil},
		{"both results are loaded", func(s *servedCluster) {
			s.addFlushed(11)
			s.addFlushed(13, 11)
			s.addFlushed(14, 11)
			s.addNode(1, 11, 14)
			s.addNode(2, 13)
		}, map[model.NodeID]ids{1: {14}, 2: {13}}, nil},
		{"flushed, sealed and still growing; others grow on", func(s *servedCluster) {
			s.addFlushed(21)
			addLeader(s.addNode(1), 500, ids{21, 22}, nil)
			s.addNode(2, 21)
		}, map[model.NodeID]ids{2: {21}}, map[model.NodeID]int64{1: 400}},
		{"sealed and still growing, as the metadata has it", func(s *servedCluster) {
			s.Segments = append(s.Segments, &model.Segment{
				ID: 21, Collection: 1, VChannel: "c", State: model.SegmentGrowing,
			})
			addLeader(s.addNode(1), 500, ids{21}, nil)
			s.addNode(2, 21)
		}, map[model.NodeID]ids{2: {21}}, map[model.NodeID]int64{1: 0}},
		{"sealed in another replica only", func(s *servedCluster) {
			s.Replicas = []*model.Replica{
				{ID: 50, Collection: 1, Nodes: []model.NodeID{1}}, {ID: 51, Collection: 1, Nodes: []model.NodeID{2}},
			}
			s.addFlushed(21)
			addLeader(s.addNode(1), 500, ids{21}, nil)
			s.addNode(2, 21)
		}, map[model.NodeID]ids{2: {21}}, map[model.NodeID]int64{1: 500}},
		{"the shard gets another leader", func(s *servedCluster) {
			addLeader(s.addNode(1), 500, ids{21, 22}, nil)
			addLeader(s.addNode(2), 200, ids{22}, nil)
		}, nil, map[model.NodeID]int64{1: 500, 2: 0}},
		{"the shard gets another leader, and only that can serve", func(s *servedCluster) {
			addLeader(s.addNode(1), 500, ids{21, 22}, nil).Serviceable = new(false)
			addLeader(s.addNode(2), 250, ids{22}, nil).Serviceable = new(true)
		}, nil, map[model.NodeID]int64{1: 250, 2: 250}},
		{"a growing copy is on the first of two nodes that have it sealed", func(s *servedCluster) {
			s.addFlushed(21)
			addLeader(s.addNode(1, 21), 500, ids{21}, map[model.SegmentID]model.NodeID{21: 1})
			s.addNode(2, 21)
		}, map[model.NodeID]ids{1: {21}}, map[model.NodeID]int64{1: 0}},
	} {
		s := &servedCluster{Parts: model.Parts{Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1}}}}
		tt.has(s)
		c := model.Build(s.Parts).WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: s.nodes}))
		once := c.Dedup(1)
		sealed, grown := map[model.NodeID]ids{}, map[model.NodeID]int64{}
		for _, n := range c.Runtime.QueryNodes() {
			for _, x := range n.Distribution.Sealed {
				if once.Sealed(n.Node, x.ID) {
					sealed[n.Node] = append(sealed[n.Node], x.ID)
				}
			}
			for i := range n.Distribution.Leaders {
				v := &n.Distribution.Leaders[i]
				segments, rows := once.Growing(v)
				grown[n.Node] = rows
				for _, g := range v.Growing {
					if once.GrowingCounts(v, g.ID) {
						segments--
					}
				}
				if segments != 0 {
					t.Errorf("%s: node %d counts %d growing segments more than grow there", tt.name, n.Node, segments)
				}
			}
		}
		for _, m := range []any{cmp.Diff(orEmpty(tt.sealed), sealed), cmp.Diff(orEmpty(tt.grown), grown)} {
			if m != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, m)
			}
		}
	}
}

func orEmpty[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
