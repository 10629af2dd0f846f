package sparse

// sortAsCPP sorts as std::sort of libstdc++ does, which decides in which order equal ones come, and so in which order knowhere adds
// up: an introsort that leaves stretches of 16 to an insertion sort (bits/stl_algo.h of GCC).
func sortAsCPP[T any](s []T, less func(a, b T) bool) {
	if len(s) == 0 {
		return
	}
	depth := 0
	for n := len(s); n > 1; n >>= 1 {
		depth += 2
	}
	introsort(s, depth, less)
	const few = 16
	if len(s) <= few {
		insertionSort(s, less)
		return
	}
	insertionSort(s[:few], less)
	for i := few; i < len(s); i++ {
		insertUnguarded(s, i, less)
	}
}

func introsort[T any](s []T, depth int, less func(a, b T) bool) {
	for len(s) > 16 {
		if depth == 0 {
			heapSort(s, less)
			return
		}
		depth--
		cut := partition(s, less)
		introsort(s[cut:], depth, less)
		s = s[:cut]
	}
}

// partition moves the median of three to the front and parts the rest by it.
func partition[T any](s []T, less func(a, b T) bool) int {
	median(s, 1, len(s)/2, len(s)-1, less)
	pivot := s[0]
	first, last := 1, len(s)
	for {
		for first < len(s) && less(s[first], pivot) { // scores that are no number are not in order: libstdc++ would walk on
			first++
		}
		last--
		for last > 0 && less(pivot, s[last]) {
			last--
		}
		if first >= last {
			return first
		}
		s[first], s[last] = s[last], s[first]
		first++
	}
}

func median[T any](s []T, a, b, c int, less func(a, b T) bool) {
	at := a
	if less(s[a], s[b]) {
		switch {
		case less(s[b], s[c]):
			at = b
		case less(s[a], s[c]):
			at = c
		}
	} else if !less(s[a], s[c]) {
		if at = b; less(s[b], s[c]) {
			at = c
		}
	}
	s[0], s[at] = s[at], s[0]
}

func insertionSort[T any](s []T, less func(a, b T) bool) {
	for i := 1; i < len(s); i++ {
		if less(s[i], s[0]) {
			v := s[i]
			copy(s[1:i+1], s[:i])
			s[0] = v
		} else {
			insertUnguarded(s, i, less)
		}
	}
}

// insertUnguarded inserts s[i] into what is sorted before it, where something is not greater.
func insertUnguarded[T any](s []T, i int, less func(a, b T) bool) {
	v := s[i]
	for i > 0 && less(v, s[i-1]) {
		s[i] = s[i-1]
		i--
	}
	s[i] = v
}

// heapSort is what is left of std::partial_sort over a whole range.
func heapSort[T any](s []T, less func(a, b T) bool) {
	if n := len(s); n > 1 {
		for parent := (n - 2) / 2; ; parent-- {
			adjust(s, parent, n, s[parent], less)
			if parent == 0 {
				break
			}
		}
	}
	for n := len(s) - 1; n > 0; n-- {
		v := s[n]
		s[n] = s[0]
		adjust(s, 0, n, v, less)
	}
}

func adjust[T any](s []T, hole, n int, v T, less func(a, b T) bool) {
	top, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if less(s[child], s[child-1]) {
			child--
		}
		s[hole] = s[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		s[hole] = s[child-1]
		hole = child - 1
	}
	for hole > top {
		parent := (hole - 1) / 2
		if !less(s[parent], v) {
			break
		}
		s[hole] = s[parent]
		hole = parent
	}
	s[hole] = v
}
