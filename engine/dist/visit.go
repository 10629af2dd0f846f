package dist

import "unsafe"

// Seen records the rows that a search has met, as one bit per row. This keeps the bits of many rows in the
// caches that the rows themselves pass through.
type Seen struct {
	words []uint32
	rows  uint64
	// met holds the rows that were marked since Clear. It is used only if sums is set, so that Clear can clear
	// a few words instead of all.
	met  []uint32
	sums bool
}

// manyWords is the number of words (32 kB) above which Clear clears words one by one if few rows were met.
const manyWords = 8192

// NewSeen returns a set for the given number of rows, none of which is met.
func NewSeen(rows int) *Seen {
	words := (rows + 31) / 32
	return &Seen{words: make([]uint32, words), rows: uint64(rows), sums: words > manyWords}
}

// Add marks a row as met.
func (s *Seen) Add(id uint32) {
	s.words[id/32] |= 1 << (id % 32)
	if s.sums {
		s.met = append(s.met, id)
	}
}

// Clear marks all rows as not met.
func (s *Seen) Clear() {
	if !s.sums || len(s.met) > len(s.words)/8 {
		clear(s.words)
	} else {
		for _, id := range s.met {
			s.words[id/32] = 0
		}
	}
	s.met = s.met[:0]
}

// Visit marks the neighbours in slots that were not met before, and writes each once to fresh, in the order of
// slots. It prefetches the first lines cache lines of their rows (base+id*stride) and returns the number of
// neighbours written. The list ends at the first slot that is not a row; a slot with the top bit set marks the
// end. fresh must have room for all slots. Its content after the returned number is undefined.
func Visit(slots []uint32, seen *Seen, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	if len(slots) == 0 || seen.rows == 0 {
		return 0
	}
	_ = fresh[len(slots)-1]
	n := visit(slots, seen, base, stride, lines, fresh)
	if seen.sums {
		seen.met = append(seen.met, fresh[:n]...)
	}
	return n
}

// visitGeneric is the specification of Visit. It prefetches nothing.
func visitGeneric(slots []uint32, seen *Seen, fresh []uint32) int {
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
