package hnsw

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// checkEvery is the number of rows that are checked or copied between checks of the context.
const checkEvery = 1024

// checkFinite returns an error for the first row that has a NaN or infinite value. Distances to such a row would be
// NaN, and neighbours could not be ordered.
func checkFinite(ctx context.Context, v *engine.Vectors) error {
	const exponent = 0x7f800000
	for i := range v.Rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v.Row(i)))), v.Dim)
		for j, bits := range row {
			if bits&exponent == exponent {
				return fmt.Errorf("row %d: value %d is %v", i, j, math.Float32frombits(bits))
			}
		}
	}
	return nil
}

// prepare returns an index without a graph. Its vectors are in the form that the library stores.
func prepare(ctx context.Context, v *engine.Vectors, kernel *dist.Kernel, o BuildOptions) (*Index, error) {
	x := &Index{Metric: o.Metric, Vectors: v}
	if o.Labels != nil {
		x.Labels = append([]int64(nil), o.Labels...)
	}
	normalise := o.Metric == dist.Cosine && !o.Library.Knowhere()
	if normalise || !hasLayout(v) {
		own, err := engine.NewVectors(v.Element, v.Dim, v.Rows)
		if err != nil {
			return nil, err
		}
		for i := range v.Rows {
			if i%checkEvery == 0 && ctx.Err() != nil {
				own.Release()
				return nil, ctx.Err()
			}
			if normalise {
				normaliseInto(own.Float32(i), v.Float32(i), kernel.Norm(unsafe.Pointer(unsafe.SliceData(v.Row(i)))))
			} else {
				copy(own.Row(i), v.Row(i))
			}
		}
		x.Vectors = own
	}
	if o.Metric == dist.Cosine && o.Library.Knowhere() {
		x.Norms = make([]float32, v.Rows)
		for i := range x.Norms {
			x.Norms[i] = kernel.Norm(unsafe.Pointer(unsafe.SliceData(x.Vectors.Row(i))))
		}
	}
	return x, nil
}

// hasLayout reports whether v has the layout of engine.NewVectors: the same stride, and, if v is large, alignment to
// a huge page. A view of a file does not.
func hasLayout(v *engine.Vectors) bool {
	const line, hugePage = 64, 2 << 20
	like, err := engine.NewVectors(v.Element, v.Dim, 1)
	if err != nil || v.Stride != like.Stride {
		return false
	}
	boundary := uintptr(line)
	if v.Rows*v.Stride >= hugePage {
		boundary = hugePage
	}
	return uintptr(v.Base())&(boundary-1) == 0
}

// normaliseInto writes row divided by its L2 norm to out, with the float operations of normalize_vector in
// bindings.cpp of hnswlib's Python module 0.8.0. A row of zeros is copied unchanged.
func normaliseInto(out, row []float32, norm float32) {
	scale := 1 / (norm + 1e-30)
	for i, x := range row {
		out[i] = x * scale
	}
}
