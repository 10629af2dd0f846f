package index

import (
	"fmt"

	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// ivfSQ reads an inverted file of vectors quantized to 8 bits per dimension. The codes stay in place.
// Sources: faiss 1.15, faiss/impl/index_write.cpp, IndexIVFScalarQuantizer and write_ScalarQuantizer;
// index_read.cpp of the same version for IwSQ, which always has residuals. knowhere v2.2.3 writes the same IwSq.
func (r *faissReader) ivfSQ(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inverted(&h, r.quantizer, r.scalarQuantizer)
	r.cosineFromHint(&h)
	return h
}

// cosineFromHint replaces inner product by cosine if the hint names cosine and the file is Milvus's. For COSINE, Milvus
// normalizes the rows of an index of codes and does not record this in the file.
// Source: knowhere v2.2.3, src/index/ivf/ivf.cc, IvfIndexNode::Train.
func (r *faissReader) cosineFromHint(h *faissHeader) {
	if r.err == nil && h.knowhere && h.metric == dist.InnerProduct && r.hint.Metric == dist.Cosine {
		h.metric = dist.Cosine
		As[ivf.Index](r.file).Metric = dist.Cosine
	}
}

// scalarQuantizer reads the ranges of the dimensions, and whether codes are of residuals.
func (r *faissReader) scalarQuantizer(h *faissHeader) *ivf.SQ8 {
	at := r.at
	kind := r.i32("a type of scalar quantiser")
	if r.err == nil && kind != 0 {
		r.err = &UnsupportedError{Type: scalarType(h.code, kind), Hint: hintRebuild}
		return nil
	}
	r.u32("how ranges were trained")
	r.u32("how ranges were trained")
	dim, size := r.u64("a dimension"), r.u64("code_size")
	r.expect(dim == uint64(h.dim) && size == dim, 16, fmt.Sprintf("%d dimensions of a byte each", h.dim),
		"%d in %d bytes", dim, size)
	ranges := r.vector(4, "ranges of dimensions")
	r.expect(len(ranges)/8 == h.dim && len(ranges)%8 == 0, len(ranges)+8,
		fmt.Sprintf("the ranges of %d dimensions, two numbers each", h.dim), "%d numbers", len(ranges)/4)
	again := r.u64("code_size")
	r.expect(again == size, 8, fmt.Sprintf("codes of %d bytes", size), "%d", again)
	residual := true
	if h.code != "IwSQ" {
		flag := r.u8("by_residual")
		r.expect(flag <= 1, 1, "a flag", "%d", flag)
		residual = flag == 1
	}
	r.file.part("ranges", at, r.at-at)
	if r.err != nil {
		return nil
	}
	trained := float32s(ranges)
	c, err := ivf.NewSQ8(trained[:h.dim], trained[h.dim:], residual)
	if err != nil {
		r.err = err
	}
	return c
}

// scalarType names an index with an unsupported scalar quantizer.
func scalarType(code string, kind int32) string {
	names := []string{
		"8bit", "4bit", "8bit_uniform", "4bit_uniform", "fp16", "8bit_direct", "6bit", "bf16", "8bit_direct_signed",
	}
	if kind < 0 || int(kind) >= len(names) {
		return fmt.Sprintf("faiss %s with a scalar quantiser of type %d", code, kind)
	}
	return fmt.Sprintf("faiss %s with a scalar quantiser of type %s", code, names[kind])
}
