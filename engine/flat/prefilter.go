package flat

import (
	"errors"
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// sieveRows is how many rows are held against codes between two looks at the hits, at the most: few, as each look lets fewer pass. The
// first looks come sooner, the first of all after firstRows rows, which are computed in full: what k of them have to be beaten by says
// little yet.
const (
	sieveRows = 1024
	firstRows = 64
	// fewestRows are too few for codes: making a query ready takes as long as some of them.
	fewestRows = 4 * firstRows
)

// sieveTile is how many rows are held against codes after so many others, a multiple of 64: half as many as these.
func sieveTile(first int) int { return min(max(first>>1&^63, firstRows), sieveRows) }

// sieveShare: of a tile of which a filter leaves one row in sieveShare or less, these are computed without a look at their codes,
// which would be read for all of its rows.
const sieveShare = 8

// maxVain is after how many rows in tiles of which codes let many pass a query does without them.
const maxVain = 4 * sieveRows

// Shade gives the index codes of its rows, at the cost of about a quarter of their memory, so that searches compute few distances in
// full; by at most threads goroutines (0: one per CPU). It is part of making an index, before anything searches it. An error says
// why its rows can have none.
func (x *Index) Shade(threads int) error {
	if x.Vectors == nil {
		return errors.New("a flat index without vectors")
	}
	if err := prefilter.Fits(x.Vectors, x.Metric); err != nil {
		return err
	}
	codes, err := prefilter.Encode([]*engine.Vectors{x.Vectors}, x.Vectors.Dim, x.Metric, threads)
	x.Shadow = codes
	return err
}

// shade takes the codes of the index if what the library divides by is what they know of.
func (s *Searcher) shade() error {
	c, v := s.index.Shadow, s.index.Vectors
	if c == nil {
		return nil
	}
	if !c.For(s.index.Metric, v.Dim, (v.Rows+dist.SieveGroup-1)/dist.SieveGroup*dist.SieveGroup) {
		return errors.New("codes of other rows")
	}
	if s.norms == nil || c.Divides(0, s.norms) {
		s.codes = c
	}
	return nil
}

// Beat is what later rows have to be strictly better than, the worst of k hits, as the library's distance (similarity: of raw sums, or
// their quotient with the norm); it is not ok where all rows enter.
func (t *TopK) Beat() (float64, bool) {
	if t.similarity {
		return -float64(t.worst), t.worst < neutral
	}
	return float64(t.worst), t.worst < neutral
}

// scanShadow is scan with codes: of each tile those rows are computed that may enter.
func (s *Searcher) scanShadow(q query, left []uint64, to *TopK) {
	v, vain := s.index.Vectors, 0
	for first := 0; first < v.Rows; {
		n := min(sieveTile(first), v.Rows-first)
		if s.siftTile(q, first, n, vain < maxVain, left, to) {
			vain += n
		}
		first += n
	}
}

// siftTile gives to the distances of q to those of n rows from first on that may enter, by their codes if these are worth a look; it
// reports whether they were of no use.
func (s *Searcher) siftTile(q query, first, n int, coded bool, left []uint64, to *TopK) (vain bool) {
	v := s.index.Vectors
	base := unsafe.Add(v.Base(), first*v.Stride)
	beat, ok := to.Beat()
	if !ok || !coded {
		s.tileOf(q, base, first, n, left, to)
		return false
	}
	if left != nil {
		var all bool
		if s.chosen, all = choose(s.chosen, left, first, n, sieveShare); !all {
			if len(s.chosen) > 0 {
				s.gather(q, base, first, s.chosen, to)
			}
			return false
		}
	}
	cut := s.shadow.Cut(beat, s.norms != nil)
	words := s.words[:(n+63)>>6]
	s.shadow.Sieve(first, &cut, words)
	s.chosen = passed(s.chosen, words, left, first, n)
	if 2*len(s.chosen) > n { // one after the other they come from memory faster
		s.tileOf(q, base, first, n, left, to)
		return true
	}
	if len(s.chosen) > 0 {
		s.gather(q, base, first, s.chosen, to)
	}
	return false
}

// passed lists, relative to first, which of the n rows from first on have a bit in words and none in left.
func passed(to []uint32, words, left []uint64, first, n int) []uint32 {
	to = to[:0]
	for i, w := range words {
		if left != nil {
			w &^= left[first>>6+i]
		}
		if last := n - i<<6; last < 64 {
			w &= 1<<last - 1
		}
		for ; w != 0; w &= w - 1 {
			to = append(to, uint32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return to
}
