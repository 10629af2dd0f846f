package index

import (
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// ivfPQR reads an inverted file of vectors in parts, with the parts of what these leave behind it. Codes stay where they lie.
// Source: faiss 1.15, faiss/impl/index_write.cpp, IndexIVFPQR.
func (r *faissReader) ivfPQR(at int, kind string) faissHeader {
	h := r.header(at, kind)
	r.expect(h.metric == dist.L2, r.at-at, "L2, which alone has a refinement by parts", "%s", h.metric)
	r.inverted(&h, r.quantizer, func(h *faissHeader) ivf.Codec { return r.productQuantizer(h) })
	if r.err != nil {
		return h
	}
	lists, _ := r.file.concrete().(*ivf.Index)
	x := &pqr{Index: lists}
	x.parts, _ = lists.Codec.(*ivf.PQ)
	r.expect(x.parts.Residual, 0, "codes of what centroids leave", "of vectors")
	at = r.at
	parts, bits, centroids := r.partsAndBits(&h)
	r.file.part("centroids of parts", at, r.at-at)
	if r.err != nil {
		return h
	}
	if x.finer, r.err = code.NewPQ(h.dim, parts, bits, centroids); r.err != nil {
		return h
	}
	at = r.at
	codes := r.vector(1, "codes of rows")
	r.expect(r.err != nil || len(codes) == h.rows*x.finer.Bytes(), len(codes)+8, fmt.Sprintf("codes of %d rows, %d bytes each", h.rows, x.finer.Bytes()), "%d bytes", len(codes))
	r.file.part("codes", at, r.at-at)
	x.factor = math.Float32frombits(r.u32("k_factor"))
	r.expect(x.factor >= 1 && x.factor <= 1000, 4, "a k_factor of 1 to 1,000", "%g", x.factor)
	for _, l := range lists.Lists {
		for _, id := range l.IDs {
			r.expect(id >= 0 && id < int64(h.rows), 0, fmt.Sprintf("ids of %d rows", h.rows), "%d", id)
		}
	}
	if r.err != nil {
		return h
	}
	if x.codes, r.err = engine.View(dist.Int8, x.finer.Bytes(), h.rows, x.finer.Bytes(), codes); r.err == nil {
		r.file.Searchable = fromPQR(x)
	}
	return h
}
