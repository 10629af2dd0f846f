package check

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/model"
)

// TestDigestsFollow: a digest that follows changes is what one worked out anew is.
func TestDigestsFollow(t *testing.T) {
	s := newShifting(11)
	limit := model.TSOFromTime(s.now.Add(-30 * time.Minute))
	var before map[model.CollectionID]*digest
	for step := range 400 {
		what := "begin"
		if step > 0 {
			what = s.step()
		}
		if step%50 == 49 {
			limit = model.TSOFromTime(s.now.Add(-time.Duration(s.IntN(60)) * time.Minute))
		}
		now := digests(s.c, before)
		for id, d := range now {
			checkDigest(t, d, newDigest(s.c, id), limit)
			if t.Failed() {
				t.Fatalf("step %d, %s: collection %d", step, what, id)
			}
		}
		before = now
	}
}

func checkDigest(t *testing.T, got, want *digest, limit model.TSO) {
	t.Helper()
	if got.collection != want.collection || got.flushed != want.flushed || got.maxRows != want.maxRows || got.largest != want.largest ||
		got.furthest != want.furthest || got.oldestEngine != want.oldestEngine || got.newestEngine != want.newestEngine ||
		!got.lastBuilt.Equal(want.lastBuilt) || !slices.Equal(got.building, want.building) || !slices.Equal(got.segments, want.segments) ||
		!slices.Equal(got.indexes, want.indexes) || !slices.Equal(got.partitions, want.partitions) {
		t.Errorf("digest %+v, want %+v", got, want)
	}
	for g := range groups {
		if !slices.Equal(got.groups[g], want.groups[g]) {
			t.Errorf("group %d has %d segments, want %d", g, len(got.groups[g]), len(want.groups[g]))
		}
	}
	list, furthest := got.beyondOf(limit)
	all, last := want.beyondOf(limit)
	if !slices.Equal(list, all) || furthest != last {
		t.Errorf("%d segments beyond the limit, the furthest %p, want %d, %p", len(list), furthest, len(all), last)
	}
}
