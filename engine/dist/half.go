package dist

import (
	"encoding/binary"
	"math"
)

// WidenFloat16 returns the value of a float16 as float32. A NaN becomes a quiet NaN, as with VCVTPH2PS and
// FCVTL.
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

// NarrowFloat16 returns the nearest float16 (binary16), ties to even. Values that are too large become
// infinite.
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

// WidenBFloat16 returns the float32 whose upper half is h.
func WidenBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// widenHalf returns a row of float16 or bfloat16 elements as float32, 64-byte aligned.
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
