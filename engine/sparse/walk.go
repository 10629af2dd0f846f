package sparse

import (
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// window is the number of rows whose scores are completed from all lists before the next rows. These scores
// stay in the nearest cache, whereas each list alone would pass through the scores of all rows. With a smaller
// window, lists are left and found again too often. Each score is the same sum in the same order.
const window = 8192

// walk adds list after list to the scores of rows, and offers all rows with a score to a queue, in ascending
// order of ids. Since knowhere 2.5, it offers only rows with a score above 0. excluded holds the words of a filter.
func (s *Searcher) walk(to *queue, excluded []uint64, p *Params) {
	x, above := s.index, s.library != engine.Knowhere23
	if s.scores == nil {
		s.scores = make([]float32, window)
	}
	s.places = s.places[:0]
	for _, t := range s.terms {
		s.places = append(s.places, x.Starts[t.list])
		s.scored += int(x.Starts[t.list+1] - x.Starts[t.list])
	}
	now := s.bm25
	now.AvgDL = p.AvgDL
	for first := 0; first < x.Rows; first += window {
		end := min(first+window, x.Rows)
		added := false
		for i, t := range s.terms {
			from := s.places[i]
			until := from + uint64(below(x.IDs[from:x.Starts[t.list+1]], uint32(end)))
			if s.places[i] = until; from == until {
				continue
			}
			added = true
			if x.Metric == dist.BM25 {
				s.addWeights(t.value, first, x.IDs[from:until], x.Values[from:until], &now)
			} else {
				addProducts(s.scores, t.value, uint32(first), x.IDs[from:until], x.Values[from:until])
			}
		}
		if added {
			offer(to, s.scores[:end-first], uint32(first), excluded, above)
		}
	}
}

// below returns the number of ascending ids that are less than end. It doubles its steps and bisects at the
// end, because this number is small compared with long lists.
func below(ids []uint32, end uint32) int {
	n := len(ids)
	if n == 0 || ids[n-1] < end {
		return n
	}
	step := 1
	for step < n && ids[step-1] < end {
		step *= 2
	}
	low, high := step/2, min(step, n) // all ids[:low] are less; ids[high-1] or the next id is not
	for low < high {
		if mid := int(uint(low+high) / 2); ids[mid] < end {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// addProducts adds v times each value to the score of its row. Ids are in the window that starts at first,
// which Finish and below guarantee.
func addProducts(scores []float32, v float32, first uint32, ids []uint32, values []float32) {
	base := unsafe.Pointer(unsafe.SliceData(scores))
	at := func(id uint32) *float32 { return (*float32)(unsafe.Add(base, uintptr(id-first)*4)) }
	for len(ids) >= 4 && len(values) >= 4 { // different rows, except in hostile files: no sum waits for another
		a, b, c, d := at(ids[0]), at(ids[1]), at(ids[2]), at(ids[3])
		*a += float32(v * values[0])
		*b += float32(v * values[1])
		*c += float32(v * values[2])
		*d += float32(v * values[3])
		ids, values = ids[4:], values[4:]
	}
	for j, id := range ids {
		*at(id) += float32(v * values[j])
	}
}

func (s *Searcher) addWeights(v float32, first int, ids []uint32, values []float32, now *BM25) {
	values = values[:len(ids)]
	lengths := s.index.Lengths[first:]
	for j, id := range ids {
		at := int(id) - first
		s.scores[at] += float32(v * now.weight(values[j], lengths[at]))
	}
}

// Scores are compared as integers, two per word. |score| with the top bit set, minus a bound, keeps the top bit
// if and only if |score| is at least the bound. It never borrows from its neighbour.
const (
	tops  = 0x8000000080000000
	twin  = 0x0000000100000001
	group = 16
)

// offer offers to the queue the scores of a window that may enter it, and clears all scores.
func offer(to *queue, scores []float32, first uint32, excluded []uint64, above bool) {
	bound := boundOf(to)
	for at := 0; at < len(scores); at += group {
		rest := scores[at:min(at+group, len(scores))]
		if len(rest) == group {
			g := (*[group / 2]uint64)(unsafe.Pointer(&rest[0]))
			some := (g[0] | tops) - bound
			some |= (g[1] | tops) - bound
			some |= (g[2] | tops) - bound
			some |= (g[3] | tops) - bound
			some |= (g[4] | tops) - bound
			some |= (g[5] | tops) - bound
			some |= (g[6] | tops) - bound
			some |= (g[7] | tops) - bound
			if some&tops == 0 {
				continue
			}
		}
		for i, score := range rest {
			id := first + uint32(at+i)
			if score == 0 || above && !(score > to.threshold()) || excluded != nil && marked(excluded, id) {
				continue
			}
			to.push(id, score)
		}
		bound = boundOf(to)
	}
	clear(scores)
}

// boundOf returns the bits of the least score that may enter a queue, in both halves of a word. If the queue
// accepts any score, this is the least score greater than 0.
func boundOf(to *queue) uint64 {
	threshold := max(to.threshold(), 0)
	return uint64(math.Float32bits(threshold)+1) * twin
}
