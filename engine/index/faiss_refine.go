package index

import (
	"fmt"
	"math"

	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/ivf"
)

// refined reads an index with a finer store of its rows, by which its hits are compared again.
// Source: faiss 1.15 and knowhere v2.5.6, faiss/impl/index_write.cpp, IndexRefine.
func (r *faissReader) refined(at int, kind string) faissHeader {
	h := r.header(at, kind)
	if len(r.file.Codes) > 2 { // one of the refinement, and one of a map of ids around it
		r.fail(at, "a refinement around all of an index", "one inside")
		return h
	}
	hint := r.hint
	r.hint.Metric = dist.L2 // cosine is told of the whole: see unit
	inner := r.index(true)
	r.hint = hint
	r.expect(r.err != nil || inner.dim == h.dim && inner.rows == h.rows, r.at-at,
		fmt.Sprintf("the refinement of %d rows of %d dimensions", inner.rows, inner.dim), "%d of %d", h.rows, h.dim)
	if r.err != nil {
		return h
	}
	base := r.file.Searchable
	h.metric, h.knowhere = inner.metric, inner.knowhere
	s := r.rowStore(&h, kind)
	at = r.at
	factor := math.Float32frombits(r.u32("k_factor"))
	r.expect(factor >= 1 && factor <= 1000, 4, "a k_factor of 1 to 1,000", "%g", factor)
	r.file.part("header", at, r.at-at)
	if r.err != nil {
		return h
	}
	if own, _ := base.Own(); own != nil {
		if s.vectors, r.err = r.realign(s.vectors, s.at); r.err != nil {
			return h
		}
	}
	x := &refinement{base: base, metric: h.metric, vectors: s.vectors, codec: s.codec, factor: factor}
	if g, ok := base.concrete().(*hnsw.Index); ok {
		x.inverses = g.Inverses
	}
	if x := listsOf(base); x != nil {
		for _, l := range x.Lists {
			for _, id := range l.IDs {
				if id < 0 || id >= int64(h.rows) {
					r.fail(at, fmt.Sprintf("ids of %d rows under a refinement", h.rows), "%d", id)
					return h
				}
			}
		}
	}
	if x.metric == dist.Cosine && len(x.inverses) != h.rows && h.rows > 0 {
		r.fail(at, "a graph with the lengths of its vectors under a refinement for cosine", "none")
		return h
	}
	r.file.Searchable = refinedIndex{x}
	return h
}

// rows are the vectors of a refinement that keeps them as they are.
func (x *refinement) rows() *flat.Index {
	if x.codec != nil {
		return nil
	}
	return &flat.Index{Metric: x.metric, Vectors: x.vectors, Labels: x.labels}
}

// listsOf are the lists of an index, or of one whose vectors are mapped before; nil if it has none.
func listsOf(s Searchable) *ivf.Index {
	switch x := s.concrete().(type) {
	case *ivf.Index:
		return x
	case *Mapped:
		return listsOf(x.Inner)
	default:
		return nil
	}
}
