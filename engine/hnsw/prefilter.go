package hnsw

import (
	"errors"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// Quantize adds codes of the rows to the index, so that a walk computes few distances in full. The codes take about a
// quarter of the memory of the rows. Quantize uses at most threads goroutines (0: one per CPU). It must be called
// before the index is searched. It returns an error if codes do not support these rows.
func (x *Index) Quantize(threads int) (err error) {
	if err := prefilter.Fits(x.Vectors, x.Metric); err != nil {
		return err
	}
	x.Codes, err = prefilter.EncodeRows(x.Vectors, x.Metric, threads)
	return err
}

// codesLines is the maximum number of cache lines of a row's codes that a visit prefetches.
const codesLines = 16

// enableCodes prepares the Searcher to use the codes of the index, unless they were made for other norms than the
// library divides by.
func (s *Searcher) enableCodes() error {
	x := s.index
	if x.Codes == nil {
		return nil
	}
	if !x.Codes.Matches(x.Metric, x.Vectors.Dim, x.Vectors.Rows) {
		return errors.New("codes of other rows")
	}
	if s.divides() && !x.Codes.SupportsNorms(0, x.Norms) {
		return nil
	}
	s.codes = x.Codes.NewQuery()
	return nil
}

// divides reports whether inner products are divided by the rows' norms.
func (s *Searcher) divides() bool {
	return s.similarity() && s.library != engine.HNSWLib && s.index.Norms != nil
}

// loadCodes quantizes the query in s.query.
func (s *Searcher) loadCodes() {
	s.coded = s.codes != nil && s.codes.Load(unsafe.Slice((*float32)(s.q), s.index.Vectors.Dim))
	s.cutFor = float32(math.NaN())
	s.fetchFloats()
}

// fetchFloats makes visits prefetch rows. fetchCodes makes them prefetch codes.
func (s *Searcher) fetchFloats() {
	s.base, s.stride, s.lines, s.long = s.floats.base, s.floats.stride, s.floats.lines, s.floats.long
}

func (s *Searcher) fetchCodes() {
	c := s.index.Codes
	s.base, s.stride, s.lines, s.long = c.Base(), c.Stride(), min((c.RowBytes()+63)/64, codesLines), false
}

// pick keeps the rows among the first n of s.fresh that may be nearer than worst, in the library's comparison. It
// preserves their order and returns their number. The other rows count as computed distances, because the library
// computes them.
func (s *Searcher) pick(n int, worst float32) int {
	if worst != s.cutFor {
		s.cutFor, s.cut = worst, s.cutOf(worst)
	}
	left := s.codes.Pick(&s.cut, s.fresh[:n])
	s.stats.Distances += n - left
	return left
}

// cutOf returns the threshold for codes of rows that may be nearer than worst, in the library's comparison.
func (s *Searcher) cutOf(worst float32) dist.Cut {
	beat := float64(worst)
	switch {
	case !s.similarity():
	case s.library == engine.HNSWLib:
		// Rounding 1-ip does not change on which side of worst it is.
		beat = 1 - beat
	default:
		beat = -beat
	}
	return s.codes.Cut(beat, s.divides())
}

// fetchRows prefetches rows whose distances will be computed.
func (s *Searcher) fetchRows(ids []uint32) {
	dist.PrefetchRows(s.floats.base, s.floats.stride, s.rowLines, ids)
}
