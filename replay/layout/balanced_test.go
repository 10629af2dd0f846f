package layout_test

import (
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/replay/layout"
)

// TestBalanced: the plan is inspect/balance's, which moves segments to the idle node.
func TestBalanced(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t7", "runtime.jsonl.gz")
	l := of(t, c, "items_hnsw_l2")
	place, moves, notes, err := layout.Balanced(c, l)
	if err != nil {
		t.Fatal(err)
	}
	survey := balance.Take(c)
	plan := survey.Plan(survey.Of(model.ReplicaID(l.Replicas[0].ID)), balance.Options{})
	if moves == 0 || moves != len(plan.Moves) || len(notes) == 0 {
		t.Errorf("%d moves, the plan has %d; notes %q", moves, len(plan.Moves), notes)
	}
	moved := map[int64]int64{}
	for _, m := range plan.Moves {
		moved[int64(m.Segment)] = int64(m.To)
	}
	for _, s := range l.Segments {
		want := s.On[0]
		if to := moved[s.ID]; to != 0 {
			want = to
		}
		if place[s.ID] != want {
			t.Errorf("segment %d: node %d, want %d", s.ID, place[s.ID], want)
		}
	}
	// Where nobody was asked, or nothing is loaded, there is no plan, and the layout stands.
	plain := capture(t, "cluster-2.3.5-t1")
	l = of(t, plain, "items_hnsw_l2")
	if place, moves, notes, err = layout.Balanced(plain, l); err != nil || moves != 0 || len(notes) != 1 || len(place) != len(l.Segments) {
		t.Errorf("without answers: %d moves, notes %q: %v", moves, notes, err)
	}
	if _, _, _, err := layout.Balanced(plain, of(t, c, "items_hnsw_l2")); err == nil {
		t.Error("a layout of another cluster is planned")
	}
}
