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
			const epoch = 0xfffe
			tags := make([]uint16, 10)
			for _, s := range c.seen {
				tags[s] = epoch
			}
			rows := make([]float32, 10*16)
			fresh := make([]uint32, len(c.slots))
			n := Visit(c.slots, tags, epoch, unsafe.Pointer(&rows[0]), 64, 2, fresh)
			if !slices.Equal(fresh[:n], c.want) {
				t.Errorf("visits %v, want %v", fresh[:n], c.want)
			}
			for i, tag := range tags {
				want := slices.Contains(c.seen, uint32(i)) || slices.Contains(c.want, uint32(i))
				if (tag == epoch) != want {
					t.Errorf("tag %d is %x", i, tag)
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
		tags := make([]uint16, rows)
		for i := range tags {
			tags[i] = uint16(r.IntN(3))
		}
		before := slices.Clone(tags)
		peeked, wantPeeked := make([]uint32, len(slots)), make([]uint32, len(slots))
		peeked = peeked[:Peek(slots, tags, 1, nil, 512, r.IntN(3), peeked)]
		wantPeeked = wantPeeked[:peekGeneric(slots, tags, 1, wantPeeked)]
		if len(peeked) != len(wantPeeked) || !slices.Equal(tags, before) {
			t.Fatalf("of %v: sees %v, want %v", slots, peeked, wantPeeked)
		}
		want, wantTags := make([]uint32, len(slots)), slices.Clone(tags)
		want = want[:visitGeneric(slots, wantTags, 1, want)]
		got := make([]uint32, len(slots))
		got = got[:Visit(slots, tags, 1, nil, 512, r.IntN(3), got)]
		if !slices.Equal(got, want) || !slices.Equal(tags, wantTags) {
			t.Fatalf("of %v: visits %v, want %v", slots, got, want)
		}
	}
}
