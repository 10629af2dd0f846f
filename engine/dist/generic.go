package dist

import (
	"math"
	"unsafe"
)

// order is an order in which the terms of a distance are added: how many lanes the main loop has, what becomes of the lanes, and of
// the elements that do not fill them. A product and a sum are rounded once (FMA) unless said otherwise.
type order uint8

// The orders.
const (
	// orderKnowhere has 16 lanes; folds them to 8, adds the next 8 elements if there are 8, folds to 4, adds the next 4, then the last
	// 1 to 3 with zeros, then (0+1)+(2+3).
	orderKnowhere order = iota
	// orderHNSW16 has 16 lanes. L2 adds them one after the other, the inner product folds them to 8 and 4 and adds (0+2)+(1+3). The
	// elements that are left have a sum of their own, which is added at last: L2 takes 8 elements with products rounded, the rest with
	// FMA; the inner product rounds all.
	orderHNSW16
	// orderHNSW4 rounds products. L2 has 4 lanes; the inner product has 8 for as many times 16 elements as there are, folds them to 4
	// and goes on with 4. They are added one after the other. The last 1 to 3 have a sum of their own, L2 with FMA, the inner product
	// without.
	orderHNSW4
	// orderFaiss has 16 lanes; folds them to 8, adds the next 8 elements, folds to 4, adds (0+2)+(1+3), then the rest one after the
	// other.
	orderFaiss
	orders
)

// orderOf is the order of a profile at a dimension. Compared with, at dimensions 1 to 257 and a few more (testdata/float32_peers.py):
//   - knowhere v2.2.3: src/simd/distances_avx512.cc and libknowhere.so of Milvus 2.3.5, whose last 1 to 3 elements are fused like the
//     others. From v2.3.12 on (Milvus 2.4) its functions are plain loops, which compile to faiss's order;
//   - hnswlib 0.8.0: hnswlib/space_l2.h and space_ip.h, and what GCC 12 with -O3 -march=native makes of them on an AMD CPU with
//     AVX-512. Its functions for 16 elements take dimensions that are multiples of 16, or greater than 16 and no multiples of 4;
//   - faiss 1.15.1 of PyPI: the AVX512 instances of fvec_L2sqr, fvec_inner_product and of their batch_4 forms
//     (faiss/utils/simd_impl/distances_autovec-inl.h), which agree. FLAT with many queries uses BLAS there, and differs.
//
// Elements of two bytes are widened and added up as faiss does, whatever the profile: as knowhere v2.5.5 to v2.6.9 does in its batch_4
// functions where 16 divides the dimension (src/simd/distances_avx512.cc); its functions for one row have two accumulators.
func orderOf(e Element, p Profile, dim int) order {
	switch {
	case e != Float32 || p == Faiss:
		return orderFaiss
	case p == Knowhere:
		return orderKnowhere
	case dim%16 == 0 || dim > 16 && dim%4 != 0:
		return orderHNSW16
	}
	return orderHNSW4
}

// genericForms are the specification of all kernels.
func genericForms(m Metric, e Element, o order) forms {
	s := summation{l2: m == L2, order: o}
	switch {
	case e == Float32:
		return pairForms(func(q, x unsafe.Pointer, n int) float32 { return s.sum(float32s(q, n), float32s(x, n)) })
	case e == Float16 || e == BFloat16:
		return pairForms(func(q, x unsafe.Pointer, n int) float32 {
			return s.sum(float32s(q, n), Floats(widenHalf(e, unsafe.Slice((*byte)(x), 2*n))))
		})
	case e == Int8 && m == L2:
		return pairForms(int8L2)
	case e == Int8:
		return pairForms(int8IP)
	case m == Jaccard:
		return pairForms(jaccard)
	}
	return pairForms(hamming)
}

// pairForms makes the forms of a kernel of the distance of the query at q to the row at x, of n elements (bytes of bits).
func pairForms(pair func(q, x unsafe.Pointer, n int) float32) forms {
	return forms{rows: func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int) {
		o := unsafe.Slice(out, count)
		for i := range o {
			row := uintptr(i)
			if ids != nil {
				row = uintptr(unsafe.Slice(ids, count)[i])
			}
			o[i] = pair(q, unsafe.Add(base, row*stride), n)
		}
	}}
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
	case orderKnowhere:
		return s.knowhere(&acc, q, x)
	case orderHNSW16:
		q, x = s.lanes(true, acc[:], q, x)
		return s.hnsw16(&acc, q, x)
	case orderHNSW4:
		return s.hnsw4(&acc, q, x)
	default: // orderFaiss
		q, x = s.lanes(true, acc[:], q, x)
		fold(acc[:])
		q, x = s.lanes(true, acc[:8], q, x)
		fold(acc[:8])
		return s.turn(true, (acc[0]+acc[2])+(acc[1]+acc[3]), q, x)
	}
}

// knowhere is sum in orderKnowhere.
func (s summation) knowhere(acc *[16]float32, q, x []float32) float32 {
	for width := 16; ; width /= 2 {
		q, x = s.lanes(true, acc[:width], q, x)
		if width == 4 {
			break
		}
		fold(acc[:width])
	}
	return s.padded(true, acc[:4], q, x)
}

// padded adds the last elements, filled up with zeros, to four lanes, and adds those up.
func (s summation) padded(fused bool, acc, q, x []float32) float32 {
	if len(q) > 0 {
		var q4, x4 [4]float32
		copy(q4[:], q)
		copy(x4[:], x)
		s.lanes(fused, acc, q4[:], x4[:])
	}
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// hnsw16 adds up the lanes of orderHNSW16 and the elements that are left. The compiler makes products of eight at once in L2: those are
// rounded.
func (s summation) hnsw16(acc *[16]float32, q, x []float32) float32 {
	once := 0
	sum := inTurn(acc[:])
	if s.l2 {
		once = len(q) &^ 7
	} else {
		fold(acc[:])
		fold(acc[:8])
		sum = (acc[0] + acc[2]) + (acc[1] + acc[3])
	}
	if len(q) == 0 {
		return sum
	}
	return sum + s.turn(s.l2, s.turn(false, 0, q[:once], x[:once]), q[once:], x[once:])
}

// hnsw4 is sum in orderHNSW4.
func (s summation) hnsw4(acc *[16]float32, q, x []float32) float32 {
	if !s.l2 {
		main := len(q) &^ 15
		s.lanes(false, acc[:8], q[:main], x[:main])
		fold(acc[:8])
		q, x = q[main:], x[main:]
	}
	q, x = s.lanes(false, acc[:4], q, x)
	sum := inTurn(acc[:4])
	if len(q) == 0 {
		return sum
	}
	return sum + s.turn(s.l2, 0, q, x)
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

// float32Norm2 is the sum of squares of x as the profile's library computes it. hnswlib's is a plain sum, of which the compiler fuses
// only the last up to seven products; knowhere's has four lanes and rounds products.
func float32Norm2(p Profile, x []float32) float32 {
	s := summation{order: orderFaiss}
	switch p {
	case HNSWLib:
		main := len(x) &^ 7
		return s.turn(true, s.turn(false, 0, x[:main], x[:main]), x[main:], x[main:])
	case Knowhere:
		var acc [4]float32
		rest, _ := s.lanes(false, acc[:], x, x)
		return s.padded(false, acc[:], rest, rest)
	default:
		return s.sum(x, x)
	}
}

// fusedAdd is a*b+c rounded once. The product of two float32 is exact in float64; the sum is
// rounded to odd there, which keeps the second rounding from seeing a tie that is none
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func fusedAdd(a, b, c float32) float32 {
	x, y := float64(float64(a)*float64(b)), float64(c)
	s := x + y
	// Only where the sum is half way between two float32, or too small or large for these, does the second rounding matter.
	if bits := math.Float64bits(s); bits&halfWay != 1<<28 && bits>>52&0x7ff-(1023-126) < 252 {
		return float32(s)
	}
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	t := s - x
	rest := (x - (s - t)) + (y - t)
	if bits := math.Float64bits(s); rest != 0 && bits&1 == 0 {
		if (rest > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// halfWay are the bits of a float64 that a float32 of its size lacks.
const halfWay = 1<<29 - 1
