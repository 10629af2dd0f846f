package dist

import (
	"math"
	"unsafe"
)

// order is an order in which the terms of a distance are added. It defines the number of lanes in the main
// loop, how the lanes are added up, and how the elements that do not fill the lanes are added. A product and a
// sum are rounded once (FMA), unless noted otherwise.
type order uint8

// The orders.
const (
	// orderKnowhere has 16 lanes. It folds them to 8, adds the next 8 elements if there are 8, folds to 4, adds
	// the next 4 elements, adds the last 1 to 3 elements padded with zeros, and adds the lanes as (0+1)+(2+3).
	orderKnowhere order = iota
	// orderHNSW16 has 16 lanes. L2 adds them one after the other; the inner product folds them to 8 and to 4
	// and adds (0+2)+(1+3). The remaining elements have a separate sum, which is added last. In that sum, L2
	// adds 8 elements with rounded products and the rest with FMA; the inner product rounds all products.
	orderHNSW16
	// orderHNSW4 rounds products. L2 has 4 lanes. The inner product has 8 lanes for each block of 16 elements,
	// folds them to 4 and continues with 4. The lanes are added one after the other. The last 1 to 3 elements
	// have a separate sum; L2 computes it with FMA, the inner product without.
	orderHNSW4
	// orderFaiss has 16 lanes. It folds them to 8, adds the next 8 elements, folds to 4, adds (0+2)+(1+3), and
	// adds the remaining elements one after the other.
	orderFaiss
	orders
)

// orderOf returns the order of a profile at a dimension. The orders were verified at dimensions 1 to 257 and a
// few larger ones (testdata/float32_peers.py) against:
//   - knowhere v2.2.3: src/simd/distances_avx512.cc and libknowhere.so of Milvus 2.3.5, which fuses the last 1
//     to 3 elements like the others. Since v2.3.12 (Milvus 2.4), its functions are plain loops that compile to
//     faiss's order;
//   - hnswlib 0.8.0: hnswlib/space_l2.h and space_ip.h, compiled by GCC 12 with -O3 -march=native on an AMD CPU
//     with AVX-512. Its functions for 16 elements take dimensions that are multiples of 16, and those greater
//     than 16 that are not multiples of 4;
//   - faiss 1.15.1 from PyPI: the AVX512 instances of fvec_L2sqr, fvec_inner_product and their batch_4 forms
//     (faiss/utils/simd_impl/distances_autovec-inl.h), which agree. FLAT with many queries uses BLAS in faiss,
//     and differs.
//
// Two-byte elements are widened and added in faiss's order, for every profile. This is how the batch_4
// functions of knowhere v2.5.5 to v2.6.9 add if 16 divides the dimension (src/simd/distances_avx512.cc); its
// functions for one row have two accumulators.
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

// genericForms returns the specification of a kernel.
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

// pairForms returns the forms of a kernel, given the distance from the query at q to one row at x, of n
// elements (bytes for bits).
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

// Floats returns b as float32. b must be aligned for float32.
func Floats(b []byte) []float32 { return float32s(unsafe.Pointer(unsafe.SliceData(b)), len(b)/4) }

func float32s(x unsafe.Pointer, n int) []float32 { return unsafe.Slice((*float32)(x), n) }

// summation adds the terms of a distance: squares of differences if l2 is set, products otherwise.
type summation struct {
	l2 bool
	order
}

// add adds the term of the elements a and b to acc, with a single rounding if fused.
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

// lanes adds the terms of q and x to the lanes of acc, len(acc) terms at a time. It returns the elements that
// do not fill the lanes.
func (s summation) lanes(fused bool, acc, q, x []float32) (q1, x1 []float32) {
	for len(q) >= len(acc) {
		for i := range acc {
			acc[i] = s.add(fused, acc[i], q[i], x[i])
		}
		q, x = q[len(acc):], x[len(acc):]
	}
	return q, x
}

// addInOrder adds the terms of q and x to acc one after the other.
func (s summation) addInOrder(fused bool, acc float32, q, x []float32) float32 {
	for i := range q {
		acc = s.add(fused, acc, q[i], x[i])
	}
	return acc
}

// sum returns the distance between q and x, added in the order of s.
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
		return s.addInOrder(true, (acc[0]+acc[2])+(acc[1]+acc[3]), q, x)
	}
}

// knowhere implements sum for orderKnowhere.
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

// padded adds the terms of the last elements, padded with zeros, to four lanes and returns the sum of the
// lanes.
func (s summation) padded(fused bool, acc, q, x []float32) float32 {
	if len(q) > 0 {
		var q4, x4 [4]float32
		copy(q4[:], q)
		copy(x4[:], x)
		s.lanes(fused, acc, q4[:], x4[:])
	}
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// hnsw16 adds the lanes of orderHNSW16 and the remaining elements. For L2 the compiler vectorizes the products
// of eight elements at a time, so those products are rounded.
func (s summation) hnsw16(acc *[16]float32, q, x []float32) float32 {
	once := 0
	sum := sumInOrder(acc[:])
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
	return sum + s.addInOrder(s.l2, s.addInOrder(false, 0, q[:once], x[:once]), q[once:], x[once:])
}

// hnsw4 implements sum for orderHNSW4.
func (s summation) hnsw4(acc *[16]float32, q, x []float32) float32 {
	if !s.l2 {
		main := len(q) &^ 15
		s.lanes(false, acc[:8], q[:main], x[:main])
		fold(acc[:8])
		q, x = q[main:], x[main:]
	}
	q, x = s.lanes(false, acc[:4], q, x)
	sum := sumInOrder(acc[:4])
	if len(q) == 0 {
		return sum
	}
	return sum + s.addInOrder(s.l2, 0, q, x)
}

// fold adds the upper half of the lanes to the lower half.
func fold(acc []float32) {
	half := len(acc) / 2
	for i := range half {
		acc[i] += acc[half+i]
	}
}

// sumInOrder returns the sum of the lanes, added one after the other.
func sumInOrder(acc []float32) float32 {
	sum := acc[0]
	for _, a := range acc[1:] {
		sum += a
	}
	return sum
}

// float32Norm2 returns the sum of squares of x as the library of the profile computes it. In hnswlib it is a
// plain sum, in which the compiler fuses at most the last seven products. In knowhere it has four lanes and
// rounds products.
func float32Norm2(p Profile, x []float32) float32 {
	s := summation{order: orderFaiss}
	switch p {
	case HNSWLib:
		main := len(x) &^ 7
		return s.addInOrder(true, s.addInOrder(false, 0, x[:main], x[:main]), x[main:], x[main:])
	case Knowhere:
		var acc [4]float32
		rest, _ := s.lanes(false, acc[:], x, x)
		return s.padded(false, acc[:], rest, rest)
	default:
		return s.sum(x, x)
	}
}

// fusedAdd returns a*b+c rounded once. The product of two float32 is exact in float64. The sum is rounded to
// odd in float64, so that the second rounding never sees a false tie (Boldo and Melquiond, "Emulation of FMA
// and correctly rounded sums", 2008).
func fusedAdd(a, b, c float32) float32 {
	x, y := float64(float64(a)*float64(b)), float64(c)
	s := x + y
	// The second rounding matters only if the sum is half way between two float32, or too small or too large
	// for float32.
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

// halfWay masks the bits of a float64 that a float32 of the same exponent does not have.
const halfWay = 1<<29 - 1
