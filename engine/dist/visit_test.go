package dist

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestVisitListsEachNewNeighbourOnce(t *testing.T) {
	const end = 1 << 31
	for _, c := range []struct {
		name  string
		slots []uint32
		seen  []uint32
		want  []uint32
	}{
		{"all new", []uint32{3, 1, 4}, nil, []uint32{3, 1, 4}},
		{"none left", []uint32{3, 1, 4}, []uint32{1, 3, 4}, nil},
		{"a slot twice", []uint32{5, 5, 2, 5, 2}, nil, []uint32{5, 2}},
		{"an end", []uint32{5, end | 7, 2}, nil, []uint32{5}},
		{"an end at once", []uint32{0xffffffff, 2}, nil, nil},
		{"the last row", []uint32{9, 0}, nil, []uint32{9, 0}},
		{"no such row", []uint32{8, 10, 2}, nil, []uint32{8}},
		{"no slots", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			met := NewVisitedSet(10)
			for _, s := range c.seen {
				met.Add(s)
			}
			rows := make([]float32, 10*16)
			fresh := make([]uint32, len(c.slots))
			n := Visit(c.slots, met, unsafe.Pointer(&rows[0]), 64, 2, fresh)
			if !slices.Equal(fresh[:n], c.want) {
				t.Errorf("visits %v, want %v", fresh[:n], c.want)
			}
			for i := range uint32(10) {
				if got, want := met.words[0]>>i&1 == 1, slices.Contains(c.seen, i) || slices.Contains(c.want, i); got !=
					want {
					t.Errorf("row %d was met: %v", i, got)
				}
			}
		})
	}
}

func TestVisitAgreesWithItsSpecification(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rows := 1 + r.IntN(100)
		slots := make([]uint32, r.IntN(70))
		for i := range slots {
			slots[i] = uint32(r.IntN(rows))
			if r.IntN(60) == 0 {
				slots[i] |= 1 << 31
			}
		}
		seen := NewVisitedSet(rows)
		for i := range rows {
			if r.IntN(3) == 0 {
				seen.Add(uint32(i))
			}
		}
		before := slices.Clone(seen.words)
		peeked, wantPeeked := make([]uint32, len(slots)), make([]uint32, len(slots))
		peeked = peeked[:Peek(slots, seen, nil, 512, r.IntN(3), peeked)]
		wantPeeked = wantPeeked[:peekGeneric(slots, seen, wantPeeked)]
		if !slices.Equal(peeked, wantPeeked) || !slices.Equal(seen.words, before) {
			t.Fatalf("of %v: sees %v, want %v", slots, peeked, wantPeeked)
		}
		want, specified := make([]uint32, len(slots)), *seen
		specified.words = slices.Clone(before)
		want = want[:visitGeneric(slots, &specified, want)]
		got := make([]uint32, len(slots))
		got = got[:Visit(slots, seen, nil, 512, r.IntN(3), got)]
		if !slices.Equal(got, want) || !slices.Equal(seen.words, specified.words) {
			t.Fatalf("of %v: visits %v, want %v", slots, got, want)
		}
	}
}

// TestSeenIsClear checks that Clear clears sets that are cleared as a whole and larger ones, after few and many
// rows were met.
func TestSeenIsClear(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, rows := range []int{1, 100, 32 * minSparseClear, 32*minSparseClear + 1, 70 * minSparseClear} {
		s := NewVisitedSet(rows)
		for _, met := range []int{0, 1, 50, len(s.words)/8 + 20} {
			for i := range met {
				if i%2 == 0 {
					s.Add(uint32(r.IntN(rows)))
				} else {
					Visit([]uint32{uint32(r.IntN(rows))}, s, nil, 0, 0, make([]uint32, 1))
				}
			}
			s.Clear()
			if slices.ContainsFunc(s.words, func(w uint32) bool { return w != 0 }) {
				t.Fatalf("%d rows: of %d that were met some are left", rows, met)
			}
		}
	}
}
