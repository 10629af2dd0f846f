package sorting

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type row struct {
	key, place int
	_          [100]byte
}

// TestSort: the order is that of package slices, of equal elements too.
func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	compare := func(a, b row) int { return a.key - b.key }
	for n := range 300 {
		list := make([]row, n)
		for i := range list {
			list[i] = row{key: random.IntN(1 + n/3), place: i}
		}
		for name, sorts := range map[string][2]func([]row, func(a, b row) int){
			"sort": {Sort[row], slices.SortFunc[[]row]}, "stable": {Stable[row], slices.SortStableFunc[[]row]},
		} {
			got, want := slices.Clone(list), slices.Clone(list)
			sorts[0](got, compare)
			sorts[1](want, compare)
			if !slices.Equal(got, want) {
				t.Fatalf("%s of %d elements differs", name, n)
			}
		}
	}
}
