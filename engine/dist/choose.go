package dist

import (
	"fmt"
	"math"
	"unsafe"
)

// New returns the kernel for vectors of dim dimensions on the best back end of this CPU. It returns an error if
// no kernel has this combination.
func New(m Metric, e Element, p Profile, dim int) (*Kernel, error) {
	backends := Backends()
	return NewOn(backends[len(backends)-1], m, e, p, dim)
}

// NewOn is like New, on a given back end. It returns an error if this CPU or this build does not support b. If
// the back end has no kernel of its own for an element, the specification is used.
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

// newKernel is NewOn without the checks of its arguments.
func newKernel(b Backend, m Metric, e Element, p Profile, dim int) *Kernel {
	k := &Kernel{Metric: m, Element: e, Profile: p, Dim: dim, Backend: b, n: dim}
	if e == Bit {
		k.n = e.Bytes(dim)
	}
	var ok bool
	if k.forms, ok = nativeForms(b, m, e, orderOf(e, p, dim)); !ok {
		k.forms = genericForms(m, e, orderOf(e, p, dim))
	}
	return k
}

// widen returns the query in the form that the kernel takes, for a row of the kernel's element.
func (k *Kernel) widen(row []byte) []byte {
	if k.Element == Float16 || k.Element == BFloat16 {
		return widenHalf(k.Element, row)
	}
	q := Aligned(len(row))
	copy(q, row)
	return q
}

// SquaredNorm returns the sum of squares of the row at x. It adds in the order that the library of the profile
// uses for the norm of a query under cosine: knowhere in fvec_norm_L2sqr_sse on every CPU (src/simd/hook.cc,
// v2.2.3), faiss in fvec_norm_L2sqr, hnswlib in normalize_vector of its Python binding. It returns 0 for bits.
func (k *Kernel) SquaredNorm(x unsafe.Pointer) float32 {
	switch k.Element {
	case Float32:
		return float32Norm2(k.Profile, float32s(x, k.n))
	case Float16, BFloat16:
		row := widenHalf(k.Element, unsafe.Slice((*byte)(x), 2*k.n))
		return float32Norm2(Faiss, Floats(row))
	case Int8:
		return int8IP(x, x, k.n)
	default:
		return 0
	}
}

// Norm returns the square root of SquaredNorm.
func (k *Kernel) Norm(x unsafe.Pointer) float32 {
	return float32(math.Sqrt(float64(k.SquaredNorm(x))))
}
