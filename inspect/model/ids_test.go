package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/inspect/model"
)

// TestSeek checks that Seek returns the result of a full binary search, from every position at or before it.
func TestSeek(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		ids := make([]model.SegmentID, random.IntN(40))
		for i := range ids {
			ids[i] = model.SegmentID(random.IntN(60))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		for id := model.SegmentID(-1); id < 61; id++ {
			want, found := slices.BinarySearch(ids, id)
			for from := range want + 1 {
				if at, ok := model.Seek(ids, id, from); at != want || ok != found {
					t.Fatalf("Seek(%v, %d, %d) = %d, %v; want %d, %v", ids, id, from, at, ok, want, found)
				}
			}
		}
	}
}
