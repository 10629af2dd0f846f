package balance_test

import (
	"fmt"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// large is a cluster of 100 collections with one replica each on all nodes.
func large(nodes, segments int) *model.Cluster {
	p := model.Parts{Loaded: model.PartAll, Version: model.Version{Text: "2.4.17"}}
	r := model.RuntimeParts{Kind: "live"}
	var ids []model.NodeID
	for i := range nodes {
		id := model.NodeID(i + 1)
		ids = append(ids, id)
		p.Sessions = append(p.Sessions, &model.Session{Node: id, Role: "querynode", Address: fmt.Sprintf("10.0.0.%d:21123", i)})
		r.Nodes = append(r.Nodes, &model.LiveNode{
			Role: "querynode", Node: id, Outcome: model.Answered, Distribution: &model.Distribution{}, System: &model.System{Memory: 64 << 30, MemoryUse: 8 << 30},
		})
	}
	const collections = 100
	for i := range collections {
		id := model.CollectionID(1000 + i)
		p.Collections = append(p.Collections, &model.Collection{
			ID: id, Name: fmt.Sprintf("c%d", i), Database: 1, Fields: []*model.Field{{ID: 100, Type: "Int64"}, {ID: 101, Type: "FloatVector", Dim: 768}},
		})
		p.Indexes = append(p.Indexes, &model.Index{ID: model.IndexID(9000 + i), Collection: id, Field: 101, Type: "HNSW"})
		p.Replicas = append(p.Replicas, &model.Replica{ID: model.ReplicaID(5000 + i), Collection: id, Nodes: ids, ResourceGroup: "__default_resource_group"})
	}
	for i := range segments {
		id, c := model.SegmentID(470590569932852667+int64(i)*3), model.CollectionID(1000+i%collections)
		rows := int64(100_000 + i*7919%900_000)
		p.Segments = append(p.Segments, &model.Segment{ID: id, Collection: c, State: model.SegmentFlushed, Rows: rows, Bytes: rows * 3200})
		d := r.Nodes[i*31/7%nodes].Distribution
		d.Sealed = append(d.Sealed, model.ServedSegment{ID: id, Collection: c, Indexes: []model.ServedIndex{{Field: 101, Index: model.IndexID(9000 + i%collections), Bytes: rows * 3300, Rows: rows}}})
	}
	return model.Build(p).WithRuntime(model.BuildRuntime(r))
}

func BenchmarkTake(b *testing.B) {
	c := large(200, 200_000)
	for b.Loop() {
		balance.Take(c)
	}
}

func BenchmarkPlans(b *testing.B) {
	s := balance.Take(large(200, 200_000))
	for b.Loop() {
		s.Plans(s.Groups, balance.Options{Goal: 1.02, By: balance.ByRows})
	}
}
