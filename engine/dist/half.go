package dist

import (
	"encoding/binary"
	"math"
)

// WidenFloat16 is the float32 of the same value; a NaN stays one, quiet, as VCVTPH2PS and
// FCVTL have it.
func WidenFloat16(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero and denormals: a multiple of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 0x1f:
		quiet := uint32(0)
		if frac != 0 {
			quiet = 1 << 22
		}
		return math.Float32frombits(sign | 0xff<<23 | quiet | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// NarrowFloat16 is the nearest binary16, ties to even; what is too large becomes infinite.
func NarrowFloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, magnitude := uint16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000:
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case magnitude < 0x38800000: // less than 2 to the power of -14: subnormal
		n := math.RoundToEven(float64(math.Float32frombits(magnitude)) * (1 << 24))
		return sign | uint16(n)
	default:
		rebased := magnitude - (127-15)<<23
		return sign | uint16((rebased+0xfff+rebased>>13&1)>>13)
	}
}

// WidenBFloat16 is the float32 of which h is the upper half.
func WidenBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// widenHalf is the row of float16 or bfloat16 elements as float32, 64-byte aligned.
func widenHalf(e Element, row []byte) []byte {
	widen := WidenFloat16
	if e == BFloat16 {
		widen = WidenBFloat16
	}
	n := len(row) / 2
	out := Aligned(4 * n)
	for i := range n {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(widen(binary.LittleEndian.Uint16(row[2*i:]))))
	}
	return out
}

// halfOrder is an order in which the terms of a float16 or bfloat16 distance are added.
// Term i goes to lane i mod lanes of one of accs accumulators, the blocks of lanes terms by
// turns; what does not fill a turn goes to the first, after the others were added to it, and
// the last block is filled up with zeros. Then the lanes are added up.
type halfOrder struct {
	lanes int  // 16, 8, 4 or 1
	accs  int  // 1 or 2
	fused bool // multiply and add in one rounding
}

// halfOrderOf is the order of knowhere v2.5.5 to v2.6.9, src/simd/distances_{avx512,avx,sse,ref}.cc:
// {fp16,bf16}_vec_{L2sqr,inner_product}_*, verified by compiling them with the flags of its
// cmake files (g++ 12 contracts the AVX2 product and sum to one operation). The functions for
// one pair are meant, which hnswlib's graph walks there; the *_batch_4 functions have one
// accumulator in every case. Its SSE level has no float16 function, the plain one serves.
// hnswlib and faiss do not have these elements in the files that are opened here: their
// profiles are those of knowhere with AVX-512.
func halfOrderOf(m Metric, e Element, p Profile) halfOrder {
	switch p {
	case KnowhereAVX2:
		return halfOrder{lanes: 8, accs: 1, fused: true}
	case KnowhereSSE:
		if e == Float16 {
			return halfOrder{lanes: 1, accs: 1}
		}
		return halfOrder{lanes: 4, accs: 1}
	default:
		if e == Float16 && m != L2 {
			return halfOrder{lanes: 16, accs: 1, fused: true}
		}
		return halfOrder{lanes: 16, accs: 2, fused: true}
	}
}

// halfKernels are the kernels of a float16 or bfloat16 metric on a back end: its own, or the
// specification where it has none.
func halfKernels(b Backend, m Metric, e Element, o halfOrder) forms {
	if f, ok := halfNative(b, m, e, o); ok {
		return f
	}
	return halfGeneric(m, e, o)
}
