package segment

import (
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
)

// rows returns the rows of the segment as a flat index.
func (s *Segment) rows() *flat.Index {
	return &flat.Index{Vectors: s.Vectors, Metric: s.Metric, Shadow: s.Shadow}
}

// Shade computes codes of the rows, on at most threads goroutines (0: one per CPU), and reports whether it did. It
// does so only if the codes pay for the given number of searches row by row and take at most room bytes (negative:
// no limit). The segment must not be searched meanwhile. With codes, the CPU time of searches differs from that of
// a Milvus node.
func (s *Segment) Shade(searches, threads int, room int64) (bool, error) {
	rows := s.rows()
	if s.Shadow != nil || s.Rows == 0 || s.Vectors.Element == dist.Sparse || !index.FromRows(rows).ShadePays(searches) {
		return false, nil
	}
	if bytes, _ := index.FromRows(rows).CodeBytes(); room >= 0 && int64(bytes) > room {
		return false, nil
	}
	err := rows.Shade(threads)
	s.Shadow = rows.Shadow
	return err == nil, err
}

// Unshade releases the memory of the codes.
func (s *Segment) Unshade() {
	if s.Shadow != nil {
		s.Shadow.Release()
		s.Shadow = nil
	}
}
