package dist

import (
	"fmt"
	"unsafe"
)

// SQ8 computes distances between a query and vectors in 8 bits a dimension, each with a range of its own: code c of dimension i
// stands for low[i] + span[i] * (c+0.5)/255, and the terms are added up as faiss adds up floats. It is immutable.
type SQ8 struct {
	low, span []float32
	unit      [256]float32 // what a code stands for in a range from 0 to 1
	kernel    *Kernel      // of decoded rows
	scan      scanFunc     // nil where rows are decoded first
}

// scanFunc writes to out[i] the distance of q, a packed query, to the codes at x+i*stride.
type scanFunc func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int)

// sq8One and sq8Half are by what a code is multiplied, and what is added to it.
const (
	sq8One  = float32(1) / 255
	sq8Half = float32(0.5) / 255
)

// NewSQ8 returns the kernel for vectors whose ranges begin at low and are span wide, on the best back end of this CPU.
func NewSQ8(m Metric, low, span []float32) (*SQ8, error) {
	backends := Backends()
	return NewSQ8On(backends[len(backends)-1], m, low, span)
}

// NewSQ8On is NewSQ8 on a named back end; an error if this CPU or this build does not have it.
func NewSQ8On(b Backend, m Metric, low, span []float32) (*SQ8, error) {
	switch {
	case m != L2 && m != InnerProduct:
		return nil, fmt.Errorf("no metric %s for vectors of 8 bits a dimension", m)
	case len(low) == 0 || len(low) != len(span):
		return nil, fmt.Errorf("%d ranges of %d widths", len(low), len(span))
	case !b.usable():
		return nil, fmt.Errorf("this CPU or this build has no kernels for %s", b)
	}
	k := &SQ8{low: low, span: span, kernel: newKernel(b, m, Float32, Faiss, len(low))}
	for c := range k.unit {
		k.unit[c] = (float32(c) + 0.5) / 255
	}
	if len(low)%16 == 0 {
		for c := range k.unit {
			k.unit[c] = fusedAdd(float32(c), sq8One, sq8Half)
		}
		k.scan = sq8Native(b, m)
	}
	return k, nil
}

// Dim is the dimension.
func (k *SQ8) Dim() int { return len(k.low) }

// SQ8Query is a query as the kernel takes it, for one goroutine.
type SQ8Query struct {
	kernel *SQ8
	packed []byte // the query, the widths and the beginnings of the ranges, what a code is multiplied by, what is added to it
	row    []byte // decoded
}

// NewQuery returns a query, to be filled through Floats.
func (k *SQ8) NewQuery() *SQ8Query {
	n := len(k.low)
	q := &SQ8Query{kernel: k, packed: Aligned(4 * (3*n + 2)), row: Aligned(4 * n)}
	all := Floats(q.packed)
	copy(all[n:], k.span)
	copy(all[2*n:], k.low)
	all[3*n], all[3*n+1] = sq8One, sq8Half
	return q
}

// Floats is where the query is kept.
func (q *SQ8Query) Floats() []float32 {
	n := len(q.kernel.low)
	return Floats(q.packed)[:n:n]
}

// Scan writes to out[i] the distance of the query to the i-th code at x, stride bytes apart.
func (q *SQ8Query) Scan(x unsafe.Pointer, stride uintptr, out []float32) {
	k := q.kernel
	if len(out) == 0 {
		return
	}
	query, row := unsafe.Pointer(unsafe.SliceData(q.packed)), unsafe.Pointer(unsafe.SliceData(q.row))
	if k.scan != nil {
		k.scan(query, x, stride, keep(&out[0]), len(out), len(k.low))
		return
	}
	for i := range out {
		k.decode(unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), len(k.low)), Floats(q.row))
		out[i] = k.kernel.One(query, row)
	}
}

// decode writes what a code stands for to row. Where 16 divides the dimension products and sums are rounded once, as the kernels do.
func (k *SQ8) decode(code []byte, row []float32) {
	low, span := k.low[:len(code)], k.span[:len(code)]
	if len(code)%16 == 0 {
		for i, c := range code {
			row[i] = fusedAdd(k.unit[c], span[i], low[i])
		}
		return
	}
	for i, c := range code {
		row[i] = low[i] + float32(k.unit[c]*span[i])
	}
}
