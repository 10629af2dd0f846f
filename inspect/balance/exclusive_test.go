package balance

import (
	"testing"

	"kitescope/inspect/model"
)

// TestExclusive checks that nodes that are divided among channels get no plan and no verdict that ignores the
// division, and that records left behind by another balancer do not count.
func TestExclusive(t *testing.T) {
	for _, tt := range []struct {
		name, balancer string
		nodes          map[string][]model.NodeID
		want           bool
	}{
		{"divided", "ChannelLevelScoreBalancer", map[string][]model.NodeID{"c0": {1}, "c1": {2, 3}}, true},
		{"divided, and nobody tells the balancer", "", map[string][]model.NodeID{"c0": {1}, "c1": {2, 3}}, true},
		{"left behind", "ScoreBasedBalancer", map[string][]model.NodeID{"c0": {1}, "c1": {2, 3}}, false},
		{
			"too few nodes to be divided", "ChannelLevelScoreBalancer",
			map[string][]model.NodeID{"c0": nil, "c1": {}},
			false,
		},
		{"not at all", "ChannelLevelScoreBalancer", nil, false},
	} {
		w := newFixture(1, 2, 3)
		for i := range 9 {
			w.serve(1, model.SegmentID(10+i), 1000, true)
		}
		w.parts.Replicas[0].ChannelNodes = tt.nodes
		if tt.balancer != "" {
			w.parts.Config = []*model.ConfigEntry{{Name: "queryCoord/balancer", Value: tt.balancer}}
		}
		s := NewSurvey(w.build())
		g := s.Groups[0]
		p, v := s.Plan(g, Options{}), s.Milvus(g)
		if s.Exclusive(g) != tt.want || p.Unplanned != tt.want || len(p.Moves) == 0 != tt.want {
			t.Errorf("%s: exclusive %v, %d moves, unplanned %v: %s", tt.name, s.Exclusive(g), len(p.Moves), p.Unplanned,
				p.Why)
		}
		if tt.want && tt.balancer != "" && v.Modelled {
			t.Errorf("%s: %s", tt.name, v.Behavior)
		}
	}
}

func TestAssignsByMemory(t *testing.T) {
	for version, want := range map[string]bool{
		"2.3.22": false, "2.4.12": false, "2.4.13": true, "v2.5.0": true, "2.6": true, "": true,
	} {
		if got := AssignsByMemory(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
	// Of two nodes, the one with three times the memory gets three times the rows.
	for version, want := range map[string]int{"2.4.12": 2, "2.4.17": 0} {
		w := newFixture(1, 2)
		w.parts.Version.Text = version
		w.live(1).System.Memory = 3 * w.live(2).System.Memory
		for i := range 8 {
			w.serve([]model.NodeID{1, 1, 1, 2}[i%4], model.SegmentID(10+i), 1000, true)
		}
		s := NewSurvey(w.build())
		if v := s.Milvus(s.Groups[0]); len(v.Moves) != want {
			t.Errorf("%s: %d moves: %s", version, len(v.Moves), v.Behavior)
		}
	}
}

// TestLeavingNodes checks that the load of a leaving node makes no share less than even.
func TestLeavingNodes(t *testing.T) {
	w := newFixture(1, 2, 3)
	for i := range 6 {
		w.serve([]model.NodeID{1, 2, 3}[i%3], model.SegmentID(10+i), 1000, true)
	}
	w.parts.Sessions[2].Stopping = true
	s := NewSurvey(w.build())
	if g := s.Groups[0]; g.Spread.MaxMean != 1 || g.Spread.Nodes != 3 || g.TooFewSegments() {
		t.Errorf("%+v", g.Spread)
	}
}

// TestAutoIndex checks that the index type of AUTOINDEX depends on the field.
func TestAutoIndex(t *testing.T) {
	w := DefaultWeights()
	for kind, want := range map[string]float64{
		"FloatVector": 1497.6, "SparseFloatVector": 10_000, "BinaryVector": 1024 + 781.25,
	} {
		x := indexingFor(&model.Index{Type: "AUTOINDEX"}, &model.Field{Type: kind})
		if got := w.comparedRows(x, 100_000); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("%s: %v compared, want %v", kind, got, want)
		}
	}
}
