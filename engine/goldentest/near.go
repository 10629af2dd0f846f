package goldentest

import (
	"math"
	"slices"

	"kitescope/engine"
)

// PeerSlack is the relative difference of distances that the tests of `make peers` accept. Libraries add up in an order that depends on the
// CPU and on their compiler; the engine has that of AVX-512.
const PeerSlack = 5e-5

// Hits returns hits by their ids and the bits of their distances, as goldens have them.
func Hits(ids []int64, bits []uint32) []engine.Hit {
	hits := make([]engine.Hit, len(ids))
	for i, id := range ids {
		hits[i] = engine.Hit{ID: id, Distance: math.Float32frombits(bits[i])}
	}
	return hits
}

// Near reports whether hits equal those of a library except for rounding: distances are equal to a relative slack at each place, and ids
// are the same ones, except for those that tie with the last.
func Near(got, want []engine.Hit, slack float64) bool {
	same := func(a, b float32) bool {
		x, y := float64(a), float64(b)
		return a == b || math.Abs(x-y) <= slack*max(1, math.Abs(x), math.Abs(y))
	}
	if len(got) != len(want) {
		return false
	}
	for i, h := range got {
		if !same(h.Distance, want[i].Distance) {
			return false
		}
		there := slices.ContainsFunc(want, func(w engine.Hit) bool { return w.ID == h.ID && same(h.Distance, w.Distance) })
		if !there && !same(h.Distance, want[len(want)-1].Distance) {
			return false
		}
	}
	return true
}
