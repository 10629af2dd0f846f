package flat

import (
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// query is one as kernels take it.
type query struct {
	bytes []byte
	norm  float32 // what norms of rows are multiplied by under cosine
}

func (q query) at() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(q.bytes)) }

// prepare makes the query that is stored as row ready: normalised under cosine, widened.
func (s *Searcher) prepare(row []byte) (query, error) {
	q, err := Query(s.kernel, s.options.Library, row)
	if err != nil {
		return query{}, err
	}
	norm := float32(1)
	if s.norms != nil && s.kernel.Element != dist.Float32 {
		if norm = s.kernel.Norm(unsafe.Pointer(unsafe.SliceData(row))); norm == 0 {
			norm = 1
		}
	}
	return query{bytes: q, norm: norm}, nil
}

// Query returns a copy of the query that is stored as row as library l and the kernel take it: under
// cosine a float32 query is normalised first as the library does, the other types are
// not (knowhere divides by their norm at the end: faiss/utils/distances_typed.cpp of v2.5).
func Query(k *dist.Kernel, l engine.Library, row []byte) ([]byte, error) {
	q, err := k.Query(row)
	if err != nil || k.Metric != dist.Cosine || k.Element != dist.Float32 {
		return q, err
	}
	square := k.SquaredNorm(unsafe.Pointer(unsafe.SliceData(q)))
	if l == engine.HNSWLib {
		normaliseHNSWLib(dist.Floats(q), square)
	} else {
		Normalise(dist.Floats(q), square)
	}
	return q, nil
}

// Normalise is knowhere's NormalizeVec (src/common/utils.cc, v2.2.3), of a vector whose length has that square: a true division,
// left out where the square of the norm is within 1e-5 of 1, or 0.
func Normalise(x []float32, square float32) {
	const accuracy = float32(0.00001)
	if d := 1 - square; square > 0 && (d > accuracy || d < -accuracy) {
		norm := sqrt(square)
		for i := range x {
			x[i] /= norm
		}
	}
}

// normaliseHNSWLib is normalize_vector of hnswlib's Python binding (bindings.cpp, 0.8.0).
func normaliseHNSWLib(x []float32, square float32) {
	scale := 1 / (sqrt(square) + 1e-30)
	for i := range x {
		x[i] *= scale
	}
}

// divisors is what inner products with the rows are divided by under cosine.
func divisors(x *Index, l engine.Library, k *dist.Kernel) []float32 {
	norms := x.Norms
	if norms == nil {
		norms = Norms(x.Vectors, k)
	}
	if l < engine.Knowhere23 {
		return norms
	}
	for i, n := range norms {
		if n == 0 {
			norms = append([]float32(nil), norms...)
			for j := i; j < len(norms); j++ {
				if norms[j] == 0 {
					norms[j] = 1
				}
			}
			break
		}
	}
	return norms
}

// Norms are the L2 norms of all rows as knowhere computes them of raw vectors, for a search
// without an index and for an IVF_FLAT file without codes (fvec_norms_L2, utils/distances.cpp).
func Norms(v *engine.Vectors, k *dist.Kernel) []float32 {
	norms := make([]float32, v.Rows)
	for i := range norms {
		norms[i] = k.Norm(unsafe.Pointer(unsafe.SliceData(v.Row(i))))
	}
	return norms
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// checkQueries tells how queries do not fit rows like v.
func checkQueries(queries, v *engine.Vectors) error {
	if queries.Dim != v.Dim || queries.Element != v.Element {
		return fmt.Errorf("queries of %d dimensions of type %d for vectors of %d of type %d", queries.Dim, queries.Element, v.Dim, v.Element)
	}
	return nil
}
