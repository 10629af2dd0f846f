package flat

import (
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// query is a query in the format of the kernels.
type query struct {
	bytes []byte
	norm  float32 // factor for the norms of rows under cosine
}

func (q query) at() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(q.bytes)) }

// prepare converts a stored row to a query. It normalises the query under cosine, and widens its elements.
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

// Query returns a copy of the stored row in the format of library l and kernel k. Under cosine, a float32 query is
// normalised as the library does it. Other types are not normalised, because knowhere divides by their norm at the
// end (faiss/utils/distances_typed.cpp of v2.5).
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

// Normalise is knowhere's NormalizeVec (src/common/utils.cc, v2.2.3). It divides x by its norm, whose square the
// caller passes. It leaves x unchanged if the square is 0 or within 1e-5 of 1.
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

// divisors returns the norms by which inner products with the rows are divided under cosine. From knowhere 2.3 on,
// a norm of 0 is replaced by 1.
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

// Norms returns the L2 norms of all rows as knowhere computes them from raw vectors (fvec_norms_L2,
// utils/distances.cpp). They are used by a search without an index, and for an IVF_FLAT file without codes.
func Norms(v *engine.Vectors, k *dist.Kernel) []float32 {
	norms := make([]float32, v.Rows)
	for i := range norms {
		norms[i] = k.Norm(unsafe.Pointer(unsafe.SliceData(v.Row(i))))
	}
	return norms
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// checkQueries returns an error if queries differ from v in dimension or element type.
func checkQueries(queries, v *engine.Vectors) error {
	if queries.Dim != v.Dim || queries.Element != v.Element {
		return fmt.Errorf("queries of %d dimensions of type %d for vectors of %d of type %d", queries.Dim,
			queries.Element, v.Dim, v.Element)
	}
	return nil
}
