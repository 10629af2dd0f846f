package index

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// A faiss file is a tree of indexes. Each has a four-character code, a header, and a body that may contain further
// indexes.
// Sources: faiss 1.15, faiss/impl/index_write.cpp; knowhere v2.2.3 to v2.6.9, the file of the same name in
// thirdparty/faiss, which adds its own codes and norms for cosine.

// faissHeader is the header of an index, which follows its code.
type faissHeader struct {
	at       int // offset of the code
	code     string
	element  dist.Element
	dim      int
	rows     int
	cosine   bool // knowhere's flag, in bytes that faiss does not use
	knowhere bool // these bytes are not faiss's 1<<20
	metric   engine.Metric
}

// faissReader reads one file. It stops at the cursor's first error.
type faissReader struct {
	*cursor
	file  *File
	hint  Hint
	inMap bool // inside an id map
}

// sniffFaiss reports whether data begins with a faiss code. Every known code of an index is an I and three letters
// or digits.
func sniffFaiss(data []byte) bool {
	if len(data) < 4 || data[0] != 'I' {
		return false
	}
	return !slices.ContainsFunc(data[1:4], func(b byte) bool {
		return (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z')
	})
}

func readFaiss(c *cursor, hint Hint) (*File, error) {
	r := &faissReader{cursor: c, file: &File{Format: Faiss, MetricKnown: true}, hint: hint}
	h := r.index(false)
	r.end()
	if c.err != nil {
		return nil, c.err
	}
	f := r.file
	f.Metric, f.Dim, f.Rows = h.metric, h.dim, h.rows
	if h.knowhere {
		f.Format = KnowhereFaiss
	}
	return f, nil
}

// index reads the index at the cursor. mapped is true inside an id map.
func (r *faissReader) index(mapped bool) faissHeader {
	at := r.at
	code := r.code()
	if code == "IxMp" || code == "IxM2" {
		if mapped {
			r.fail(at, "an index that has rows", "an id map inside an id map")
			return faissHeader{}
		}
		return r.idMap(at, code)
	}
	if t, ok := typeOf(code); ok && t.read != nil {
		return t.read(r, at, code)
	}
	if !sniffFaiss([]byte(code)) {
		r.fail(at, "the code of an index", "%q", code)
	}
	if r.err == nil {
		r.err = unsupportedCode(code)
	}
	return faissHeader{}
}

// code reads a four-character code.
func (r *faissReader) code() string {
	code := string(r.bytes(4, "a four-character code"))
	if r.err == nil {
		r.file.Codes = append(r.file.Codes, code)
	}
	return code
}

// faissUnused is the value that faiss writes in place of knowhere's cosine flag.
const faissUnused = 1 << 20

// cosineUnset reports whether knowhere leaves the cosine flag uninitialized in indexes with this code, unless the
// metric is cosine. Files of Milvus 2.3.5 and graphs of knowhere 2.5.6 have any byte there. The codes of graphs and of
// their storage distinguish cosine without the flag.
func cosineUnset(code string) bool {
	return code == "IwSq" || strings.HasPrefix(code, "IHN")
}

// header reads the header of an index. Its code at offset at was just read.
func (r *faissReader) header(at int, code string) faissHeader {
	h := faissHeader{at: at, code: code}
	dim := r.i32("a dimension")
	r.expect(dim > 0, 4, "a dimension", "%d", dim)
	r.expect(r.hint.Dim == 0 || int(dim) == r.hint.Dim, 4, fmt.Sprintf("vectors of %d dimensions", r.hint.Dim), "%d",
		dim)
	h.dim = int(dim)
	h.rows = r.count("a count of rows")
	unused := r.u64("a header")
	h.knowhere = unused != faissUnused
	if cosineUnset(code) && h.knowhere {
		r.expect(unused <= 255, 8, fmt.Sprintf("%d, or a byte that knowhere leaves uninitialized", faissUnused), "%d",
			unused)
		unused = 0
	}
	h.cosine = unused == 1
	r.expect(unused <= 1 || unused == faissUnused, 8, fmt.Sprintf("%d, or knowhere's flag for cosine", faissUnused),
		"%d", unused)
	r.u64("a header")
	trained := r.u8("is_trained")
	r.expect(trained <= 1, 1, "a flag", "%d", trained)
	h.metric = r.metric(code, h.cosine)
	r.file.part("header", at, r.at-at)
	return h
}

// metric reads the metric.
func (r *faissReader) metric(code string, cosine bool) engine.Metric {
	metric := r.i32("a metric")
	switch {
	case r.err != nil:
	case metric == 0 && (cosine || slices.Contains([]string{"IxF9", "IHN9"}, code)):
		return dist.Cosine
	case metric == 0:
		return dist.InnerProduct
	case metric == 1:
		return dist.L2
	case metric > 1 && metric < 64:
		r.err = &UnsupportedError{Type: fmt.Sprintf("faiss %s of metric %d", code, metric), Hint: hintRebuild}
	default:
		r.fail(r.at-4, "a metric", "%d", metric)
	}
	return 0
}

// rows reads a flat index of float32.
func (r *faissReader) rows(at int, code string) faissHeader {
	h := r.header(at, code)
	r.file.Searchable = FromRows(r.flat(&h, "vectors"))
	return h
}

// flat reads the body of a flat index: a count of 4-byte units, and the rows, which stay in place.
func (r *faissReader) flat(h *faissHeader, part string) *flat.Index {
	r.file.part("header", r.at, 8)
	n := r.u64("a count of 4-byte units")
	r.expect(r.err != nil || n/uint64(h.dim) == uint64(h.rows) && n%uint64(h.dim) == 0, 8,
		fmt.Sprintf("%d rows of %d units", h.rows, h.dim), "%d units", n)
	at := r.at
	rows := r.array(n, 4, "units of "+part)
	ix := &flat.Index{Metric: h.metric, Vectors: r.view(h, h.rows, rows)}
	r.file.part(part, at, len(rows))
	if h.cosine || h.code == "IxF9" {
		at := r.at
		norms := r.vector(4, "norms")
		r.expect(len(norms)/4 == h.rows, len(norms)+8, fmt.Sprintf("%d norms", h.rows), "%d", len(norms)/4)
		ix.Norms = float32s(norms)
		r.file.part("norms", at, r.at-at)
	}
	return ix
}

// view returns contiguous rows in place.
func (r *faissReader) view(h *faissHeader, rows int, data []byte) *engine.Vectors {
	if r.err != nil {
		return nil
	}
	v, err := engine.View(h.element, h.dim, rows, h.element.Bytes(h.dim), data)
	if err != nil {
		r.err = err
	}
	return v
}

// idMap reads an index with its own ids. The file does not contain the reverse map of IxM2.
func (r *faissReader) idMap(at int, code string) faissHeader {
	h := r.header(at, code)
	r.inMap = true
	inner := r.index(true)
	r.inMap = false
	r.expect(r.err != nil || inner.dim == h.dim && inner.rows == h.rows, r.at-at,
		fmt.Sprintf("the id map of %d rows of %d dimensions", inner.rows, inner.dim), "%d of %d", h.rows, h.dim)
	at = r.at
	ids := r.vector(8, "ids")
	r.expect(len(ids)/8 == h.rows, len(ids)+8, fmt.Sprintf("%d ids", h.rows), "%d", len(ids)/8)
	if r.err != nil {
		return h
	}
	r.file.part("ids", at, r.at-at)
	labels := int64s(ids)
	if identity(labels) {
		labels = nil
	}
	if wrong := r.file.relabel(labels); wrong != nil {
		wrong.Offset, r.err = at, wrong
	}
	h.metric = inner.metric
	return h
}
