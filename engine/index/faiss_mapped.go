package index

import (
	"fmt"
	"slices"

	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// mapped reads an index whose vectors are multiplied by a matrix, or several in a row, before they are indexed and searched: as a random
// rotation stands around Milvus's IVF_RABITQ, and faiss's PCA and OPQ around others.
// Source: faiss 1.15, faiss/impl/index_write.cpp, IndexPreTransform and write_VectorTransform; knowhere v2.5.6 and v2.6.9 write the same.
func (r *faissReader) mapped(at int, code string) faissHeader {
	h := r.header(at, code)
	count := r.i32("a count of maps")
	r.expect(count >= 0, 4, "a count of maps", "%d", count)
	x := &Mapped{}
	dim := h.dim
	for range count {
		m := r.linear(dim)
		if r.err != nil {
			return h
		}
		x.Maps, dim = append(x.Maps, m), m.Out
	}
	hint := r.hint
	r.hint = Hint{Dim: dim}
	at = r.at
	inner := r.index(r.inMap)
	r.hint = hint
	r.expect(r.err != nil || inner.rows == h.rows && inner.metric == h.metric, r.at-at,
		fmt.Sprintf("an index of %d rows by %s", h.rows, h.metric), "one of %d by %s", inner.rows, inner.metric)
	if r.err != nil {
		return h
	}
	h.knowhere = inner.knowhere
	x.Inner = r.file.Searchable
	r.file.Searchable = FromMapped(x)
	return h
}

// unit takes an inner product of Milvus for the cosine that the hint names, as normalised does, of vectors that were normalised before they were
// rotated, or refined.
func (r *faissReader) unit(h *faissHeader) {
	lists := slices.Contains(r.file.Codes, "IwrQ") || r.err == nil && Refined(r.file.Searchable) && r.file.Effort() == ByNProbe
	if lists && h.knowhere && h.metric == dist.InnerProduct && r.hint.Metric == dist.Cosine {
		h.metric, r.file.Searchable = dist.Cosine, unitIndex{r.file.Searchable}
	}
}

// linear reads a map from a dimension.
func (r *faissReader) linear(dim int) Map {
	at := r.at
	code := r.code()
	m := Map{In: dim}
	switch code {
	case "rrot":
		m.Name = "rotated at random"
	case "LTra":
		m.Name = "multiplied by a matrix"
	case "Pcam", "PCAm", "PcAm":
		m.Name = "mapped to their principal components"
		r.u32("eigen_power")
		if code == "Pcam" {
			r.u32("epsilon")
		}
		r.u8("random_rotation")
		if code != "PCAm" {
			r.u32("balanced_bins")
		}
		r.vector(4, "means of dimensions")
		r.vector(4, "eigenvalues")
		r.vector(4, "principal components")
	case "Viqm":
		m.Name = "rotated by ITQ"
		r.u32("max_iter")
		r.u32("seed")
	default:
		if r.err == nil {
			r.err = &UnsupportedError{Type: fmt.Sprintf("faiss IxPT (vectors mapped by %q)", code), Hint: hintRebuild}
		}
		return m
	}
	bias := r.u8("whether there is a bias")
	r.expect(bias <= 1, 1, "a flag", "%d", bias)
	matrix, add := r.vector(4, "elements of a matrix"), r.vector(4, "elements of a bias")
	in, out := r.i32("a dimension"), r.i32("a dimension")
	r.expect(int(in) == dim && out > 0, 8, fmt.Sprintf("a map from %d dimensions", dim), "one from %d to %d", in, out)
	trained := r.u8("is_trained")
	r.expect(trained == 1, 1, "a map that is trained", "%d", trained)
	if r.err != nil {
		return m
	}
	m.Out = int(out)
	r.expect(len(matrix)/4/m.Out == m.In && len(matrix)%(4*m.Out) == 0, r.at-at, fmt.Sprintf("a matrix from %d dimensions to %d", m.In, m.Out), "%d elements", len(matrix)/4)
	r.expect(bias == 0 || len(add)/4 == m.Out, r.at-at, fmt.Sprintf("a bias of %d dimensions", m.Out), "%d", len(add)/4)
	r.file.part("matrix", at, r.at-at)
	if r.err != nil {
		return m
	}
	if m.Matrix = float32s(matrix); bias == 1 {
		m.Bias = float32s(add)
	}
	return m
}

// ivfRaBitQ reads an inverted file of vectors in a bit a dimension. Codes stay where they lie.
// Source: faiss 1.15, faiss/impl/index_write.cpp, IndexIVFRaBitQ and write_RaBitQuantizer: Iwrq; knowhere v2.5.6 and v2.6.9, the same file:
// IwrQ, whose codes have one more number. Iwrr is faiss's of several bits a dimension.
func (r *faissReader) ivfRaBitQ(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inverted(&h, r.quantizer, func(h *faissHeader) ivf.Codec { return r.rabitq(h) })
	return h
}

// rabitq reads how vectors are coded.
func (r *faissReader) rabitq(h *faissHeader) ivf.Codec {
	dim, size := r.u64("a dimension"), r.u64("code_size")
	metric := r.metric(h.code, false)
	r.expect(dim == uint64(h.dim) && metric == h.metric, 20, fmt.Sprintf("codes of %d dimensions for %s", h.dim, h.metric), "of %d for %s", dim, metric)
	number := uint64(1)
	if h.code == "Iwrr" {
		number = r.u64("nb_bits")
		r.expect(number >= 2 && number <= dist.MaxRaBitQBits, 8, fmt.Sprintf("2 to %d bits a dimension", dist.MaxRaBitQBits), "%d", number)
	}
	again := r.u64("code_size")
	residual := r.u8("by_residual") // which makes no difference
	r.expect(residual <= 1, 1, "a flag", "%d", residual)
	bits := r.u8("bits of a query's dimension")
	r.expect(bits <= dist.MaxQueryBits, 1, fmt.Sprintf("0 to %d bits of a query's dimension", dist.MaxQueryBits), "%d", bits)
	if r.err != nil {
		return nil
	}
	c, err := ivf.NewRaBitQ(h.metric, h.dim, int(bits), h.code == "IwrQ")
	if err == nil && number > 1 {
		c, err = c.WithBits(int(number))
	}
	if err != nil {
		r.err = err
		return nil
	}
	r.expect(size == uint64(c.Bytes()) && again == size, 10, fmt.Sprintf("codes of %d bytes", c.Bytes()), "of %d, or %d", size, again)
	return c
}
