package segment

import (
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
)

// rows are those of the segment as a flat index.
func (s *Segment) rows() *flat.Index {
	return &flat.Index{Vectors: s.Vectors, Metric: s.Metric, Shadow: s.Shadow}
}

// Shade gives the rows codes if so many searches row by row pay for them and they take no more than room bytes (negative: any number), by at
// most threads goroutines (0: one per CPU), and reports whether it did. Nothing may search the segment meanwhile. What searches take of a
// CPU is then not what a Milvus node takes.
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

// Unshade gives the memory of codes back.
func (s *Segment) Unshade() {
	if s.Shadow != nil {
		s.Shadow.Release()
		s.Shadow = nil
	}
}
