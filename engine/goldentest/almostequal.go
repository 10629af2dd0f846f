package goldentest

import (
	"math"
	"slices"

	"kitescope/engine"
)

// PeerSlack is the relative difference of distances that the tests of `make peers` accept. Libraries add up floats
// in an order that depends on the CPU and on their compiler; the engine uses the order for AVX-512.
const PeerSlack = 5e-5

// Hits returns hits with the given ids and distance bits, which is the format of golden files.
func Hits(ids []int64, bits []uint32) []engine.Hit {
	hits := make([]engine.Hit, len(ids))
	for i, id := range ids {
		hits[i] = engine.Hit{ID: id, Distance: math.Float32frombits(bits[i])}
	}
	return hits
}

// AlmostEqual reports whether got equals want except for rounding. Distances may differ by slack at each place,
// relative to their size (absolute below 1). Ids must be the same, except for hits that tie with the last one.
func AlmostEqual(got, want []engine.Hit, slack float64) bool {
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
		there := slices.ContainsFunc(want, func(w engine.Hit) bool {
			return w.ID == h.ID && same(h.Distance, w.Distance)
		})
		if !there && !same(h.Distance, want[len(want)-1].Distance) {
			return false
		}
	}
	return true
}
