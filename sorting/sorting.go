// Package sorting sorts lists without a copy of the algorithm for each type of their elements. What enters is a list and how two of its
// elements compare; it leaves in order.
//
// Package slices is compiled once for each type, 12 to 23 kB of it: a hundred kinds of rows were 2 MB of the program. These
// are the standard library's other sorts, of which there is one, and take up to twice as long: they are for what a person reads, not
// for what is sorted by the million.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// Sort is slices.SortFunc.
func Sort[E any](list []E, compare func(a, b E) int) {
	if len(list) < 2 {
		return
	}
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Stable is slices.SortStableFunc.
func Stable[E any](list []E, compare func(a, b E) int) {
	if len(list) < 2 {
		return
	}
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Sorted is slices.SortedFunc.
func Sorted[E any](all iter.Seq[E], compare func(a, b E) int) []E {
	list := slices.Collect(all)
	Sort(list, compare)
	return list
}
