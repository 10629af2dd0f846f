package model_test

import (
	"slices"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestServedByCollection checks that the groups of a Runtime contain exactly its responses, in order.
func TestServedByCollection(t *testing.T) {
	c := modeltest.ServedLarge(2000, 20)
	r := c.Runtime
	type place struct {
		node model.NodeID
		id   model.SegmentID
	}
	want, got := make(map[model.CollectionID][]place), make(map[model.CollectionID][]place)
	views := make(map[model.CollectionID][]model.ShardView)
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Sealed {
			s := &n.Distribution.Sealed[i]
			want[s.Collection] = append(want[s.Collection], place{n.Node, s.ID})
		}
		for i := range n.Distribution.Leaders {
			v := &n.Distribution.Leaders[i]
			views[v.Collection] = append(views[v.Collection], model.ShardView{Node: n, LeaderView: v})
		}
	}
	ids := r.ServedCollections()
	if len(ids) != 50 || !slices.IsSorted(ids) {
		t.Fatalf("served collections: %v", ids)
	}
	for _, id := range ids {
		for _, on := range r.SealedOf(id) {
			for _, s := range on.Segments {
				got[id] = append(got[id], place{on.Node.Node, s.ID})
			}
		}
		if len(want[id]) == 0 || !slices.Equal(want[id], got[id]) {
			t.Errorf("collection %d: sealed %v, want %v", id, got[id], want[id])
		}
		if len(views[id]) == 0 || !slices.Equal(views[id], r.ViewsOf(id)) {
			t.Errorf("collection %d: views %v, want %v", id, r.ViewsOf(id), views[id])
		}
	}
	if len(want) != len(ids) {
		t.Errorf("%d collections, want %d", len(ids), len(want))
	}
	var none *model.Runtime
	if none.SealedOf(1) != nil || none.ViewsOf(1) != nil || none.ServedCollections() != nil {
		t.Error("something is served, and nobody was asked")
	}
}

func TestSegmentOwners(t *testing.T) {
	c := modeltest.Small()
	want := map[model.CollectionID]bool{}
	for _, s := range c.Segments {
		want[s.Collection] = true
	}
	ids := c.SegmentOwners()
	if len(ids) != len(want) || !slices.IsSorted(ids) ||
		slices.ContainsFunc(ids, func(id model.CollectionID) bool { return !want[id] }) {
		t.Errorf("%v, want %v", ids, want)
	}
	if !slices.ContainsFunc(ids, func(id model.CollectionID) bool { return c.Collection(id) == nil }) {
		t.Error("none is without a record")
	}
}
