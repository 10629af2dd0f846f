package flat

import (
	"errors"
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// sieveRows is the maximum number of rows that are compared with codes before the threshold is updated. It is
// small, because each update lets fewer rows pass. The first tiles are smaller still. The first firstRows rows are
// computed in full, because the k-th best of so few rows is a weak threshold.
const (
	sieveRows = 1024
	firstRows = 64
	// minCodeRows is the minimum number of rows for which a single query uses codes. Quantizing a query takes about as
	// long as comparing some rows.
	minCodeRows = 4 * firstRows
)

// sieveTile returns the number of rows in the tile that starts at row first: half of first, rounded down to a
// multiple of 64, at least firstRows and at most sieveRows.
func sieveTile(first int) int { return min(max(first>>1&^63, firstRows), sieveRows) }

// sieveShare is a threshold. If a filter leaves at most one in sieveShare rows of a tile, these rows are computed
// without their codes, because codes would be read for all rows of the tile.
const sieveShare = 8

// maxIneffective is a number of rows. A query stops using codes after so many rows in tiles whose codes let many rows
// pass.
const maxIneffective = 4 * sieveRows

// Quantize adds codes of the rows to the index, so that a search computes few distances in full. The codes take about
// a quarter of the memory of the rows. Quantize uses at most threads goroutines (0: one per CPU). It must be called
// before the index is searched. It returns an error if codes do not support these rows.
func (x *Index) Quantize(threads int) error {
	if x.Vectors == nil {
		return errors.New("a flat index without vectors")
	}
	if err := prefilter.Fits(x.Vectors, x.Metric); err != nil {
		return err
	}
	codes, err := prefilter.Encode([]*engine.Vectors{x.Vectors}, x.Vectors.Dim, x.Metric, threads)
	x.Codes = codes
	return err
}

// enableCodes enables the codes of the index, unless they were made for other norms than the library divides by.
func (s *Searcher) enableCodes() error {
	c, v := s.index.Codes, s.index.Vectors
	if c == nil {
		return nil
	}
	if !c.Matches(s.index.Metric, v.Dim, (v.Rows+dist.SieveGroup-1)/dist.SieveGroup*dist.SieveGroup) {
		return errors.New("codes of other rows")
	}
	if s.norms == nil || c.SupportsNorms(0, s.norms) {
		s.codes = c
	}
	return nil
}

// Threshold returns the distance of the worst of k hits. Later rows must be strictly better. The distance is the
// library's: for similarities, the raw sum, or its quotient with the norm. Threshold returns false if every row enters.
func (t *TopK) Threshold() (float64, bool) {
	if t.similarity {
		return -float64(t.worst), t.worst < vacantKey
	}
	return float64(t.worst), t.worst < vacantKey
}

// scanCodes is scan with codes: it computes only the distances of rows that may enter.
func (s *Searcher) scanCodes(q query, excluded []uint64, to *TopK) {
	v, vain := s.index.Vectors, 0
	for first := 0; first < v.Rows; {
		n := min(sieveTile(first), v.Rows-first)
		if s.siftTile(q, first, n, vain < maxIneffective, excluded, to) {
			vain += n
		}
		first += n
	}
}

// siftTile adds to the TopK the rows that may enter, among the n rows from first on. It skips the codes if coded
// is false or if they cannot help. It reports whether the codes were read but let most rows pass.
func (s *Searcher) siftTile(q query, first, n int, coded bool, excluded []uint64, to *TopK) (ineffective bool) {
	v := s.index.Vectors
	base := unsafe.Add(v.Base(), first*v.Stride)
	beat, ok := to.Threshold()
	if !ok || !coded {
		s.tileOf(q, base, first, n, excluded, to)
		return false
	}
	if excluded != nil {
		var all bool
		if s.chosen, all = choose(s.chosen, excluded, first, n, sieveShare); !all {
			if len(s.chosen) > 0 {
				s.gather(q, base, first, s.chosen, to)
			}
			return false
		}
	}
	cut := s.codeQuery.Cut(beat, s.norms != nil)
	words := s.words[:(n+63)>>6]
	s.codeQuery.Sieve(first, &cut, words)
	s.chosen = passed(s.chosen, words, excluded, first, n)
	if 2*len(s.chosen) > n { // sequential access is faster
		s.tileOf(q, base, first, n, excluded, to)
		return true
	}
	if len(s.chosen) > 0 {
		s.gather(q, base, first, s.chosen, to)
	}
	return false
}

// passed appends to to[:0] the rows whose bit is set in words and not in excluded, among the n rows from first on. Rows
// are relative to first.
func passed(to []uint32, words, excluded []uint64, first, n int) []uint32 {
	to = to[:0]
	for i, w := range words {
		if excluded != nil {
			w &^= excluded[first>>6+i]
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
