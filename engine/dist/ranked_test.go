package dist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRankedKeepsTheNearest checks the lists of every back end against the specification, and the specification
// against sorting. It adds distances in small batches, with and without ties, and with values that are not
// finite.
func TestRankedKeepsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	odd := []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1,
		float32(math.Copysign(0, -1)), 0,
	}
	forms := rankForms()
	lists := make([]*RankedList, len(forms))
	for i, f := range forms {
		lists[i] = &RankedList{form: f}
	}
	for round := range 1000 {
		room := 1 + r.IntN(100)
		distinct, odds := 1+r.IntN(400), round%4 == 3
		draw := func() float32 {
			if odds && r.IntN(20) == 0 {
				return odd[r.IntN(len(odd))]
			}
			if round%2 == 0 {
				return r.Float32()
			}
			return float32(r.IntN(distinct))
		}
		type node struct {
			d  float32
			id uint32
		}
		first := draw()
		all := []node{{first, 0}}
		for _, l := range lists {
			l.Reset(room, first, 0)
		}
		for range r.IntN(20) {
			d, ids := make([]float32, r.IntN(70)), make([]uint32, 70)
			for i := range d {
				d[i], ids[i] = draw(), uint32(len(all))|uint32(r.IntN(2))<<31
				all = append(all, node{d[i], ids[i]})
			}
			full := lists[0].Full()
			least, certain := lists[0].Add(d, ids)
			wantD, wantIDs := lists[0].Nodes()
			for i, l := range lists[1:] {
				gotLeast, gotCertain := l.Add(d, ids)
				if gotD, gotIDs := l.Nodes(); !slices.Equal(wantIDs, gotIDs) ||
					!slices.EqualFunc(wantD, gotD, sameFloat) {
					t.Fatalf("round %d, room %d, kernel %d: after %v\n%v %v, the specification has\n%v %v", round, room,
						i, d, gotD, gotIDs, wantD, wantIDs)
				}
				if gotCertain != certain || (least < len(wantD) || gotLeast < len(wantD)) && gotLeast != least {
					t.Fatalf("round %d, kernel %d: place %d, %v, the specification has %d, %v (full before: %v)", round,
						i, gotLeast, gotCertain, least, certain, full)
				}
			}
		}
		if odds {
			continue
		}
		slices.SortStableFunc(all, func(a, b node) int {
			switch {
			case a.d < b.d:
				return -1
			case a.d > b.d:
				return 1
			}
			return 0
		})
		d, ids := lists[0].Nodes()
		for i, n := range all[:min(len(all), room)] {
			if d[i] != n.d || ids[i] != n.id {
				t.Fatalf("round %d: place %d has %v of node %d, sorting puts %v of node %d there", round, i, d[i],
					ids[i], n.d, n.id)
			}
		}
	}
}

func sameFloat(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
