package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// rowStore is what follows a graph, or refines an index: rows, or codes that stand for them.
type rowStore struct {
	vectors  *engine.Vectors
	codec    code.Codec // of vectors, which are codes then
	norms    []float32  // of rows, under cosine
	inverses []float32  // 1 divided by them
	at       int        // where the rows lie in the file
}

// storage reads the index that follows the graph, and copies its rows or codes into aligned ones.
func (r *faissReader) storage(h *faissHeader, ix *hnsw.Index) {
	s := r.rowStore(h, h.code)
	if r.err != nil {
		return
	}
	ix.Codec, ix.Norms, ix.Inverses = s.codec, s.norms, s.inverses
	if code.Widens(r.hint.Element) {
		ix.Of = r.hint.Element
	}
	if s.norms != nil {
		ix.Inverses = hnsw.InversesOf(s.norms)
	}
	ix.Vectors, r.err = r.realign(s.vectors, s.at)
}

// rowStore reads rows or codes of them, as many as an index has that they are of.
// Source: faiss 1.15 and knowhere v2.5.6, faiss/impl/index_write.cpp, IndexFlat, IndexScalarQuantizer, IndexPQ and
// IndexProductResidualQuantizer; knowhere's have inverses of lengths under cosine.
func (r *faissReader) rowStore(h *faissHeader, of string) (s rowStore) {
	at := r.at
	inner := r.code()
	body := map[string]func(h *faissHeader) code.Codec{
		"IxSQ": r.scalar, "IxS8": r.scalar, "IxPq": r.product, "IxP7": r.product, "IxPR": r.steps, "IxP5": r.steps,
	}[inner]
	switch inner {
	case "null":
		r.fail(at, "the vectors of the graph", "null: omitted when the file was written")
		return s
	case "IxF2", "IxFI", "IxFl", "IxF9":
	default:
		if body == nil && r.err == nil {
			r.err = &UnsupportedError{Type: fmt.Sprintf("%s over %s", of, typeName(inner)), Hint: hintRebuild}
		}
	}
	if r.err != nil {
		return s
	}
	own := r.header(at, inner)
	r.expect(own.dim == h.dim && own.rows == h.rows && (own.metric == h.metric || h.code == "IxRF" && own.metric == dist.InnerProduct && h.metric == dist.Cosine), r.at-at-4,
		fmt.Sprintf("%d vectors of %d dimensions of the graph's metric", h.rows, h.dim), "%d of %d, metric %d", own.rows, own.dim, own.metric)
	if body == nil {
		rows := r.flat(&own, "vectors")
		if r.err == nil {
			s = rowStore{vectors: rows.Vectors, norms: rows.Norms, at: r.at - 4*own.rows*own.dim - normBytes(rows.Norms)}
		}
		return s
	}
	if s.codec = body(&own); r.err == nil {
		r.codes(&own, &s)
	}
	return s
}

// codes reads codes of rows, and what follows them.
func (r *faissReader) codes(h *faissHeader, s *rowStore) {
	if h.code == "IxPR" || h.code == "IxP5" {
		size := r.u64("code_size")
		r.expect(size == uint64(s.codec.Bytes()), 8, fmt.Sprintf("codes of %d bytes", s.codec.Bytes()), "%d", size)
	}
	data := r.vector(1, "bytes of codes")
	s.at = r.at - len(data)
	r.expect(r.err != nil || len(data)/s.codec.Bytes() == h.rows && len(data)%s.codec.Bytes() == 0, len(data)+8,
		fmt.Sprintf("codes of %d rows of %d bytes", h.rows, s.codec.Bytes()), "%d bytes", len(data))
	row := faissHeader{element: dist.Int8, dim: s.codec.Bytes()}
	s.vectors = r.view(&row, h.rows, data)
	r.file.part("codes", s.at, len(data))
	at := r.at
	if h.code == "IxPq" || h.code == "IxP7" {
		r.u32("search_type")
		signs := r.u8("encode_signs")
		r.expect(signs == 0, 1, "codes of centroids", "codes of signs: encode_signs is %d", signs)
		r.u32("polysemous_ht")
		r.file.part("header", at, r.at-at)
	}
	if h.metric == dist.Cosine {
		at := r.at
		inverses := r.vector(4, "inverses of lengths")
		r.expect(len(inverses)/4 == h.rows, len(inverses)+8, fmt.Sprintf("%d inverses of lengths", h.rows), "%d", len(inverses)/4)
		s.inverses = float32s(inverses)
		r.file.part("norms", at, r.at-at)
	}
}

// scalar reads a scalar quantiser.
func (r *faissReader) scalar(h *faissHeader) code.Codec {
	at := r.at
	kind := r.i32("a type of scalar quantiser")
	if r.err == nil && (kind < 0 || kind > int32(code.Signed8)) {
		r.err = &UnsupportedError{Type: scalarType(h.code, kind), Hint: hintRebuild}
		return nil
	}
	r.u32("how ranges were trained")
	r.u32("how ranges were trained")
	dim, size := r.u64("a dimension"), r.u64("code_size")
	r.expect(dim == uint64(h.dim), 16, fmt.Sprintf("%d dimensions", h.dim), "%d", dim)
	trained := r.vector(4, "numbers of ranges")
	r.file.part("ranges", at, r.at-at)
	if r.err != nil {
		return nil
	}
	c, err := code.NewSQ(code.Scalar(kind), h.dim, float32s(trained))
	if err != nil {
		r.fail(at, "ranges of dimensions as their type has them", "%v", err)
		return nil
	}
	r.expect(size == uint64(c.Bytes()), len(trained)+16, fmt.Sprintf("codes of %d bytes", c.Bytes()), "%d", size)
	return c
}

// product reads a product quantiser.
func (r *faissReader) product(h *faissHeader) code.Codec {
	at := r.at
	parts, bits, centroids := r.partsAndBits(h)
	r.file.part("centroids of parts", at, r.at-at)
	if r.err != nil {
		return nil
	}
	c, err := code.NewPQ(h.dim, parts, bits, centroids)
	if err != nil {
		r.err = err
	}
	return c
}

// steps reads a product of residual quantisers: all of them as one, and then each by itself, which says the same once more.
func (r *faissReader) steps(h *faissHeader) code.Codec {
	at := r.at
	all := r.additive(h.dim)
	parts := r.u64("nsplits")
	r.expect(parts > 0 && parts <= uint64(all.steps) && all.steps%int(max(parts, 1)) == 0 && h.dim%int(max(parts, 1)) == 0, 8,
		fmt.Sprintf("%d steps of %d dimensions in parts", all.steps, h.dim), "%d parts", parts)
	if r.err != nil {
		return nil
	}
	kind := int32(all.kind)
	if kind != searchFloat && !(kind == searchNone && h.metric != dist.L2) {
		r.err = &UnsupportedError{Type: fmt.Sprintf("PRQ with search_type %d", kind), Hint: hintRebuild}
		return nil
	}
	c, err := code.NewPRQ(h.dim, int(parts), all.steps/int(parts), all.bits, all.centroids, kind == searchFloat)
	if err != nil {
		r.fail(at, "centroids of steps", "%v", err)
		return nil
	}
	for range parts {
		own := r.additive(h.dim / int(parts))
		r.expect(own.bits == all.bits && own.steps == all.steps/int(parts), 0, fmt.Sprintf("a part of %d steps of %d bits", all.steps/int(parts), all.bits), "%d of %d", own.steps, own.bits)
		r.u32("train_type")
		r.u32("max_beam_size")
		if r.err != nil {
			return nil
		}
	}
	r.file.part("centroids of parts", at, r.at-at)
	return c
}

// What the codes of an additive quantiser have beside centroids (AdditiveQuantizer::Search_type_t, faiss/impl/AdditiveQuantizer.h).
const (
	searchNone  = 1 // ST_LUT_nonorm
	searchFloat = 3 // ST_norm_float
)

// additive is write_AdditiveQuantizer of index_write.cpp.
type additive struct {
	steps, bits int
	centroids   []float32
	kind        uint32
}

func (r *faissReader) additive(want int) (a additive) {
	dim := r.u64("a dimension")
	r.expect(dim == uint64(want), 8, fmt.Sprintf("%d dimensions", want), "%d", dim)
	a.steps = r.count("a count of steps")
	at := r.at
	bits := r.vector(8, "bits of steps")
	r.expect(a.steps > 0 && len(bits)/8 == a.steps, len(bits)+8, fmt.Sprintf("the bits of %d steps", a.steps), "%d", len(bits)/8)
	r.u8("is_trained")
	a.centroids = float32s(r.vector(4, "values of the centroids of steps"))
	a.kind = r.u32("search_type")
	r.u32("norm_min")
	r.u32("norm_max")
	if r.err != nil {
		return a
	}
	for i := range a.steps {
		b := le64(bits, i)
		if b != le64(bits, 0) || b < 1 || b > 16 {
			r.fail(at+8+8*i, "steps of 1 to 16 bits, the same of all", "%d", b)
			return a
		}
	}
	a.bits = int(le64(bits, 0))
	return a
}
