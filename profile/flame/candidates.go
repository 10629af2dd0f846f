package flame

import (
	"cmp"
	"slices"
)

// candidates is a heap of the frames that may be added, largest first.
type candidates struct {
	heap    []candidate
	pushed  uint32
	dropped int
}

func compareCandidates(a, b *candidate) int {
	if a.share != b.share {
		return cmp.Compare(b.share, a.share)
	}
	return cmp.Compare(a.order, b.order)
}

func (s *candidates) push(one candidate) {
	one.order = s.pushed
	s.pushed++
	s.heap = append(s.heap, one)
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if compareCandidates(&s.heap[parent], &s.heap[i]) <= 0 {
			break
		}
		s.heap[parent], s.heap[i] = s.heap[i], s.heap[parent]
		i = parent
	}
}

func (s *candidates) pop() candidate {
	first, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if compareCandidates(&s.heap[child], &s.heap[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return first
		}
		s.heap[least], s.heap[i] = s.heap[i], s.heap[least]
		i = least
	}
}

// bound drops the smallest candidates beyond the limit, because a tree of at most that many frames cannot
// use them. It does so only when the heap is far above the limit, to amortize the sorting.
func (s *candidates) bound(limit int) {
	if len(s.heap) < 2*limit+10_000 {
		return
	}
	slices.SortFunc(s.heap, func(a, b candidate) int { return compareCandidates(&a, &b) }) // a sorted slice is a heap
	s.dropped += len(s.heap) - limit
	s.heap = s.heap[:limit]
}
