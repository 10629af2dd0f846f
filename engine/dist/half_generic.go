package dist

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// halfGeneric is the specification of the float16 and bfloat16 kernels.
func halfGeneric(m Metric, e Element, o halfOrder) forms {
	widen := WidenFloat16
	if e == BFloat16 {
		widen = WidenBFloat16
	}
	return pairForms(func(q, x unsafe.Pointer, n int) float32 {
		query, row := unsafe.Slice((*byte)(q), 4*n), unsafe.Slice((*byte)(x), 2*n)
		return o.sum(n, func(i int) (float32, float32) {
			a := math.Float32frombits(binary.LittleEndian.Uint32(query[4*i:]))
			b := widen(binary.LittleEndian.Uint16(row[2*i:]))
			if m == L2 {
				d := a - b
				return d, d
			}
			return a, b
		})
	})
}

// halfNorm2 is the sum of squares of a row of n elements in the order of the profile's
// library: {fp16,bf16}_vec_norm_L2sqr_* of knowhere v2.5.5, which has two accumulators in
// its AVX-512 form for both elements and adds float32 squares as float64 in its plain form.
func halfNorm2(e Element, p Profile, x unsafe.Pointer, n int) float32 {
	widen := WidenFloat16
	if e == BFloat16 {
		widen = WidenBFloat16
	}
	row := unsafe.Slice((*byte)(x), 2*n)
	at := func(i int) float32 { return widen(binary.LittleEndian.Uint16(row[2*i:])) }
	o := halfOrderOf(L2, e, p)
	if o.lanes > 1 {
		return o.sum(n, func(i int) (float32, float32) { return at(i), at(i) })
	}
	var sum float64
	for i := range n {
		sum += float64(float32(at(i) * at(i)))
	}
	return float32(sum)
}

// sum adds up the products of n pairs of factors.
func (o halfOrder) sum(n int, factors func(i int) (float32, float32)) float32 {
	var acc [2][16]float32
	add := func(to *[16]float32, from int) {
		for l := range o.lanes {
			var a, b float32
			if from+l < n {
				a, b = factors(from + l)
			}
			if o.fused {
				to[l] = fusedAdd(a, b, to[l])
			} else {
				to[l] += float32(a * b)
			}
		}
	}
	i := 0
	if o.accs == 2 {
		for ; i+2*o.lanes <= n; i += 2 * o.lanes {
			add(&acc[0], i)
			add(&acc[1], i+o.lanes)
		}
		for l := range o.lanes {
			acc[0][l] += acc[1][l]
		}
	}
	for ; i < n; i += o.lanes {
		add(&acc[0], i)
	}
	return o.fold(&acc[0])
}

// fold adds up the lanes: halves of a register upon each other, at last two sums of two;
// the four lanes of SSE by HADDPS, neighbours first.
func (o halfOrder) fold(s *[16]float32) float32 {
	if o.lanes == 1 {
		return s[0]
	}
	for w := o.lanes / 2; w >= 4; w /= 2 {
		for l := range w {
			s[l] += s[l+w]
		}
	}
	if o.lanes == 4 {
		return (s[0] + s[1]) + (s[2] + s[3])
	}
	return (s[0] + s[2]) + (s[1] + s[3])
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

// FusedAdd is a*b+c rounded once, on every machine.
func FusedAdd(a, b, c float32) float32 { return fusedAdd(a, b, c) }
