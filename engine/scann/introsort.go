package scann

import (
	"math/bits"
	"slices"
)

// introsort sorts as std::sort of libstdc++ does, move by move, so that entries of which none is less end up in its order
// (bits/stl_algo.h: __introsort_loop, __final_insertion_sort).
func introsort(a []int, less func(x, y int) bool) {
	if len(a) == 0 {
		return
	}
	introsortLoop(a, 2*(bits.Len(uint(len(a)))-1), less)
	insertionSort(a[:min(len(a), fewest)], less)
	for i := fewest; i < len(a); i++ {
		insert(a, i, less)
	}
}

// fewest is up to how many entries are left to the insertion sort.
const fewest = 16

func introsortLoop(a []int, depth int, less func(x, y int) bool) {
	for len(a) > fewest {
		if depth == 0 { // a heap sort there, which takes input made for it
			slices.SortFunc(a, func(x, y int) int {
				switch {
				case less(x, y):
					return -1
				case less(y, x):
					return 1
				}
				return 0
			})
			return
		}
		depth--
		cut := partition(a, less)
		introsortLoop(a[cut:], depth, less)
		a = a[:cut]
	}
}

// partition puts the median of three first and returns where those begin that are not less.
func partition(a []int, less func(x, y int) bool) int {
	x, y, z := 1, len(a)/2, len(a)-1
	switch {
	case less(a[x], a[y]) && less(a[y], a[z]):
		x = y
	case less(a[x], a[y]) && less(a[x], a[z]):
		x = z
	case less(a[x], a[y]), less(a[x], a[z]):
	case less(a[y], a[z]):
		x = z
	default:
		x = y
	}
	a[0], a[x] = a[x], a[0]
	first, last := 1, len(a)
	for {
		for less(a[first], a[0]) {
			first++
		}
		last--
		for less(a[0], a[last]) {
			last--
		}
		if first >= last {
			return first
		}
		a[first], a[last] = a[last], a[first]
		first++
	}
}

func insertionSort(a []int, less func(x, y int) bool) {
	for i := 1; i < len(a); i++ {
		if v := a[i]; less(v, a[0]) {
			copy(a[1:i+1], a[:i])
			a[0] = v
			continue
		}
		insert(a, i, less)
	}
}

// insert moves entry i down to its place; one before it is not greater.
func insert(a []int, i int, less func(x, y int) bool) {
	v := a[i]
	for ; less(v, a[i-1]); i-- {
		a[i] = a[i-1]
	}
	a[i] = v
}
