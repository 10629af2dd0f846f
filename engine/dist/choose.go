package dist

import (
	"fmt"
	"math"
	"unsafe"
)

// New returns the kernel for vectors of dim dimensions on the best back end of this CPU.
func New(m Metric, e Element, p Profile, dim int) (*Kernel, error) {
	backends := Backends()
	return NewOn(backends[len(backends)-1], m, e, p, dim)
}

// NewOn is New on a named back end; an error if this CPU or this build has it not. A back end
// without a kernel of its own for an element has the specification's.
func NewOn(b Backend, m Metric, e Element, p Profile, dim int) (*Kernel, error) {
	if dim <= 0 {
		return nil, fmt.Errorf("vectors of %d dimensions", dim)
	}
	if !b.usable() {
		return nil, fmt.Errorf("this CPU or this build has no kernels for %s", b)
	}
	if int(p) >= len(profileNames()) {
		return nil, fmt.Errorf("no profile %d", p)
	}
	if bits := m == Hamming || m == Jaccard; bits != (e == Bit) || int(m) >= len(metricNames()) {
		return nil, fmt.Errorf("no metric %s for vectors of %s", m, e)
	}
	if int(e) >= len(elementNames()) {
		return nil, fmt.Errorf("unknown element %d", e)
	}
	return newKernel(b, m, e, p, dim), nil
}

// newKernel is NewOn of what is known to fit.
func newKernel(b Backend, m Metric, e Element, p Profile, dim int) *Kernel {
	k := &Kernel{Metric: m, Element: e, Profile: p, Dim: dim, Backend: b, n: dim}
	var f forms
	switch e {
	case Float32:
		f = float32Kernels(b, m, p, dim)
	case Float16, BFloat16:
		f = halfKernels(b, m, e, halfOrderOf(m, e, p))
	case Int8:
		f = int8Kernels(b, m)
	default: // Bit
		f, k.n = bitKernels(b, m), e.Bytes(dim)
	}
	k.gather, k.ahead, k.scan, k.block = f.gather, f.ahead, f.scan, f.block
	return k
}

// newOrderKernel is a kernel of float32 that adds up in an order.
func newOrderKernel(b Backend, m Metric, o order, dim int) *Kernel {
	k := &Kernel{Metric: m, Dim: dim, Backend: b, n: dim}
	f := orderKernels(b, m, o)
	k.gather, k.ahead, k.scan, k.block = f.gather, f.ahead, f.scan, f.block
	return k
}

// NewDecoded returns the kernel for rows of float32 that a scalar quantiser's codes are decoded to, which a library adds up in an order of its
// own (see sq8OrderOf).
func NewDecoded(m Metric, p Profile, dim int) (*Kernel, error) {
	if dim <= 0 || m != L2 && m != InnerProduct {
		return nil, fmt.Errorf("codes of %d dimensions under %s", dim, m)
	}
	backends := Backends()
	s := sq8OrderOf(p, dim)
	o := orderTurn
	switch {
	case s.lanes == 16:
		o = orderFaiss
	case s.lanes == 8:
		o = orderFaiss8
	case s.fused:
		o = orderTurnFused
	}
	return newOrderKernel(backends[len(backends)-1], m, o, dim), nil
}

// NewHalf returns the kernel for rows of float16 or bfloat16 that a scalar quantiser's codes are, in the order of NewDecoded.
func NewHalf(m Metric, e Element, p Profile, dim int) (*Kernel, error) {
	if dim <= 0 || m != L2 && m != InnerProduct || e != Float16 && e != BFloat16 {
		return nil, fmt.Errorf("codes of %d dimensions of %s under %s", dim, e, m)
	}
	backends := Backends()
	s := sq8OrderOf(p, dim)
	k := &Kernel{Metric: m, Element: e, Dim: dim, Backend: backends[len(backends)-1], n: dim}
	f := halfKernels(k.Backend, m, e, halfOrder{lanes: s.lanes, accs: 1, fused: s.lanes > 1 || s.fused})
	k.gather, k.ahead, k.scan, k.block = f.gather, f.ahead, f.scan, f.block
	return k, nil
}

// widen is the form of a query for which a row of the kernel's element is given.
func (k *Kernel) widen(row []byte) []byte {
	if k.Element == Float16 || k.Element == BFloat16 {
		return widenHalf(k.Element, row)
	}
	q := Aligned(len(row))
	copy(q, row)
	return q
}

// SquaredNorm returns the sum of squares of the row of elements at x, added up as the
// profile's library does it of a query under cosine: knowhere in fvec_norm_L2sqr_sse on every
// CPU (src/simd/hook.cc, v2.2.3), faiss in fvec_norm_L2sqr, hnswlib in normalize_vector of
// its Python binding. It is 0 for bits.
func (k *Kernel) SquaredNorm(x unsafe.Pointer) float32 {
	switch k.Element {
	case Float32:
		return float32Norm2(k.Profile, float32s(x, k.n))
	case Float16, BFloat16:
		return halfNorm2(k.Element, k.Profile, x, k.n)
	case Int8:
		return int8Norm2(x, k.n)
	default:
		return 0
	}
}

// Norm returns the square root of SquaredNorm.
func (k *Kernel) Norm(x unsafe.Pointer) float32 {
	return float32(math.Sqrt(float64(k.SquaredNorm(x))))
}
