package model_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/inspect/model"
)

// TestRecords checks that Place returns the result of a binary search for various distributions of ids.
func TestRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	// The inverse of the hash multiplier. Its multiples hash to adjacent slots or to a single slot.
	const inverse = 0xf1de83e19937733d
	for name, id := range map[string]func(i int) model.SegmentID{
		"one after the other": func(i int) model.SegmentID { return model.SegmentID(453590580000000000 + i) },
		"evenly apart":        func(i int) model.SegmentID { return model.SegmentID(453590580000000000 + 50*i) },
		"at random":           func(int) model.SegmentID { return model.SegmentID(random.Int64()) },
		"below zero":          func(i int) model.SegmentID { return model.SegmentID(-i) },
		"side by side":        func(i int) model.SegmentID { return model.SegmentID(uint64(i) << 40 * inverse) },
		"in one place":        func(i int) model.SegmentID { return model.SegmentID(uint64(i) * inverse) },
	} {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			list := make([]*model.Segment, n)
			for i := range list {
				list[i] = &model.Segment{
					ID: id(i), State: model.SegmentState(random.IntN(model.SegmentStates)), Rows: random.Int64(),
					Bytes: random.Int64(),
				}
			}
			slices.SortFunc(list, func(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) })
			r := model.NewRecords(list)
			for i, s := range list {
				if r.IDs[i] != s.ID || r.States[i] != s.State || r.Rows[i] != s.Rows || r.Bytes[i] != s.Bytes {
					t.Fatalf("%s: the columns of segment %d are not those of its record", name, s.ID)
				}
				for _, asked := range []model.SegmentID{s.ID, s.ID + 1, s.ID - 1, s.ID * 2} {
					want, found := slices.BinarySearch(r.IDs, asked)
					if at, ok := r.Place(asked); ok != found || ok && at != want {
						t.Fatalf("%s: Place(%d) of %d = %d, %v; want %d, %v", name, asked, n, at, ok, want, found)
					}
				}
			}
			if at, ok := r.Place(7); n == 0 && ok {
				t.Fatalf("%s: Place of none = %d", name, at)
			}
		}
	}
}
