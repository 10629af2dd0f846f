package sparse

// key is what is sorted by: the number of a row, a score.
type key interface{ uint32 | float64 }

// ordered is something with a key.
type ordered[K key] struct {
	key K
	at  uint32
}

// sortAsCPP sorts as std::sort of libstdc++ does, which decides in which order equal ones come, and so in which order knowhere adds
// up: an introsort that leaves stretches of 16 to an insertion sort (bits/stl_algo.h of GCC).
func sortAsCPP[K key](s []ordered[K]) {
	if len(s) == 0 {
		return
	}
	depth := 0
	for n := len(s); n > 1; n >>= 1 {
		depth += 2
	}
	introsort(s, depth)
	const few = 16
	if len(s) <= few {
		insertionSort(s)
		return
	}
	insertionSort(s[:few])
	for i := few; i < len(s); i++ {
		insertUnguarded(s, i)
	}
}

func introsort[K key](s []ordered[K], depth int) {
	for len(s) > 16 {
		if depth == 0 {
			heapSort(s)
			return
		}
		depth--
		cut := partition(s)
		introsort(s[cut:], depth)
		s = s[:cut]
	}
}

// partition moves the median of three to the front and parts the rest by it.
func partition[K key](s []ordered[K]) int {
	median(s, 1, len(s)/2, len(s)-1)
	pivot := s[0]
	first, last := 1, len(s)
	for {
		for first < len(s) && s[first].key < pivot.key { // scores that are no number are not in order: libstdc++ would walk on
			first++
		}
		last--
		for last > 0 && pivot.key < s[last].key {
			last--
		}
		if first >= last {
			return first
		}
		s[first], s[last] = s[last], s[first]
		first++
	}
}

func median[K key](s []ordered[K], a, b, c int) {
	at := a
	if s[a].key < s[b].key {
		switch {
		case s[b].key < s[c].key:
			at = b
		case s[a].key < s[c].key:
			at = c
		}
	} else if !(s[a].key < s[c].key) {
		if at = b; s[b].key < s[c].key {
			at = c
		}
	}
	s[0], s[at] = s[at], s[0]
}

func insertionSort[K key](s []ordered[K]) {
	for i := 1; i < len(s); i++ {
		if s[i].key < s[0].key {
			v := s[i]
			copy(s[1:i+1], s[:i])
			s[0] = v
		} else {
			insertUnguarded(s, i)
		}
	}
}

// insertUnguarded inserts s[i] into what is sorted before it, where something is not greater.
func insertUnguarded[K key](s []ordered[K], i int) {
	v := s[i]
	for i > 0 && v.key < s[i-1].key {
		s[i] = s[i-1]
		i--
	}
	s[i] = v
}

// heapSort is what is left of std::partial_sort over a whole range.
func heapSort[K key](s []ordered[K]) {
	if n := len(s); n > 1 {
		for parent := (n - 2) / 2; ; parent-- {
			adjust(s, parent, n, s[parent])
			if parent == 0 {
				break
			}
		}
	}
	for n := len(s) - 1; n > 0; n-- {
		v := s[n]
		s[n] = s[0]
		adjust(s, 0, n, v)
	}
}

func adjust[K key](s []ordered[K], hole, n int, v ordered[K]) {
	top, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if s[child].key < s[child-1].key {
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
		if !(s[parent].key < v.key) {
			break
		}
		s[hole] = s[parent]
		hole = parent
	}
	s[hole] = v
}
