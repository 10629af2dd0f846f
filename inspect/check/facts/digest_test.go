package facts

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestDigestsFollow: a digest that follows changes is what one worked out anew is.
func TestDigestsFollow(t *testing.T) {
	s := modeltest.NewShifting(11)
	limit := model.TSOFromTime(s.Now.Add(-30 * time.Minute))
	var before map[model.CollectionID]*Digest
	for step := range 400 {
		what := "begin"
		if step > 0 {
			what = s.Step()
		}
		if step%50 == 49 {
			limit = model.TSOFromTime(s.Now.Add(-time.Duration(s.IntN(60)) * time.Minute))
		}
		now := digests(s.Metadata, before)
		for id, d := range now {
			checkDigest(t, d, newDigest(s.Metadata, id), limit)
			if t.Failed() {
				t.Fatalf("step %d, %s: collection %d", step, what, id)
			}
		}
		before = now
	}
}

func checkDigest(t *testing.T, got, want *Digest, limit model.TSO) {
	t.Helper()
	if got.collection != want.collection || got.Flushed != want.Flushed || got.MaxRows != want.MaxRows || got.Largest != want.Largest ||
		got.furthest != want.furthest || got.OldestEngine != want.OldestEngine || got.NewestEngine != want.NewestEngine ||
		!got.LastBuilt.Equal(want.LastBuilt) || !slices.Equal(got.Building, want.Building) || !slices.Equal(got.segments, want.segments) ||
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
