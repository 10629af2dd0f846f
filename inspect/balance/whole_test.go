package balance_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// checkPlans checks that all plans together do not make the nodes less even than before, unless they stay within
// the goal.
func checkPlans(t *testing.T, name string, s *balance.Survey, by balance.Measure) (moves int) {
	t.Helper()
	r := s.Report(nil, balance.Options{By: by}, true)
	before, after := by.MaxMean(&s.Spread), by.MaxMean(&r.After)
	if after > max(before, balance.DefaultGoal)*(1+1e-9) {
		t.Errorf("%s by %s: %d moves in all: max/mean %.3f to %.3f", name, by, r.Moves(), before, after)
	}
	for _, p := range r.Plans {
		if !p.Reached && p.Why == "" {
			t.Errorf("%s by %s: %s: no word about why %v is not reached", name, by, p.Group.Name(), p.Options.Goal)
		}
	}
	return r.Moves()
}

func TestPlansKeepClusterEven(t *testing.T) {
	for _, name := range []string{
		"cluster-2.3.5-healthy", "cluster-2.3.5-healthy-load", "cluster-2.3.5-t1", "cluster-2.3.5-t3",
		"cluster-2.3.5-t5", "cluster-2.3.5-t6", "cluster-2.3.5-t7", "cluster-2.3.5-unflushed",
	} {
		s := balance.NewSurvey(capture(t, name))
		for _, by := range []balance.Measure{balance.ByCost, balance.ByRows, balance.ByMemory} {
			checkPlans(t, name, s, by)
		}
	}
}

// TestPlansOfManyCollectionsKeepClusterEven checks plans for many small collections with one or a few segments.
// Plans that even out each collection alone may put all segments on the same nodes.
func TestPlansOfManyCollectionsKeepClusterEven(t *testing.T) {
	moves := 0
	for seed := range uint64(50) {
		draw := rand.New(rand.NewPCG(seed, 1))
		s := balance.NewSurvey(randomCluster(draw, 2+draw.IntN(4), 1+draw.IntN(6)))
		for _, by := range []balance.Measure{balance.ByCost, balance.ByRows} {
			moves += checkPlans(t, fmt.Sprint("seed ", seed), s, by)
		}
	}
	if moves < 200 {
		t.Errorf("only %d moves: plans are withdrawn that need not be", moves)
	}
}

// randomCluster returns a cluster with a number of query nodes and of collections, each with one replica on all
// nodes and segments on random nodes.
func randomCluster(draw *rand.Rand, nodes, collections int) *model.Cluster {
	parts := model.Parts{
		Loaded: model.PartAll, Version: model.Version{Text: "2.4.17"},
		Databases: []*model.Database{{ID: 1, Name: "default"}},
	}
	var runtime model.RuntimeParts
	var ids []model.NodeID
	for i := range nodes {
		id := model.NodeID(i + 1)
		ids = append(ids, id)
		parts.Sessions = append(parts.Sessions, &model.Session{Node: id, Role: "querynode"})
		runtime.Nodes = append(runtime.Nodes, &model.LiveNode{
			Role: "querynode", Node: id, Outcome: model.Answered, Distribution: &model.Distribution{},
			System: &model.System{Memory: 1 << 40, MemoryUse: 1 << 20},
		})
	}
	for c := range collections {
		id := model.CollectionID(100 + c)
		parts.Collections = append(parts.Collections, &model.Collection{
			ID: id, Name: fmt.Sprint("c", c), Database: 1,
			Fields: []*model.Field{{ID: 1, Type: "Int64"}, {ID: 100, Type: "FloatVector", Dim: 10}},
		})
		parts.Replicas = append(parts.Replicas, &model.Replica{
			ID: model.ReplicaID(500 + c), Collection: id, ResourceGroup: "rg", Nodes: ids,
		})
		for g := range 1 + draw.IntN(8) {
			segment := model.SegmentID(1000*c + g + 1)
			rows := int64(1 + draw.IntN(10_000))
			parts.Segments = append(parts.Segments, &model.Segment{
				ID: segment, Collection: id, Rows: rows, Bytes: 100 * rows, State: model.SegmentFlushed,
			})
			d := runtime.Nodes[draw.IntN(nodes)].Distribution
			d.Sealed = append(d.Sealed, model.ServedSegment{ID: segment, Collection: id})
		}
	}
	return model.Build(parts).WithRuntime(model.BuildRuntime(runtime))
}
