package hnsw

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// prepare checks a query and copies it to s.query, normalised under cosine. It also resets the counters and the
// visited nodes.
func (s *Searcher) prepare(query []byte, filter *engine.Bitset) error {
	v, dim := s.index.Vectors, s.index.Dim()
	if size := s.index.Element().Bytes(dim); len(query) != size {
		return fmt.Errorf("a query of %d bytes for vectors of %d (%d dimensions)", len(query), size, dim)
	}
	if filter.Len() > 0 && filter.Len() != v.Rows {
		return fmt.Errorf("a filter of %d rows for %d vectors", filter.Len(), v.Rows)
	}
	s.stats = Stats{}
	s.block(filter)
	if err := s.load(query); err != nil {
		return err
	}
	s.loadCodes()
	s.seen.Clear()
	return nil
}

// block sets s.blocked to the rows that must not be returned. It allocates memory only to combine a filter with
// deleted rows.
func (s *Searcher) block(filter *engine.Bitset) {
	switch deleted := s.index.Deleted; {
	case deleted.Count() == 0:
		s.blocked = filter
	case filter.Count() == 0:
		s.blocked = deleted
	default:
		if s.union == nil {
			s.union = engine.NewBitset(s.n)
		}
		s.union.SetUnion(filter, deleted)
		s.blocked = s.union
	}
}

func (s *Searcher) load(query []byte) error {
	switch s.index.Element() {
	case dist.Float32:
		copy(s.query, query)
	case dist.Float16, dist.BFloat16:
		wide, err := s.kernel.Query(query)
		if err != nil {
			return err
		}
		copy(s.query, wide)
	default:
		copy(s.query, query)
		return nil
	}
	q := unsafe.Slice((*float32)(s.q), s.index.Dim())
	zero := true
	for i, x := range q {
		if isNaN(x) {
			return fmt.Errorf("dimension %d of the query is not a number", i)
		}
		zero = zero && x == 0
	}
	if s.index.Metric != dist.Cosine {
		return nil
	}
	if zero {
		return errors.New("a query of zeros has no direction: cosine is not defined")
	}
	s.normalize(q, s.norm.SquaredNorm(unsafe.Pointer(unsafe.SliceData(query))))
	return nil
}

// normalize scales q to length 1. sum is its sum of squares. It is normalize_vector of hnswlib's
// python_bindings/bindings.cpp, or NormalizeVec of knowhere's src/common/utils.cc.
func (s *Searcher) normalize(q []float32, sum float32) {
	if s.library == engine.HNSWLib {
		scale := 1 / (sqrt(sum) + 1e-30)
		for i, x := range q {
			q[i] = x * scale
		}
		return
	}
	if away := 1 - sum; sum <= 0 || away <= normAccuracy && away >= -normAccuracy {
		return
	}
	norm := sqrt(sum)
	for i, x := range q {
		q[i] = x / norm
	}
}

// normAccuracy is FloatAccuracy of knowhere's src/common/utils.cc.
const normAccuracy = float32(0.00001)

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
