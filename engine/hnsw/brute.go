package hnsw

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"kitescope/engine"
)

// scanRows is the number of rows that a brute-force search compares at a time.
const scanRows = 256

// bruteForce is searchKnnBF. It finds the k smallest pairs (distance, row).
func (s *Searcher) bruteForce(k int) {
	s.found = s.found[:0]
	h := kHeap{s: s, k: min(k, s.n), limit: float32(math.Inf(1))}
	// brute_force_search_impl, thirdparty/faiss/faiss/cppcontrib/knowhere/impl/Bruteforce.h, v2.5.6.
	if s.faissWalk || s.library == engine.Faiss {
		h.all, h.reverse = true, s.similarity()
	}
	s.scan(h.add)
	if s.faissWalk || s.library == engine.Faiss {
		s.sortFaiss()
		return
	}
	sortPairs(s.found)
}

// scan computes the distances of all rows that are not filtered, in row order, and calls each with every distance.
func (s *Searcher) scan(each func(d float32, id uint32)) {
	transform := s.similarity()
	for at := 0; at < s.n; at += scanRows {
		out := s.dists[:min(scanRows, s.n-at)]
		s.kernel.Scan(s.q, rowAt(s.floats.base, s.floats.stride, at), s.floats.stride, out)
		if transform {
			s.compareRows(at, out)
		}
		for i, d := range out {
			if !s.blocked.Has(at + i) {
				each(d, uint32(at+i))
			}
		}
	}
	s.stats.Distances += s.n - s.blocked.Count()
}

// compareRows is compare for consecutive rows.
func (s *Searcher) compareRows(at int, d []float32) {
	for i := range d {
		d[i] = s.comparedValue(d[i], uint32(at+i))
	}
}

// sortPairs sorts by distance, then by row.
func sortPairs(found []nodeDist) {
	slices.SortFunc(found, func(a, b nodeDist) int {
		if c := cmp.Compare(a.d, b.d); c != 0 {
			return c
		}
		return cmp.Compare(a.id, b.id)
	})
}

func rowAt(base unsafe.Pointer, stride uintptr, row int) unsafe.Pointer {
	return unsafe.Add(base, uintptr(row)*stride)
}
