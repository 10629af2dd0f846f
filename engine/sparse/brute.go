package sparse

import (
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Rows searches sparse rows one by one, as segments without an index are searched (BruteForce::SearchSparse).
// It must not be used by several goroutines at once.
type Rows struct {
	rows    *engine.Vectors
	metric  engine.Metric
	bm25    BM25
	lengths []float32 // set only under BM25
	top     queue
	scored  int
}

// NewRows returns a searcher of rows. If b is nil, it uses DefaultBM25.
func NewRows(rows *engine.Vectors, m engine.Metric, b *BM25) (*Rows, error) {
	s := &Rows{rows: rows, metric: m, bm25: DefaultBM25()}
	if b != nil {
		s.bm25 = *b
	}
	switch {
	case rows.Element != dist.Sparse:
		return nil, fmt.Errorf("rows of %s: expected sparse", rows.Element)
	case m != dist.InnerProduct && m != dist.BM25:
		return nil, fmt.Errorf("sparse vectors under %s: expected IP or BM25", m)
	case uint64(rows.Rows) > maxRows:
		return nil, fmt.Errorf("%d rows: more than %d", rows.Rows, uint64(maxRows))
	}
	if m == dist.BM25 {
		s.lengths = make([]float32, rows.Rows)
		for i := range s.lengths {
			row := rows.Row(i)
			for j := range len(row) / PairBytes {
				_, v := pair(row, j)
				s.lengths[i] += v
			}
		}
	}
	return s, nil
}

// Clone returns a searcher of the same rows for another goroutine.
func (s *Rows) Clone() *Rows {
	return &Rows{rows: s.rows, metric: s.metric, bm25: s.bm25, lengths: s.lengths}
}

// Scored returns the number of products that the last search added up.
func (s *Rows) Scored() int { return s.scored }

// Search appends to dst the hits of a query, best first: rows with a score above 0. It uses only K, Filter and
// AvgDL of p.
func (s *Rows) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, error) {
	if err := Check(query); err != nil {
		return dst, err
	}
	if p.K < 1 || p.K > MaxK {
		return dst, fmt.Errorf("k is %d: expected 1 to %d", p.K, MaxK)
	}
	s.scored = 0
	if len(query) == 0 {
		return dst, nil
	}
	now := s.bm25
	if p.AvgDL != 0 {
		now.AvgDL = p.AvgDL
	}
	now.AvgDL = max(now.AvgDL, 1)
	left := p.Filter.Words()
	s.top.reset(p.K)
	for i := range s.rows.Rows {
		if left != nil && marked(left, uint32(i)) {
			continue
		}
		if score := s.dot(query, i, &now); score > 0 {
			s.top.push(uint32(i), score)
		}
	}
	return s.top.hits(dst), nil
}

// SearchBatch returns the hits of every query, as Search does. It uses at most threads goroutines (0: one per
// CPU).
func (s *Rows) SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, error) {
	if queries.Element != dist.Sparse {
		return nil, fmt.Errorf("queries of %s: expected sparse", queries.Element)
	}
	return engine.Batch(queries, threads, func() func(query []byte) ([]engine.Hit, error) {
		own := s.Clone()
		return func(query []byte) ([]engine.Hit, error) { return own.Search(query, p, nil) }
	})
}

// dot returns the sum of products over the dimensions that query and row share, added in ascending order.
func (s *Rows) dot(query []byte, row int, now *BM25) float32 {
	b := s.rows.Row(row)
	score := float32(0)
	for len(query) >= PairBytes && len(b) >= PairBytes {
		qd, qv := pair(query, 0)
		d, v := pair(b, 0)
		switch {
		case qd < d:
			query = query[PairBytes:]
		case qd > d:
			b = b[PairBytes:]
		default:
			if s.metric == dist.BM25 {
				v = now.weight(v, s.lengths[row])
			}
			score += float32(qv * v)
			s.scored++
			query, b = query[PairBytes:], b[PairBytes:]
		}
	}
	return score
}

// MeanLength returns the mean sum of values of rows over all segments, at least 1. BM25 uses it as the mean
// length of documents (avgdl).
func MeanLength(segments ...*engine.Vectors) float32 {
	sum, rows := 0.0, 0
	for _, v := range segments {
		for i := range v.Rows {
			row := v.Row(i)
			for j := range len(row) / PairBytes {
				_, x := pair(row, j)
				sum += float64(x)
			}
		}
		rows += v.Rows
	}
	if rows == 0 || math.IsNaN(sum) {
		return 1
	}
	return max(float32(sum/float64(rows)), 1)
}
