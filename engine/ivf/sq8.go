package ivf

import (
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
	"kitescope/engine/shadow"
)

// SQ8 codes a vector in a byte a dimension: faiss's scalar quantiser QT_8bit, Milvus's IVF_SQ8. It is immutable.
type SQ8 struct {
	*code.SQ
	// Residual: codes are of what is left of vectors when the centroid of their list is taken off.
	Residual bool
}

// NewSQ8 returns the codec of ranges; an error says how they do not fit together.
func NewSQ8(low, span []float32, residual bool) (*SQ8, error) {
	c, err := code.NewSQ(code.SQ8, len(low), slices.Concat(low, span))
	return &SQ8{c, residual}, err
}

// Kind is the type of such an index in Milvus's words.
func (c *SQ8) Kind() string { return "IVF_SQ8" }

func (c *SQ8) String() string {
	if c.Residual {
		return "8 bits a dimension, of what the centroid leaves"
	}
	return "8 bits a dimension"
}

// Gives returns what reports whether x, in the list of a centroid, has this code, for one goroutine.
func (c *SQ8) Gives() func(code []byte, centroid, x []float32) bool {
	gives, left := c.SQ.Gives(), make([]float32, c.Dim())
	return func(code []byte, centroid, x []float32) bool {
		if c.Residual {
			x = difference(left, x, centroid)
		}
		return gives(code, x)
	}
}

// difference writes x-y to d and returns it.
func difference(d, x, y []float32) []float32 {
	for i, v := range x {
		d[i] = v - y[i]
	}
	return d
}

func (c *SQ8) ranges(x *Index) shadow.Ranges {
	r := shadow.Ranges{Low: c.Low, Span: c.Span}
	if c.Residual {
		r.Centres = x.Centroids
	}
	return r
}

func (c *SQ8) decoder(x *Index, p dist.Profile) (decoder, error) {
	k, err := dist.NewSQ8(x.coarse(), p, c.Low, c.Span)
	if err != nil {
		return nil, err
	}
	return &sq8Decoder{index: x, codec: c, kernel: k, packed: k.NewQuery()}, nil
}

// sq8Decoder computes distances as IVFSQScannerL2 and IVFSQScannerIP do (faiss/impl/scalar_quantizer/scanners.h): of residuals, L2
// takes the centroid off the query, the inner product adds the query's own with the centroid.
type sq8Decoder struct {
	index  *Index
	codec  *SQ8
	kernel *dist.SQ8
	packed *dist.SQ8Query
	q      []float32
	add    float32
}

func (d *sq8Decoder) clone() decoder {
	return &sq8Decoder{index: d.index, codec: d.codec, kernel: d.kernel, packed: d.kernel.NewQuery()}
}

func (d *sq8Decoder) query(q []float32) {
	d.q, d.add = q, 0
	copy(d.packed.Floats(), q)
}

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

func (d *sq8Decoder) scan(codes *engine.Vectors, first int, out []float32) {
	d.packed.Scan(unsafe.Add(codes.Base(), first*codes.Stride), uintptr(codes.Stride), out)
	if d.codec.Residual && d.index.Metric != dist.L2 {
		for i, v := range out {
			out[i] = d.add + v
		}
	}
}

// bytesOf is the memory of x.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
