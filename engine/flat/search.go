package flat

import (
	"fmt"
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// scanRows is the number of rows that a single query is compared with before the hits are updated. It is a multiple
// of 64, so that filters are read in whole words. It is large, because each update interrupts the stream from
// memory.
const scanRows = 4096

// fewRows is a threshold. If a filter leaves at most one in fewRows rows of a tile, only these rows are computed.
const fewRows = 4

// Search appends the hits of a query to dst, best first. It returns at most K hits, and fewer if the filter leaves
// fewer rows. A row whose distance is NaN or infinitely bad is never a hit. query has the format of a stored row
// (Vectors.Row). Search returns an error if the query or the parameters do not fit the index.
func (s *Searcher) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, error) {
	if err := s.checkK(p.K); err != nil {
		return dst, err
	}
	left, err := s.excluded(p.Filter)
	if err != nil {
		return dst, err
	}
	q, err := s.prepare(query)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	s.top.reset(p.K)
	s.scan(q, left, s.top)
	dst = s.top.Hits(dst)
	s.relabel(dst[at:])
	return dst, nil
}

// checkK returns an error unless k hits may be requested. k may always be as large as the number of rows, because
// an IVF index can have 65,536 lists, and a range search of knowhere reads every list.
func (s *Searcher) checkK(k int) error {
	if most := max(MaxK, s.index.Vectors.Rows); k < 1 || k > most {
		return fmt.Errorf("k is %d: expected 1 to %d", k, most)
	}
	return nil
}

// scan adds to the TopK the distances from q to all rows that are not marked in excluded.
func (s *Searcher) scan(q query, excluded []uint64, to *TopK) {
	v := s.index.Vectors
	if s.codes != nil && v.Rows >= minCodeRows && s.codeQuery.Load(dist.Floats(q.bytes)) {
		s.scanCodes(q, excluded, to)
		return
	}
	for first := 0; first < v.Rows; first += scanRows {
		n := min(scanRows, v.Rows-first)
		s.tileOf(q, unsafe.Add(v.Base(), first*v.Stride), first, n, excluded, to)
	}
}

// tileOf adds the distances from q to the n rows from first on. base is the address of row first.
func (s *Searcher) tileOf(q query, base unsafe.Pointer, first, n int, excluded []uint64, to *TopK) {
	all := true
	if excluded != nil {
		s.chosen, all = choose(s.chosen, excluded, first, n, fewRows)
	}
	if all {
		d := s.tile[:n]
		s.kernel.Scan(q.at(), base, uintptr(s.index.Vectors.Stride), d)
		s.divideRun(d, first, q.norm)
		to.addRun(d, first, excluded)
	} else if len(s.chosen) > 0 {
		s.gather(q, base, first, s.chosen, to)
	}
}

// gather adds the distances from q to the chosen rows. chosen is relative to row first, whose address is base.
func (s *Searcher) gather(q query, base unsafe.Pointer, first int, chosen []uint32, to *TopK) {
	d := s.tile[:len(chosen)]
	s.kernel.Gather(q.at(), base, uintptr(s.index.Vectors.Stride), chosen, d)
	if s.norms != nil {
		for i, c := range chosen {
			d[i] /= s.norms[first+int(c)] * q.norm
		}
	}
	to.addChosen(d, first, chosen)
}

// choose appends to to[:0] the rows that are not marked in excluded, among the n rows from first on. Rows are relative
// to first, which must be a multiple of 64. If more than one in few rows is left, choose returns all = true and no
// list.
func choose(to []uint32, excluded []uint64, first, n, few int) (chosen []uint32, all bool) {
	to = to[:0]
	words := excluded[first>>6 : (first+n+63)>>6]
	out := 0
	for _, w := range words {
		out += bits.OnesCount64(w)
	}
	if (n-out)*few > n {
		return to, true
	}
	for i, w := range words {
		w = ^w
		if last := n - i<<6; last < 64 {
			w &= 1<<last - 1
		}
		for ; w != 0; w &= w - 1 {
			to = append(to, uint32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return to, false
}

// divideRun turns the inner products of consecutive rows into cosines.
func (s *Searcher) divideRun(d []float32, first int, norm float32) {
	if s.norms == nil {
		return
	}
	norms := s.norms[first : first+len(d)]
	if norm == 1 {
		for i := range d {
			d[i] /= norms[i]
		}
		return
	}
	for i := range d {
		d[i] /= norms[i] * norm
	}
}
