package dist

import "unsafe"

// float32Kernels are the kernels of a float32 metric on a back end: its own, or the
// specification.
func float32Kernels(b Backend, m Metric, p Profile, dim int) forms {
	return orderKernels(b, m, orderOf(p, dim))
}

// orderKernels are the same of an order.
func orderKernels(b Backend, m Metric, o order) forms {
	if f, ok := float32Native(b, m, o); ok {
		if f.block == nil {
			f.block = gatherBlock(f.gather)
		}
		return f
	}
	return float32Generic(m, o)
}

// float32Generic is the specification of the float32 kernels.
func float32Generic(m Metric, o order) forms {
	s := summation{l2: m == L2, order: o}
	return pairForms(func(q, x unsafe.Pointer, n int) float32 {
		return s.sum(float32s(q, n), float32s(x, n))
	})
}

// Floats is the float32 that lie in b, which is aligned.
func Floats(b []byte) []float32 { return float32s(unsafe.Pointer(unsafe.SliceData(b)), len(b)/4) }

func float32s(x unsafe.Pointer, n int) []float32 { return unsafe.Slice((*float32)(x), n) }

// summation adds up the terms of a distance: squares of differences, or products.
type summation struct {
	l2 bool
	order
}

// add adds the term of the elements a and b to acc, rounding once if fused.
func (s summation) add(fused bool, acc, a, b float32) float32 {
	if s.l2 {
		a -= b
		b = a
	}
	if fused {
		return fusedAdd(a, b, acc)
	}
	return acc + float32(a*b)
}

// lanes adds the terms of q and x to the lanes of acc, as many at a time as there are lanes,
// and returns what does not fill them.
func (s summation) lanes(fused bool, acc, q, x []float32) (q1, x1 []float32) {
	for len(q) >= len(acc) {
		for i := range acc {
			acc[i] = s.add(fused, acc[i], q[i], x[i])
		}
		q, x = q[len(acc):], x[len(acc):]
	}
	return q, x
}

// turn adds the terms of q and x to acc one after the other.
func (s summation) turn(fused bool, acc float32, q, x []float32) float32 {
	for i := range q {
		acc = s.add(fused, acc, q[i], x[i])
	}
	return acc
}

// sum is the distance of q and x in the order of s.
func (s summation) sum(q, x []float32) float32 {
	var acc [16]float32
	switch s.order {
	case orderPyramid8, orderPyramid4, orderPyramid16:
		return s.pyramid(&acc, q, x)
	case orderHNSW16, orderHNSW16Fused:
		q, x = s.lanes(true, acc[:], q, x)
		return s.residue(s.hnsw16(&acc), q, x)
	case orderHNSW8, orderHNSW8Fused:
		return s.hnsw8(acc[:8], q, x)
	case orderHNSW4, orderHNSW4Fused:
		return s.hnsw4(&acc, q, x)
	case orderPlain4, orderPlain16:
		return s.plain(acc[:4], q, x)
	case orderTurn, orderTurnFused:
		return s.turn(s.order == orderTurnFused, 0, q, x)
	default: // orderFaiss, orderFaiss8
		if s.order == orderFaiss {
			q, x = s.lanes(true, acc[:], q, x)
			fold(acc[:])
		}
		q, x = s.lanes(true, acc[:8], q, x)
		fold(acc[:8])
		if s.order == orderFaiss8 && len(q) >= 4 {
			s.lanes(true, acc[:4], q[:4], x[:4])
			q, x = q[4:], x[4:]
		}
		return s.turn(true, (acc[0]+acc[2])+(acc[1]+acc[3]), q, x)
	}
}

// pyramid is sum in the orders of knowhere.
func (s summation) pyramid(acc *[16]float32, q, x []float32) float32 {
	var width int
	switch s.order {
	case orderPyramid8:
		width = 8
	case orderPyramid4:
		width = 4
	default:
		width = 16
	}
	fused := s.order != orderPyramid4
	for ; ; width /= 2 {
		q, x = s.lanes(fused, acc[:width], q, x)
		if width == 4 {
			break
		}
		fold(acc[:width])
	}
	if len(q) > 0 {
		var q4, x4 [4]float32
		copy(q4[:], q)
		copy(x4[:], x)
		s.lanes(fused, acc[:4], q4[:], x4[:])
	}
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// fold adds the upper half of the lanes to the lower.
func fold(acc []float32) {
	half := len(acc) / 2
	for i := range half {
		acc[i] += acc[half+i]
	}
}

// inTurn adds up lanes one after the other.
func inTurn(acc []float32) float32 {
	sum := acc[0]
	for _, a := range acc[1:] {
		sum += a
	}
	return sum
}

// float32Norm2 is the sum of squares of x in the order of the profile's library.
func float32Norm2(p Profile, x []float32) float32 {
	switch p {
	case HNSWLib, HNSWLibIntelAVX512, HNSWLibIntelAVX2, HNSWLibAMDAVX2, HNSWLibSSE:
		return hnswNorm2(p, x)
	case Faiss:
		return summation{order: orderFaiss}.sum(x, x)
	case Knowhere25: // fvec_norm_L2sqr_avx512, src/simd/distances_avx512.cc, v2.5.6: two accumulators
		return halfOrder{lanes: 16, accs: 2, fused: true}.sum(len(x), func(i int) (float32, float32) { return x[i], x[i] })
	default:
		return summation{order: orderPyramid4}.sum(x, x)
	}
}
