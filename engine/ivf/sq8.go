package ivf

import (
	"fmt"
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// SQ8 encodes a vector in one byte per dimension: faiss's scalar quantizer QT_8bit, Milvus's IVF_SQ8. It is
// immutable.
type SQ8 struct {
	// Low and Span hold the lower bound and the width of the range of each dimension.
	Low, Span []float32
	// Residual is set if codes encode the difference between a vector and the centroid of its list.
	Residual bool
}

// NewSQ8 returns a codec for the given ranges. It returns an error if there are none or if low and span differ in
// length.
func NewSQ8(low, span []float32, residual bool) (*SQ8, error) {
	if len(low) == 0 || len(low) != len(span) {
		return nil, fmt.Errorf("%d ranges that begin, and %d widths", len(low), len(span))
	}
	return &SQ8{low, span, residual}, nil
}

func (c *SQ8) String() string {
	if c.Residual {
		return "8 bits a dimension, of the residual to the centroid"
	}
	return "8 bits a dimension"
}

// Dim returns the dimension of the vectors, which is also the size of a code in bytes.
func (c *SQ8) Dim() int { return len(c.Low) }

// Encode writes the code of x to code, like faiss's encode_vector (faiss/impl/scalar_quantizer/quantizers.h and
// codecs.h). NaN has the code 0, as in the conversion of x86.
func (c *SQ8) Encode(x []float32, code []byte) {
	for i, v := range x {
		u := float32(0)
		if c.Span[i] != 0 {
			u = min(max((v-c.Low[i])/c.Span[i], 0), 1)
		}
		if u != u {
			u = 0
		}
		code[i] = byte(int(255 * u))
	}
}

// CodeMatcher returns a function that reports whether row j of list i is the code of v. The function must not be used
// by several goroutines at once.
func (x *Index) CodeMatcher() func(i, j int, v []float32) bool {
	c := x.Codec
	own, left, centroid := make([]byte, c.Dim()), make([]float32, c.Dim()), make([]float32, c.Dim())
	return func(i, j int, v []float32) bool {
		if c.Residual {
			copy(bytesOf(centroid), x.Centroids.Row(i)) // the row may not be aligned
			v = difference(left, v, centroid)
		}
		c.Encode(v, own)
		return slices.Equal(own, x.Lists[i].Vectors.Row(j))
	}
}

// difference writes x-y to d and returns d.
func difference(d, x, y []float32) []float32 {
	for i, v := range x {
		d[i] = v - y[i]
	}
	return d
}

func (c *SQ8) ranges(x *Index) prefilter.Ranges {
	r := prefilter.Ranges{Low: c.Low, Span: c.Span}
	if c.Residual {
		r.Centres = x.Centroids
	}
	return r
}

func (c *SQ8) decoder(x *Index) (*sq8Decoder, error) {
	k, err := dist.NewSQ8(x.coarse(), c.Low, c.Span)
	if err != nil {
		return nil, err
	}
	return &sq8Decoder{index: x, codec: c, kernel: k, packed: k.NewQuery()}, nil
}

// sq8Decoder computes distances like IVFSQScannerL2 and IVFSQScannerIP (faiss/impl/scalar_quantizer/scanners.h).
// With residual codes, L2 subtracts the centroid from the query, and the inner product adds the inner product of
// query and centroid.
type sq8Decoder struct {
	index  *Index
	codec  *SQ8
	kernel *dist.SQ8
	packed *dist.SQ8Query
	q      []float32
	add    float32
}

func (d *sq8Decoder) clone() *sq8Decoder {
	return &sq8Decoder{index: d.index, codec: d.codec, kernel: d.kernel, packed: d.kernel.NewQuery()}
}

// query sets the query.
func (d *sq8Decoder) query(q []float32) {
	d.q, d.add = q, 0
	copy(d.packed.Floats(), q)
}

// list sets the list by its number. coarse is the distance of its centroid.
func (d *sq8Decoder) list(i int, coarse float32) {
	switch {
	case !d.codec.Residual:
	case d.index.Metric == dist.L2:
		own := d.packed.Floats()
		copy(bytesOf(own), d.index.Centroids.Row(i))
		difference(own, d.q, own)
	default:
		d.add = coarse
	}
}

// scan writes the distances of len(out) codes, from first on, to out.
func (d *sq8Decoder) scan(codes *engine.Vectors, first int, out []float32) {
	d.packed.Scan(unsafe.Add(codes.Base(), first*codes.Stride), uintptr(codes.Stride), out)
	if d.codec.Residual && d.index.Metric != dist.L2 {
		for i, v := range out {
			out[i] = d.add + v
		}
	}
}

// bytesOf returns the memory of x as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
