package index

import (
	"fmt"

	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// ivfSQ reads an inverted file of vectors in 8 bits a dimension. Codes stay where they lie.
// Source: faiss 1.15, faiss/impl/index_write.cpp, IndexIVFScalarQuantizer and write_ScalarQuantizer; index_read.cpp of the same for
// IwSQ, which always has residuals; knowhere v2.2.3 writes the same IwSq.
func (r *faissReader) ivfSQ(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inverted(&h, r.quantizer, func(h *faissHeader) ivf.Codec { return r.scalarQuantizer(h) })
	r.normalised(&h)
	return h
}

// normalised takes an inner product of Milvus for the cosine that the hint names: for COSINE it normalises the rows of an index of codes,
// and the file says no more of that (IvfIndexNode::Train, src/index/ivf/ivf.cc, knowhere v2.2.3).
func (r *faissReader) normalised(h *faissHeader) {
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
	r.expect(dim == uint64(h.dim) && size == dim, 16, fmt.Sprintf("%d dimensions of a byte each", h.dim), "%d in %d bytes", dim, size)
	ranges := r.vector(4, "ranges of dimensions")
	r.expect(len(ranges)/8 == h.dim && len(ranges)%8 == 0, len(ranges)+8, fmt.Sprintf("the ranges of %d dimensions, two numbers each", h.dim), "%d numbers", len(ranges)/4)
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

// scalarType is what codes of a scalar quantiser are called, of those that are not read.
func scalarType(code string, kind int32) string {
	names := []string{"8bit", "4bit", "8bit_uniform", "4bit_uniform", "fp16", "8bit_direct", "6bit", "bf16", "8bit_direct_signed"}
	if kind < 0 || int(kind) >= len(names) {
		return fmt.Sprintf("faiss %s with a scalar quantiser of type %d", code, kind)
	}
	return fmt.Sprintf("faiss %s with a scalar quantiser of type %s", code, names[kind])
}

// ivfPQ reads an inverted file of vectors in parts of 4 to 8 bits. Codes stay where they lie.
// Source: faiss 1.15, faiss/impl/index_write.cpp, IndexIVFPQ and write_ProductQuantizer; knowhere v2.2.3 writes the same.
func (r *faissReader) ivfPQ(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inverted(&h, r.quantizer, func(h *faissHeader) ivf.Codec { return r.productQuantizer(h) })
	r.normalised(&h)
	return h
}

// productQuantizer reads whether codes are of residuals, and the centroids of the parts.
func (r *faissReader) productQuantizer(h *faissHeader) *ivf.PQ {
	at := r.at
	residual := r.u8("by_residual")
	r.expect(residual <= 1, 1, "a flag", "%d", residual)
	size := r.u64("code_size")
	parts, bits, centroids := r.partsAndBits(h)
	r.expect(r.err != nil || size == uint64(parts*bits+7)/8, r.at-at-1, fmt.Sprintf("codes of %d parts of %d bits", parts, bits), "%d bytes", size)
	r.file.part("centroids of parts", at, r.at-at)
	if r.err != nil {
		return nil
	}
	c, err := ivf.NewPQ(h.dim, parts, bits, centroids, residual == 1)
	if err != nil {
		r.err = err
	}
	return c
}

// partsAndBits reads a product quantiser: how many parts it has, of how many bits each, and the values of their centroids.
func (r *faissReader) partsAndBits(h *faissHeader) (parts, bits int, centroids []float32) {
	dim, m, nbits := r.u64("a dimension"), r.u64("a count of parts"), r.u64("bits of a part")
	r.expect(dim == uint64(h.dim) && m > 0 && m <= dim && dim%max(m, 1) == 0, 24, fmt.Sprintf("%d dimensions in parts of one width", h.dim), "%d in %d", dim, m)
	if r.err == nil && (nbits < ivf.MinBits || nbits > ivf.MaxBits) {
		r.err = &UnsupportedError{Type: fmt.Sprintf("IVF_PQ of %d bits a part", nbits), Hint: hintRebuild}
	}
	nbits = min(nbits, ivf.MaxBits)
	values := r.vector(4, "values of the centroids of parts")
	r.expect(r.err != nil || len(values)/4>>nbits == h.dim && len(values)%(4<<nbits) == 0, len(values)+8,
		fmt.Sprintf("%d values of centroids for each of %d dimensions", 1<<nbits, h.dim), "%d values", len(values)/4)
	if r.err != nil {
		return 0, 0, nil
	}
	return int(m), int(nbits), float32s(values)
}
