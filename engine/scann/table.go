package scann

import (
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// table writes to out the distances of the parts of q to their centroids (compute_distance_table and compute_inner_prod_table,
// faiss/impl/ProductQuantizer.cpp).
func (p *Parts) table(m engine.Metric, q, out []float32) {
	kernel := p.ip
	if m == dist.L2 {
		kernel = p.l2
	}
	part := dist.Floats(dist.Aligned(4 * p.width))
	for i := range p.count {
		copy(part, q[i*p.width:])
		kernel.Scan(unsafe.Pointer(unsafe.SliceData(part)), unsafe.Pointer(&p.centroids[4*i*values*p.width]), uintptr(4*p.width), out[i*values:][:values])
	}
}

// rounded is a table in bytes: a distance is about sum/scale + low.
type rounded struct {
	entries    []uint8 // 16 for each part, and for one more of zeros where their number is odd
	scale, low float32
}

// round makes bytes of a table, as quantize_LUT_and_bias does without biases (faiss/utils/quantize_lut.cpp): all parts have one scale, by
// the widest of them and by what a sum of 16 bits takes.
func (r *rounded) round(table []float32) {
	r.low = 0
	widest, sum := float32(math.Inf(-1)), float32(0)
	for at := 0; at < len(table); at += values {
		low, high := span(table[at : at+values])
		widest = max(widest, high-low)
		sum += high - low
		r.low += low
	}
	r.scale = min(255/widest, 65535/sum)
	for at := 0; at < len(table); at += values {
		low, _ := span(table[at : at+values])
		for i, v := range table[at : at+values] {
			// A half is added in float64; what is no number becomes 0, as the conversion of x86 has it.
			u := math.Floor(float64(float32(float64(float32((v-low)*r.scale)) + 0.5)))
			r.entries[at+i] = 0
			if u >= 0 && u < 256 {
				r.entries[at+i] = uint8(u)
			}
		}
	}
}

// span is the least and the greatest of a part, of those that are numbers.
func span(part []float32) (low, high float32) {
	low, high = float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range part {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	return low, high
}

// sums writes to out what the entries for the rows of a block add up to, in 16 bits that wrap.
func (r *rounded) sums(block []byte, out *[blockRows]uint16) {
	var low, high [16]uint16
	entries := r.entries
	for len(block) >= 16 && len(entries) >= values {
		own, codes := (*[values]uint8)(entries), (*[16]byte)(block)
		for j, c := range codes {
			low[j] += uint16(own[c&15])
			high[j] += uint16(own[c>>4])
		}
		block, entries = block[16:], entries[values:]
	}
	for j, row := range place() {
		out[row], out[row+16] = low[j], high[j]
	}
}
