package segment

import (
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
)

// rows returns the rows of the segment as a flat index.
func (s *Segment) rows() *flat.Index {
	return &flat.Index{Vectors: s.Vectors, Metric: s.Metric, Codes: s.Codes}
}

// Quantize computes codes of the rows, on at most threads goroutines (0: one per CPU), and reports whether it did. It
// does so only if the codes pay for the given number of searches row by row and take at most room bytes (negative:
// no limit). The segment must not be searched meanwhile. With codes, the CPU time of searches differs from that of
// a Milvus node.
func (s *Segment) Quantize(searches, threads int, room int64) (bool, error) {
	rows := s.rows()
	if s.Codes != nil || s.Rows == 0 || s.Vectors.Element == dist.Sparse || !index.FromRows(rows).CodesPay(searches) {
		return false, nil
	}
	if bytes, _ := index.FromRows(rows).CodeBytes(); room >= 0 && int64(bytes) > room {
		return false, nil
	}
	err := rows.Quantize(threads)
	s.Codes = rows.Codes
	return err == nil, err
}

// ReleaseCodes releases the memory of the codes.
func (s *Segment) ReleaseCodes() {
	if s.Codes != nil {
		s.Codes.Release()
		s.Codes = nil
	}
}
