package code

import (
	"unsafe"

	"kitescope/engine/dist"
)

// uniform is the decoder of uniform types in faiss 1.15 where it decodes 8 or 16 dimensions at once: one distance by itself is computed in the
// range from 0 to 1, to which the query is brought, and then stretched; four together are not (query_to_code_predecoded and
// adjust_query_for_raw_decode, faiss/impl/scalar_quantizer/sq-avx512.cpp).
type uniform struct {
	codec       *SQ
	l2          bool
	four, one   Decoder
	query       []float32
	scale, bias float32
}

func (d *uniform) Load(q []float32) {
	d.four.Load(q)
	low, span := d.codec.Low[0], d.codec.Span[0]
	d.scale, d.bias = span, 0
	copy(d.query, q)
	if d.l2 {
		inverse := float32(0)
		if span != 0 {
			inverse = 1 / span
		}
		for i, v := range q {
			d.query[i] = (v - low) * inverse
		}
		d.scale = span * span
	} else {
		for _, v := range q {
			d.bias += v
		}
		d.bias *= low
	}
	d.one.Load(d.query)
}

func (d *uniform) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, fours int) {
	d.four.Gather(base, stride, ids[:fours], out, fours)
	d.one.Gather(base, stride, ids[fours:], out[fours:], 0)
	for i := fours; i < len(ids); i++ {
		out[i] = dist.FusedAdd(d.scale, out[i], d.bias)
	}
}

// nibbles compares 4 bits a dimension in the range from 0 to 1, 8 at once under L2, where the compiler has made one rounding of what a code stands
// for and its difference from the query.
type nibbles struct {
	codec *SQ
	query []float32
	row   []byte
}

func (d *nibbles) Load(q []float32) { copy(d.query, q) }

func (d *nibbles) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	const one = float32(1.0 / 15)
	for i, id := range ids {
		d.codec.unpack(at(base, stride, id, d.codec.Bytes()), d.row)
		var acc [8]float32
		for j, q := range d.query {
			x := dist.FusedAdd(-(float32(d.row[j]) + 0.5), one, q)
			acc[j&7] = dist.FusedAdd(x, x, acc[j&7])
		}
		for j := range 4 {
			acc[j] += acc[j+4]
		}
		out[i] = (acc[0] + acc[2]) + (acc[1] + acc[3])
	}
}
