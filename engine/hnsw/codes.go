package hnsw

import (
	"errors"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
)

// decode readies what computes distances to codes, where rows are codes: faiss's distance computers of the storage of a graph
// (storage_distance_computer, faiss/IndexHNSW.cpp).
func (s *Searcher) decode(p dist.Profile) (err error) {
	switch {
	case s.index.Codec == nil:
		return nil
	case s.index.Metric == dist.Cosine && !s.scales:
		return errors.New("cosine over codes is knowhere's from 2.5 on")
	case s.index.Vectors.Element != dist.Int8 || s.index.Vectors.Dim != s.index.Codec.Bytes():
		return fmt.Errorf("codes of %d bytes, not of %d", s.index.Vectors.Dim, s.index.Codec.Bytes())
	}
	s.decoder, err = s.index.Codec.NewDecoder(s.index.sums(), p)
	return err
}

// sumsOf is the element that distances are computed of.
func (x *Index) sumsOf() dist.Element {
	if x.Codec != nil {
		return dist.Float32
	}
	return x.Vectors.Element
}

// sums is the metric of what is added up: the inner product under cosine.
func (x *Index) sums() engine.Metric {
	if x.Metric == dist.Cosine {
		return dist.InnerProduct
	}
	return x.Metric
}

// Decoder returns what computes distances to rows as they are stored, for one goroutine: codes, or vectors of float32.
func (x *Index) Decoder(p dist.Profile) (code.Decoder, error) {
	if x.Codec != nil {
		return x.Codec.NewDecoder(x.sums(), p)
	}
	return code.Vectors(x.sums(), p, x.Dim())
}

// decodeRows fills out with the distances of consecutive rows.
func (s *Searcher) decodeRows(first int, out []float32) {
	if s.rows == nil {
		s.rows = make([]uint32, scanRows)
	}
	ids := s.rows[:len(out)]
	for i := range ids {
		ids[i] = uint32(first + i)
	}
	s.decoder.Gather(s.floats.base, s.floats.stride, ids, out, 0)
}

// fours is how many of n distances the library computes four at a time.
func (s *Searcher) fours(n int) int {
	if s.single {
		return 0
	}
	return n &^ 3
}

// scale makes inner products into what knowhere 2.5 compares under cosine, of those that it computes four at a time, and returns the others
// (distances_batch_4 of FlatCosineDis and WithCosineNormDistanceComputer, faiss/IndexCosine.cpp, v2.5.6).
func (s *Searcher) scale(ids []uint32, d []float32) []float32 {
	fours := s.fours(len(d))
	for i, ip := range d[:fours] {
		d[i] = -(ip * s.index.Inverses[ids[i]] * s.inverse)
	}
	return d[fours:]
}

// InverseOf is what knowhere 2.5 multiplies by, of the square of the length of a query.
func InverseOf(square float32) float32 {
	if square <= 0 {
		return 1
	}
	return 1 / sqrt(square)
}

// InversesOf are 1 divided by the lengths of vectors, 1 of those without length (L2NormsStorage::add_l2_norms, faiss/IndexCosine.cpp, v2.5.6).
func InversesOf(norms []float32) []float32 {
	all := make([]float32, len(norms))
	for i, n := range norms {
		if all[i] = 1; n != 0 {
			all[i] = 1 / n
		}
	}
	return all
}
