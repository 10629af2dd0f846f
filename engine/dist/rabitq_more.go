package dist

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// MaxRaBitQBits is of how many bits a dimension's code may be: its sign and up to eight more.
const MaxRaBitQBits = 9

// WithBits returns the same for codes of so many bits a dimension, 1 to MaxRaBitQBits, in faiss's form. Those of more than one have, behind the signs and two
// numbers, by how much the distance of the signs may be wrong, the other bits of all dimensions, and two numbers for the distance of all bits
// (faiss/impl/RaBitQuantizer.cpp and RaBitQuantizerMultiBit.cpp, 1.15).
func (k *RaBitQ) WithBits(bits int) *RaBitQ {
	c := *k
	c.more = bits - 1
	return &c
}

// rest is where in a code the bits after the signs are, and how many bytes they take.
func (k *RaBitQ) rest() (at, bytes int) { return k.Signs() + 12, (k.dim*k.more + 7) / 8 }

// Worth reports whether a code of more than one bit is worth its distance, by the distance of its signs, which Scan gives, and what is to be beaten
// (should_refine_candidate, faiss/impl/RaBitQUtils.h).
func (q *RaBitQQuery) Worth(code []byte, signs, beat float32) bool {
	slack := float32(float32At(code, q.kernel.Signs()+8) * q.reach)
	if !q.kernel.l2 {
		return signs+slack > beat
	}
	lower := signs - slack
	if !(lower > 0) {
		lower = 0
	}
	return lower < beat
}

// Whole is the distance of all bits of a code of more than one.
func (q *RaBitQQuery) Whole(code []byte) float32 {
	k := q.kernel
	at, n := k.rest()
	add, scale := float32At(code, at+n), float32At(code, at+n+4)
	base := q.factors[3]
	if !k.l2 {
		base = q.product
	}
	d := base + add + float32(scale*q.dot(code[:k.Signs()], code[at:at+n]))
	if k.l2 && !(d > 0) {
		return 0
	}
	return d
}

// dot is the inner product of what is left of the query with the values of a code: 16 lanes for one more bit, of which the rest has a sum of its own,
// one dimension after the other for others, which rounds a product and a sum each (compute_inner_product<AVX512>,
// faiss/utils/simd_impl/rabitq_avx512.cpp; PyPI's library has not the functions for BMI2 there, which have 8 lanes).
func (q *RaBitQQuery) dot(signs, rest []byte) float32 {
	k := q.kernel
	done, sum := 0, float32(0)
	if k.more == 1 {
		var acc [16]float32
		for ; done+16 <= k.dim; done += 16 {
			for j := range acc {
				acc[j] = fusedAdd(q.left[done+j], k.value(signs, rest, done+j), acc[j])
			}
		}
		fold(acc[:])
		fold(acc[:8])
		sum = (acc[0] + acc[2]) + (acc[1] + acc[3])
	}
	left := float32(0)
	for i := done; i < k.dim; i++ {
		left += float32(q.left[i] * k.value(signs, rest, i))
	}
	return sum + left
}

// value is what the bits of dimension i stand for: whole numbers and a half, as far below 0 as above.
func (k *RaBitQ) value(signs, rest []byte, i int) float32 {
	at := i * k.more
	word := uint(rest[at>>3])
	if at>>3+1 < len(rest) {
		word |= uint(rest[at>>3+1]) << 8
	}
	own := word>>(at&7)&(1<<k.more-1) | uint(signs[i>>3]>>(i&7)&1)<<k.more
	return float32(own) - (float32(uint(1)<<k.more) - 0.5)
}

// centreMore readies a query for codes of more than one bit in the list of a centroid.
func (q *RaBitQQuery) centreMore(centroid []byte) {
	q.reach = float32(math.Sqrt(float64(q.factors[3])))
	if !q.kernel.l2 {
		q.product = q.kernel.product.One(q.at(), unsafe.Pointer(unsafe.SliceData(centroid)))
	}
}

func float32At(b []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
}
