package hnsw

import (
	"math"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// From how many rows and dimensions on a build makes codes: they take a walk through all rows, and each row is held against them.
const (
	buildRows = 4096
	buildDim  = 256
)

// shade gives the rows codes for as long as the graph is built.
func (b *builder) shade(threads int) (err error) {
	if b.Vectors.Rows < buildRows || b.Vectors.Dim < buildDim {
		return nil
	}
	b.codes, err = prefilter.EncodeRows(b.Vectors, b.Metric, threads)
	if err == nil && b.Norms != nil && !b.codes.Divides(0, b.Norms) {
		b.unshade()
	}
	return err
}

func (b *builder) unshade() {
	if b.codes != nil {
		b.codes.Release()
		b.codes = nil
	}
}

// fetched is what a visit prefetches: codes where they are looked at first.
func (w *worker) fetched() fetch {
	if w.coded {
		return fetch{base: w.codes.Base(), stride: w.codes.Stride(), lines: min(int(w.codes.Stride()+63)/64, codesLines)}
	}
	return fetch{base: w.base, stride: w.stride, lines: w.lines}
}

// pick leaves those of fresh, in their order, whose distance to node id may have a smaller key than worst.
func (w *worker) pick(id uint32, fresh []uint32, worst uint32) []uint32 {
	if worst == math.MaxUint32 {
		return fresh
	}
	if worst != w.cutFor {
		w.cutFor = worst
		beat := float64(distanceOf(worst))
		if w.Metric != dist.L2 {
			beat = float64(w.offset) - beat // offset - raw is rounded, which does not change on which side it is
		}
		if w.Norms != nil {
			beat *= float64(w.Norms[id]) // the library divides by the product of both norms
		}
		w.cut = w.query.Cut(beat, w.Norms != nil)
	}
	return fresh[:w.query.Pick(&w.cut, fresh)]
}

// distanceOf is the distance with a key that is not that of NaN.
func distanceOf(k uint32) float32 {
	if k&(1<<31) != 0 {
		return math.Float32frombits(k ^ 1<<31)
	}
	return math.Float32frombits(^k)
}
