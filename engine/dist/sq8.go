package dist

import (
	"fmt"
	"unsafe"
)

// SQ8 computes distances between a query and vectors with 8 bits per dimension, where each dimension has its
// own range. Code c of dimension i represents low[i] + span[i]*(c+0.5)/255. Terms are added in the order that
// faiss uses for floats. An SQ8 is immutable.
type SQ8 struct {
	low, span []float32
	unit      [256]float32 // value of each code in a range from 0 to 1
	kernel    *Kernel      // for decoded rows
	scan      scanFunc     // nil if rows are decoded first
}

// scanFunc writes to out[i] the distance from q, a packed query, to the codes at x+i*stride.
type scanFunc func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int)

// sq8One and sq8Half are the factor and the summand that map a code to a value between 0 and 1.
const (
	sq8One  = float32(1) / 255
	sq8Half = float32(0.5) / 255
)

// NewSQ8 returns the kernel for vectors whose ranges start at low and have the widths span, on the best back
// end of this CPU. It returns an error for a metric other than L2 and InnerProduct, or if low is empty or
// differs from span in length.
func NewSQ8(m Metric, low, span []float32) (*SQ8, error) {
	backends := Backends()
	return NewSQ8On(backends[len(backends)-1], m, low, span)
}

// NewSQ8On is like NewSQ8, on a given back end. It returns an error if this CPU or this build does not support
// b.
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

// Dim returns the dimension.
func (k *SQ8) Dim() int { return len(k.low) }

// SQ8Query is a query in the form that the kernel takes. It must not be used by several goroutines at once.
type SQ8Query struct {
	kernel *SQ8
	packed []byte // the query, the widths and lower bounds of the ranges, sq8One, sq8Half
	row    []byte // a decoded row
}

// NewQuery returns a query whose values the caller sets through Floats.
func (k *SQ8) NewQuery() *SQ8Query {
	n := len(k.low)
	q := &SQ8Query{kernel: k, packed: Aligned(4 * (3*n + 2)), row: Aligned(4 * n)}
	all := Floats(q.packed)
	copy(all[n:], k.span)
	copy(all[2*n:], k.low)
	all[3*n], all[3*n+1] = sq8One, sq8Half
	return q
}

// Floats returns the values of the query, of length Dim, for the caller to set.
func (q *SQ8Query) Floats() []float32 {
	n := len(q.kernel.low)
	return Floats(q.packed)[:n:n]
}

// Scan writes to out[i] the distance from the query to the i-th vector of codes at x, stride bytes apart.
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

// decode writes the values of a vector of codes to row. If 16 divides the dimension, each product and sum is
// rounded once, as in the kernels.
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
