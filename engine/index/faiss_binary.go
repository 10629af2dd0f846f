package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// binaryHeader reads the header of a binary index, which differs from that of other indexes.
// Source: faiss 1.15, faiss/impl/index_write.cpp, write_index_binary_header.
func (r *faissReader) binaryHeader(at int, code string) faissHeader {
	h := faissHeader{at: at, code: code, element: dist.Bit}
	dim, size := r.i32("a dimension"), r.i32("a code size")
	r.expect(dim > 0 && dim%8 == 0 && size == dim/8, 4, "the bytes of a vector's bits, eight each",
		"%d bytes for %d bits", size, dim)
	r.expect(r.hint.Dim == 0 || int(dim) == r.hint.Dim, 8, fmt.Sprintf("vectors of %d dimensions", r.hint.Dim), "%d",
		dim)
	h.dim, h.rows = int(dim), r.count("a count of rows")
	r.u8("is_trained")
	// For binary indexes faiss writes only one metric, which it calls L2. Higher numbers are knowhere's: 5 is
	// Jaccard, 7 is Hamming. Milvus 2.1 wrote 6 (Tanimoto) for an index of JACCARD, and derived Jaccard's distance
	// from it during the search.
	metric := r.i32("a metric")
	h.knowhere = metric > 1
	switch metric {
	case 1, 7:
		h.metric = dist.Hamming
	case 5, 6:
		h.metric = dist.Jaccard
	default:
		if r.err == nil {
			t, _ := typeOf(code)
			r.err = &UnsupportedError{Type: fmt.Sprintf("%s of metric %d", t.name, metric), Hint: hintRebuild}
		}
	}
	r.file.part("header", at, r.at-at)
	return h
}

// binaryFlat reads a flat binary index.
func (r *faissReader) binaryFlat(at int, code string) faissHeader {
	h := r.binaryHeader(at, code)
	r.file.Searchable = FromRows(r.binaryRows(&h, "vectors"))
	return h
}

// binaryIVF reads a binary inverted file. Its centroids are a flat binary index.
// Source: faiss 1.15, faiss/impl/index_write.cpp, write_binary_ivf_header.
func (r *faissReader) binaryIVF(at int, code string) faissHeader {
	h := r.binaryHeader(at, code)
	r.inverted(&h, func(h *faissHeader, lists int) *engine.Vectors {
		at := r.at
		inner := r.code()
		r.expect(inner == "IBxF", 4, "centroids in a flat index (IBxF)", "%q", inner)
		q := r.binaryHeader(at, inner)
		r.expect(q.dim == h.dim && q.rows == lists && lists > 0, r.at-at-4,
			fmt.Sprintf("%d centroids of %d dimensions", lists, h.dim), "%d of %d", q.rows, q.dim)
		return r.binaryRows(&q, "centroids").Vectors
	}, nil)
	return h
}

// binaryRows reads the body of a flat binary index. The rows stay in place.
func (r *faissReader) binaryRows(h *faissHeader, part string) *flat.Index {
	at := r.at
	codes := r.vector(1, "codes")
	size := h.element.Bytes(h.dim)
	r.expect(r.err != nil || len(codes)/size == h.rows && len(codes)%size == 0, len(codes)+8,
		fmt.Sprintf("%d rows of %d bytes", h.rows, size), "%d bytes", len(codes))
	r.file.part(part, at, r.at-at)
	return &flat.Index{Metric: h.metric, Vectors: r.view(h, h.rows, codes)}
}
