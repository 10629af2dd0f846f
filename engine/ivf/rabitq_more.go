package ivf

import (
	"encoding/binary"
	"math"

	"kitescope/engine/flat"
)

// scanWorth gives to the distances to those of the codes of a list, from first on, that their signs say may enter, as RaBitQDistanceComputer does
// (scan_codes_multibit, faiss/impl/RaBitQuantizer.cpp): what is to be beaten is asked for each. The estimate may be wrong by more than it says,
// and rows be missed for it. est has room for the tile.
func (d *rabitqDecoder) scanWorth(l *List, first int, est []float32, left []uint64, to sink) {
	d.scan(l.Vectors, first, est)
	for j := range est {
		id := l.IDs[first+j]
		if flat.Marked(left, id) {
			continue
		}
		beat, ok := to.Beat()
		if !ok {
			if beat = math.MaxFloat32; d.index.coarse().Similarity() {
				beat = -beat
			}
		}
		code := l.Vectors.Row(first + j)
		if d.own.Worth(code, est[j], float32(beat)) {
			est[j] = d.own.Whole(code)
			to.AddList(est[j:j+1], l.IDs[first+j:first+j+1], nil)
		}
	}
}

// restGives reports whether x may have the bits that are not signs, and the two numbers behind them: there is a scale by which the distances of its
// dimensions from the centroid, cut to whole numbers, are these bits (quantize_ex_bits, faiss/impl/RaBitQuantizerMultiBit.cpp). Where x is the
// centroid all is 0.
func (c *RaBitQ) restGives(rest []byte, centroid, x []float32) bool {
	more := c.number - 1
	most := 1<<more - 1
	var norm, length, centre, with float64
	for i, v := range x {
		d := float64(v) - float64(centroid[i])
		norm += d * d
		length += float64(v) * float64(v)
		centre += float64(centroid[i]) * float64(centroid[i])
		with += d * float64(centroid[i])
	}
	norm = math.Sqrt(norm)
	slack := rabitqSlack * math.Sqrt(length+centre)
	if norm < 10*slack {
		return true // rounding decides
	}
	low, high, dot := 0.0, math.Inf(1), 0.0
	for i, v := range x {
		at := i * more
		word := uint(rest[at>>3])
		if at>>3+1 < len(rest) {
			word |= uint(rest[at>>3+1]) << 8
		}
		own, d := int(word>>(at&7))&most, float64(v)-float64(centroid[i])
		if d < 0 {
			own = ^own & most
		}
		if d = math.Abs(d); d < slack {
			continue // either side
		}
		low = max(low, (float64(own)-rabitqSlack)/(d+slack))
		if own < most {
			high = min(high, (float64(own+1)+rabitqSlack)/(d-slack*(1-rabitqSlack)))
		}
		dot += (float64(own) + 0.5) * d / norm
	}
	number := func(i int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(rest[(c.dim*more+7)/8+4*i:])))
	}
	add, scale := norm*norm, -2*norm/dot
	if c.metric.Similarity() {
		add, scale = with, norm/dot
	}
	return low <= high && math.Abs(number(0)-add) <= 10*rabitqSlack*(length+centre) && math.Abs(number(1)-scale) <= 1000*rabitqSlack*math.Abs(scale)
}
