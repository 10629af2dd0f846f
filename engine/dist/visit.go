package dist

import "unsafe"

// VisitedSet records the rows that a search has met, as one bit per row. This keeps the bits of many rows in the
// caches that the rows themselves pass through.
type VisitedSet struct {
	words []uint32
	rows  uint64
	// marked holds the rows that were marked since Clear. It is used only if sparseClear is set, so that Clear can
	// clear a few words instead of all.
	marked      []uint32
	sparseClear bool
}

// minSparseClear is the number of words (32 kB) above which Clear clears words one by one if few rows were met.
const minSparseClear = 8192

// NewVisitedSet returns a set for the given number of rows, none of which is met.
func NewVisitedSet(rows int) *VisitedSet {
	words := (rows + 31) / 32
	return &VisitedSet{words: make([]uint32, words), rows: uint64(rows), sparseClear: words > minSparseClear}
}

// Add marks a row as met.
func (s *VisitedSet) Add(id uint32) {
	s.words[id/32] |= 1 << (id % 32)
	if s.sparseClear {
		s.marked = append(s.marked, id)
	}
}

// Clear marks all rows as not met.
func (s *VisitedSet) Clear() {
	if !s.sparseClear || len(s.marked) > len(s.words)/8 {
		clear(s.words)
	} else {
		for _, id := range s.marked {
			s.words[id/32] = 0
		}
	}
	s.marked = s.marked[:0]
}

// Visit marks the neighbours in slots that were not met before, and writes each once to fresh, in the order of
// slots. It prefetches the first lines cache lines of their rows (base+id*stride) and returns the number of
// neighbours written. The list ends at the first slot that is not a row; a slot with the top bit set marks the
// end. fresh must have room for all slots. Its content after the returned number is undefined.
func Visit(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	if len(slots) == 0 || seen.rows == 0 {
		return 0
	}
	_ = fresh[len(slots)-1]
	n := visit(slots, seen, base, stride, lines, fresh)
	if seen.sparseClear {
		seen.marked = append(seen.marked, fresh[:n]...)
	}
	return n
}

// visitGeneric is the specification of Visit. It prefetches nothing.
func visitGeneric(slots []uint32, seen *VisitedSet, fresh []uint32) int {
	n := 0
	for _, s := range slots {
		if uint64(s) >= seen.rows {
			break
		}
		word, bit := &seen.words[s/32], uint32(1)<<(s%32)
		if *word&bit == 0 {
			*word |= bit
			fresh[n] = s
			n++
		}
	}
	return n
}
