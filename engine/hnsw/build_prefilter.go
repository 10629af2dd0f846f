package hnsw

import (
	"math"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// A build uses codes only if there are at least this many rows and dimensions. Encoding takes a pass over all rows,
// and each row is then compared with codes.
const (
	minCodeRows = 4096
	minCodeDim  = 256
)

// quantize encodes the rows for the duration of the build, if codes are worthwhile.
func (b *builder) quantize(threads int) (err error) {
	if b.Vectors.Rows < minCodeRows || b.Vectors.Dim < minCodeDim {
		return nil
	}
	b.codes, err = prefilter.EncodeRows(b.Vectors, b.Metric, threads)
	if err == nil && b.Norms != nil && !b.codes.SupportsNorms(0, b.Norms) {
		b.releaseCodes()
	}
	return err
}

func (b *builder) releaseCodes() {
	if b.codes != nil {
		b.codes.Release()
		b.codes = nil
	}
}

// prefetchTarget returns the memory that a visit prefetches: codes if they are read first, otherwise rows.
func (w *worker) prefetchTarget() fetch {
	if w.coded {
		return fetch{
			base: w.codes.Base(), stride: w.codes.Stride(), lines: min(int(w.codes.Stride()+63)/64, codesLines),
		}
	}
	return fetch{base: w.base, stride: w.stride, lines: w.lines}
}

// pick keeps the nodes of fresh whose distance to node id may have a smaller key than worst. It preserves their
// order.
func (w *worker) pick(id uint32, fresh []uint32, worst uint32) []uint32 {
	if worst == math.MaxUint32 {
		return fresh
	}
	if worst != w.cutFor {
		w.cutFor = worst
		beat := float64(distanceOf(worst))
		if w.Metric != dist.L2 {
			beat = float64(w.offset) - beat // rounding offset - raw does not change the side
		}
		if w.Norms != nil {
			beat *= float64(w.Norms[id]) // the library divides by both norms
		}
		w.cut = w.query.Cut(beat, w.Norms != nil)
	}
	return fresh[:w.query.Pick(&w.cut, fresh)]
}

// distanceOf returns the distance with key k. k must not be the key of NaN.
func distanceOf(k uint32) float32 {
	if k&(1<<31) != 0 {
		return math.Float32frombits(k ^ 1<<31)
	}
	return math.Float32frombits(^k)
}
