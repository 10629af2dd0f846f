package goldentest

import (
	"math"
	"slices"

	"kitescope/engine"
)

// Near reports whether hits are those that a library returned, where distances were added up in another order: each is as far as the one in its
// place, to a relative slack, and all have the same ids, but for those that are as far as the last.
func Near(got, want []engine.Hit, slack float64) bool {
	same := func(a, b float32) bool {
		x, y := float64(a), float64(b)
		return math.Abs(x-y) <= slack*max(1, math.Abs(x), math.Abs(y))
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
