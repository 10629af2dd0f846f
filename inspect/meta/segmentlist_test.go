package meta

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/inspect/model"
)

// TestSegmentListsFollow adds, removes, changes and moves segments between the two lists, and compares both with
// maps. It also checks that earlier lists do not change.
func TestSegmentListsFollow(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	var lists [2]segmentList // orphans, and segments with a record
	want := [2]map[model.SegmentID]*model.Segment{{}, {}}
	for step := range 2000 {
		edits := map[model.SegmentID]*segmentEdit{}
		before := [2][]*model.Segment{slices.Clone(lists[0].all), slices.Clone(lists[1].all)}
		old := lists
		for range random.IntN(5) {
			id := model.SegmentID(random.IntN(60))
			e := &segmentEdit{record: random.IntN(2) == 0}
			if random.IntN(3) > 0 {
				e.segment = &model.Segment{ID: id}
			}
			if there := want[1][id] != nil; step%3 > 0 { // mostly without additions or removals
				if !there {
					continue
				}
				e = &segmentEdit{segment: &model.Segment{ID: id}, record: true}
			}
			edits[id] = e
		}
		ids := slices.Sorted(maps.Keys(edits))
		for kind, records := range []bool{false, true} {
			for id, e := range edits {
				delete(want[kind], id)
				if e.segment != nil && e.record == records {
					want[kind][id] = e.segment
				}
			}
			lists[kind] = lists[kind].replace(edits, ids, records)
			var all []*model.Segment
			for _, id := range slices.Sorted(maps.Keys(want[kind])) {
				all = append(all, want[kind][id])
			}
			if !slices.Equal(lists[kind].all, all) || len(lists[kind].index()) != len(all) {
				t.Fatalf("step %d: %d segments, %d ids, want %d", step, len(lists[kind].all), len(lists[kind].index()),
					len(all))
			}
			for id := range model.SegmentID(60) {
				if got := lists[kind].find(id); got != want[kind][id] {
					t.Fatalf("step %d: segment %d is %p, want %p", step, id, got, want[kind][id])
				}
			}
			if !slices.Equal(old[kind].all, before[kind]) {
				t.Fatalf("step %d changed the list before", step)
			}
		}
	}
}
