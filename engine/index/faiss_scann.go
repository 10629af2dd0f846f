package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/scann"
)

// scann reads knowhere's SCANN: an inverted file of vectors in parts of 4 bits, and, if the index keeps them, a flat index of the vectors
// by which the best are compared again. Codes stay where they lie.
// Source: knowhere v2.2.3, v2.3.12 and v2.6.9, thirdparty/faiss/faiss/impl/index_write.cpp, IndexScaNN and IndexIVFPQFastScan.
func (r *faissReader) scann(at int, code string) faissHeader {
	h := r.header(at, code)
	at = r.at
	inner := r.code()
	r.expect(inner == "IwPf", 4, "an inverted file of parts of 4 bits (IwPf)", "%q", inner)
	base := r.header(at, inner)
	r.expect(r.err != nil || base.dim == h.dim && base.rows == h.rows && base.metric != dist.Cosine, r.at-at,
		fmt.Sprintf("codes of %d vectors of %d dimensions", h.rows, h.dim), "%d of %d", base.rows, base.dim)
	x := &scann.Index{Metric: base.metric}
	lists := r.count("nlist")
	x.NProbe = r.count("nprobe")
	x.Centroids = r.quantizer(&base, lists)
	r.directMap()
	r.fastScan(x, &base)
	r.blocks(x, lists, h.rows)
	if raw := r.u8("whether vectors are kept"); raw != 0 {
		r.expect(raw == 1, 1, "a flag", "%d", raw)
		x.Rows = r.refinement(&h)
		if norms := x.Norms; r.err == nil && norms != nil {
			x.SetNorms(norms)
		}
	}
	r.u32("k_factor")
	if r.err == nil {
		h.metric, r.file.Searchable = x.Metric, FromCodes(x)
	}
	return h
}

// fastScan reads how rows are coded.
func (r *faissReader) fastScan(x *scann.Index, h *faissHeader) {
	at := r.at
	residual := r.u8("by_residual")
	size := r.u64("code_size")
	block := r.i32("rows of a block")
	padded := r.u64("parts of a block")
	r.u32("implem")
	r.u64("qbs2")
	if r.err == nil && (residual != 0 || block != 32) {
		r.err = &UnsupportedError{Type: fmt.Sprintf("SCANN with residuals or blocks of %d rows", block), Hint: hintRebuild}
	}
	cosine := r.u8("a flag for cosine")
	r.expect(cosine == 0 || cosine == 1 && h.metric == dist.InnerProduct, 1, "a flag for cosine", "%d", cosine)
	if cosine == 1 {
		x.Metric = dist.Cosine
		norms := r.vector(4, "norms")
		r.expect(len(norms)/4 == h.rows, len(norms)+8, fmt.Sprintf("%d norms", h.rows), "%d", len(norms)/4)
		x.Norms = float32s(norms)
	}
	dim, parts, bits := r.u64("a dimension"), r.u64("a count of parts"), r.u64("bits of a part")
	r.expect(dim == uint64(h.dim) && parts > 0 && parts <= dim && dim%max(parts, 1) == 0 && bits == 4, 24,
		fmt.Sprintf("%d dimensions in parts of one width and 4 bits", h.dim), "%d in %d of %d bits", dim, parts, bits)
	r.expect(size == (parts+1)/2 && padded == (parts+1)/2*2, 24, fmt.Sprintf("codes of %d parts", parts), "codes of %d bytes in blocks of %d parts", size, padded)
	centroids := r.vector(4, "values of the centroids of parts")
	r.expect(r.err != nil || len(centroids)/64 == h.dim && len(centroids)%64 == 0, len(centroids)+8,
		fmt.Sprintf("16 values of centroids for each of %d dimensions", h.dim), "%d values", len(centroids)/4)
	r.file.part("centroids of parts", at, r.at-at)
	if r.err != nil {
		return
	}
	if width := dim / parts; width >= 16 { // knowhere has 2, and tables of 16 and more are faiss's BLAS's affair
		r.err = &UnsupportedError{Type: fmt.Sprintf("SCANN with parts of %d dimensions", width), Hint: hintRebuild}
		return
	}
	x.Parts, r.err = scann.NewParts(int(parts), int(dim/parts), float32s(centroids))
}

// blocks reads the lists, whose rows are coded 32 at a time (BlockInvertedLists, faiss/invlists).
func (r *faissReader) blocks(x *scann.Index, lists, rows int) {
	at := r.at
	inner := r.code()
	if r.err == nil && inner != "ilbl" {
		r.err = unsupportedLists(at, inner)
	}
	if r.err != nil {
		return
	}
	bytes := x.Parts.BlockBytes()
	nlist := r.u64("nlist")
	r.u64("code_size")
	per, size := r.u64("rows of a block"), r.u64("bytes of a block")
	r.expect(nlist == uint64(lists) && per == 32 && size == uint64(bytes), 32,
		fmt.Sprintf("%d lists in blocks of 32 rows and %d bytes", lists, bytes), "%d in blocks of %d and %d", nlist, per, size)
	if r.err != nil || !r.fits(lists, 16, "lists") {
		return
	}
	x.Lists = make([]scann.List, lists)
	sum := 0
	for i := range x.Lists {
		l := &x.Lists[i]
		at := r.at
		l.IDs = int64s(r.vector(8, "ids of a list"))
		r.file.part("ids", at, r.at-at)
		at = r.at
		l.Blocks = r.vector(1, "codes of a list")
		r.expect(len(l.Blocks) == (len(l.IDs)+31)/32*bytes, len(l.Blocks)+8, fmt.Sprintf("codes of %d rows", len(l.IDs)), "%d bytes", len(l.Blocks))
		r.file.part("codes", at, r.at-at)
		if r.err != nil {
			return
		}
		sum += len(l.IDs)
		for j, id := range l.IDs {
			if id < 0 || id >= int64(rows) {
				r.fail(at-8*(len(l.IDs)-j), fmt.Sprintf("an id of %d rows", rows), "%d", id)
				return
			}
		}
	}
	r.expect(sum == rows, 0, fmt.Sprintf("lists of %d rows together", rows), "%d", sum)
}

// fits reports whether there are as many bytes left as n of a size take.
func (r *faissReader) fits(n, size int, what string) bool {
	if n > r.left()/size {
		r.fail(r.at, fmt.Sprintf("%d %s", n, what), "%d bytes", r.left())
		return false
	}
	return true
}

// refinement reads the vectors.
func (r *faissReader) refinement(h *faissHeader) *engine.Vectors {
	at := r.at
	code := r.code()
	r.expect(code == "IxF2" || code == "IxFI" || code == "IxFl", 4, "vectors in a flat index", "%q", code)
	rows := r.header(at, code)
	r.expect(r.err != nil || rows.dim == h.dim && rows.rows == h.rows && !rows.cosine, r.at-at,
		fmt.Sprintf("%d vectors of %d dimensions", h.rows, h.dim), "%d of %d", rows.rows, rows.dim)
	var x *flat.Index
	if x = r.flat(&rows, "vectors"); r.err != nil {
		return nil
	}
	return x.Vectors
}
