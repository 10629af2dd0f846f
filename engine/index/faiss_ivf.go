package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// ivf reads an inverted file of float32 vectors. The vectors stay in place. If knowhere 1 omitted them, they come
// from the hint's RawData.
// Sources: faiss 1.15, faiss/impl/index_write.cpp, write_ivf_header and write_InvertedLists; knowhere v2.2.3, the
// same file, write_InvertedLists_nm.
func (r *faissReader) ivf(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inverted(&h, r.quantizer, nil)
	return h
}

// inverted reads the body of an inverted file. quantizer reads its centroids. codec reads the quantizer of the
// rows; it is nil if the rows are not quantized.
func (r *faissReader) inverted(
	h *faissHeader, quantizer func(h *faissHeader, lists int) *engine.Vectors, codec func(h *faissHeader) *ivf.SQ8,
) {
	r.file.part("header", r.at, 16)
	lists, probe := r.count("nlist"), r.count("nprobe")
	ix := &ivf.Index{Metric: h.metric, NProbe: probe, Centroids: quantizer(h, lists)}
	r.directMap()
	row, kind := *h, "vectors" // the rows of the lists
	if codec != nil && r.err == nil {
		c := codec(h)
		if r.err != nil {
			return
		}
		ix.Codec, row.element, row.dim, kind = c, dist.Int8, c.Dim(), "codes"
	}
	at := r.at
	inner := r.code()
	if r.err == nil && inner != "ilar" {
		r.err = unsupportedLists(at, inner)
	}
	nlist, size := r.u64("nlist"), r.u64("code_size")
	r.expect(nlist == uint64(lists), 16, fmt.Sprintf("%d lists, one for each centroid", lists), "%d", nlist)
	r.expect(size == uint64(row.element.Bytes(row.dim)), 8,
		fmt.Sprintf("codes of %d bytes", row.element.Bytes(row.dim)), "%d", size)
	sizes := r.sizes(lists, h.rows)
	r.file.part("lists", at, r.at-at)
	if r.err != nil {
		return
	}
	if h.rows > 0 && r.left() == 8*h.rows && row.element == dist.Float32 {
		r.listsWithoutCodes(h, ix, sizes)
	} else {
		ix.Lists = r.lists(&row, sizes, kind)
	}
	r.file.Searchable = FromLists(ix)
}

// quantizer reads the index of the centroids, which must be flat.
func (r *faissReader) quantizer(h *faissHeader, lists int) *engine.Vectors {
	at := r.at
	code := r.code()
	switch code {
	case "IxF2", "IxFI", "IxFl", "IxF9":
	default:
		if r.err == nil {
			r.err = &UnsupportedError{
				Type: fmt.Sprintf("%s with centroids in %s", h.code, typeName(code)), Hint: hintRebuild,
			}
		}
		return nil
	}
	q := r.header(at, code)
	r.expect(q.dim == h.dim && q.rows == lists && lists > 0, r.at-at-4,
		fmt.Sprintf("%d centroids of %d dimensions", lists, h.dim), "%d of %d", q.rows, q.dim)
	return r.flat(&q, "centroids").Vectors
}

// directMap skips the map from ids to lists, which a search does not use.
func (r *faissReader) directMap() {
	at := r.at
	kind := r.u8("the type of a direct map")
	r.expect(kind <= 3, 1, "the type of a direct map", "%d", kind)
	r.vector(8, "places of a direct map")
	switch kind {
	case 2:
		r.vector(16, "pairs of a direct map")
	case 3: // knowhere's, of IVF_FLAT_CC
		r.vector(8, "places of a direct map")
	}
	r.file.part("direct map", at, r.at-at)
}

// sizes reads the sizes of the lists: either of all lists, or pairs of number and size for the non-empty ones.
func (r *faissReader) sizes(lists, rows int) []int {
	at := r.at
	form := string(r.bytes(4, "full or sprs"))
	r.expect(form == "full" || form == "sprs", 4, "full or sprs", "%q", form)
	step := 1
	if form == "sprs" {
		step = 2
	}
	list := r.vector(8, "sizes of lists")
	n := len(list) / 8 / step
	r.expect(len(list)/8 == n*step && n <= lists && (step == 2 || n == lists), len(list)+8,
		fmt.Sprintf("the sizes of %d lists", lists), "%d numbers", len(list)/8)
	if r.err != nil {
		return nil
	}
	sizes := make([]int, lists)
	sum := uint64(0)
	for i := range n {
		no, size := uint64(i), le64(list, i*step+step-1)
		if step == 2 {
			no = le64(list, 2*i)
		}
		if no >= uint64(lists) || size > uint64(rows)-sum || sizes[no] != 0 {
			r.fail(at+12+8*step*i, fmt.Sprintf("the size of one of %d lists, %d rows in total", lists, rows),
				"list %d of %d rows", no, size)
			return nil
		}
		sizes[no] = int(size)
		sum += size
	}
	if sum != uint64(rows) {
		r.fail(at, fmt.Sprintf("lists of %d rows together", rows), "%d", sum)
	}
	return sizes
}

// lists reads the lists. Each non-empty list has its vectors or codes (kind is their name), its ids and, for
// knowhere's cosine, the norms.
func (r *faissReader) lists(h *faissHeader, sizes []int, kind string) []ivf.List {
	none := r.view(h, 0, nil)
	lists := make([]ivf.List, len(sizes))
	for i, n := range sizes {
		if n == 0 {
			lists[i].Vectors = none
			continue
		}
		at := r.at
		codes := r.array(uint64(n), h.element.Bytes(h.dim), kind+" of a list")
		lists[i].Vectors = r.view(h, n, codes)
		r.file.part(kind, at, len(codes))
		r.ids(&lists[i], n)
		if h.cosine {
			at := r.at
			lists[i].Norms = float32s(r.array(uint64(n), 4, "norms of a list"))
			r.file.part("norms", at, r.at-at)
		}
		if r.err != nil {
			return nil
		}
	}
	return lists
}

// ids reads the ids of a list.
func (r *faissReader) ids(l *ivf.List, n int) {
	at := r.at
	l.IDs = int64s(r.array(uint64(n), 8, "ids of a list"))
	r.file.part("ids", at, r.at-at)
}

// listsWithoutCodes reads lists that contain only ids, and takes their vectors from RAW_DATA.
func (r *faissReader) listsWithoutCodes(h *faissHeader, ix *ivf.Index, sizes []int) {
	at := r.at
	if r.hint.RawData == nil {
		r.fail(at, "the vectors of the lists", "ids only: the vectors are in the blob RAW_DATA next to this one")
		return
	}
	size := 4 * h.dim
	if len(r.hint.RawData)/size != h.rows || len(r.hint.RawData)%size != 0 {
		r.fail(at, fmt.Sprintf("%d vectors of %d bytes in RAW_DATA", h.rows, size), "%d bytes", len(r.hint.RawData))
		return
	}
	raw := r.view(h, h.rows, r.hint.RawData)
	ix.Lists = make([]ivf.List, len(sizes))
	for i, n := range sizes {
		r.ids(&ix.Lists[i], n)
	}
	if r.err != nil {
		return
	}
	if err := ix.Restore(raw); err != nil {
		r.fail(at, "ids of rows in RAW_DATA", "%v", err)
	}
}
