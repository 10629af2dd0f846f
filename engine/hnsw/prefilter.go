package hnsw

import (
	"errors"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// Shade gives the index codes of its rows, at the cost of about a quarter of their memory, so that walks compute few distances in full;
// by at most threads goroutines (0: one per CPU). It is part of making an index, before anything searches it. An error says why its
// rows can have none.
func (x *Index) Shade(threads int) (err error) {
	if err := prefilter.Fits(x.Vectors, x.Metric); err != nil {
		return err
	}
	x.Shadow, err = prefilter.EncodeRows(x.Vectors, x.Metric, threads)
	return err
}

// codesLines is how many cache lines of a row's codes a visit asks for.
const codesLines = 16

// shade readies what a Searcher needs to hold rows against codes, if the index has them and what is divided by is what they know of.
func (s *Searcher) shade() error {
	x := s.index
	if x.Shadow == nil {
		return nil
	}
	if !x.Shadow.For(x.Metric, x.Vectors.Dim, x.Vectors.Rows) {
		return errors.New("codes of other rows")
	}
	if s.divides() && !x.Shadow.Divides(0, x.Norms) {
		return nil
	}
	s.codes = x.Shadow.NewQuery()
	return nil
}

// divides reports whether inner products are divided by the rows' norms.
func (s *Searcher) divides() bool {
	return s.similarity() && s.library != engine.HNSWLib && s.index.Norms != nil
}

// loadCodes takes the query that is in s.query.
func (s *Searcher) loadCodes() {
	s.coded = s.codes != nil && s.codes.Load(unsafe.Slice((*float32)(s.q), s.index.Vectors.Dim))
	s.cutFor = float32(math.NaN())
	s.fetchFloats()
}

// fetchFloats has visits prefetch rows, fetchCodes their codes.
func (s *Searcher) fetchFloats() {
	s.base, s.stride, s.lines, s.long = s.floats.base, s.floats.stride, s.floats.lines, s.floats.long
}

func (s *Searcher) fetchCodes() {
	c := s.index.Shadow
	s.base, s.stride, s.lines, s.long = c.Base(), c.Stride(), min((c.RowBytes()+63)/64, codesLines), false
}

// pick leaves of the first n of s.fresh, in their order, those that may be nearer than worst, as the library compares them, and returns
// how many they are. The others count as computed, as the library does.
func (s *Searcher) pick(n int, worst float32) int {
	if worst != s.cutFor {
		s.cutFor, s.cut = worst, s.cutOf(worst)
	}
	left := s.codes.Pick(&s.cut, s.fresh[:n])
	s.stats.Distances += n - left
	return left
}

// cutOf is what rows have to pass that may be nearer than worst, as the library compares them.
func (s *Searcher) cutOf(worst float32) dist.Cut {
	beat := float64(worst)
	switch {
	case !s.similarity():
	case s.library == engine.HNSWLib:
		// 1-ip is rounded, which does not change on which side of worst it is.
		beat = 1 - beat
	default:
		beat = -beat
	}
	return s.codes.Cut(beat, s.divides())
}

// fetchRows prefetches rows whose distances will be asked for.
func (s *Searcher) fetchRows(ids []uint32) {
	dist.PrefetchRows(s.floats.base, s.floats.stride, s.rowLines, ids)
}
