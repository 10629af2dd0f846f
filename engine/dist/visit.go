package dist

import "unsafe"

// Seen is which rows a search has met: a bit each, so that those of many rows stay in the caches that the rows themselves go through.
type Seen struct {
	words []uint32
	rows  uint64
	// met are those that Visit found since Clear, where these are fewer to clear than the words.
	met  []uint32
	sums bool
}

// manyWords is how many words are rather cleared one by one: beyond 32 kB.
const manyWords = 8192

// NewSeen returns a set of so many rows, none of which was met.
func NewSeen(rows int) *Seen {
	words := (rows + 31) / 32
	return &Seen{words: make([]uint32, words), rows: uint64(rows), sums: words > manyWords}
}

// Add meets a row.
func (s *Seen) Add(id uint32) {
	s.words[id/32] |= 1 << (id % 32)
	if s.sums {
		s.met = append(s.met, id)
	}
}

// Clear makes all rows new.
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

// Visit writes to fresh those of the neighbours in slots that were not met before, each once, in their order, meets them, prefetches the
// first lines cache lines of each one's row (base+id*stride), and returns how many there are. The list ends at the first slot that is
// no row: one with the top bit set marks the end. fresh has room for all slots, and what is behind those returned is undefined.
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

// visitGeneric is the specification of Visit; it prefetches nothing.
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
