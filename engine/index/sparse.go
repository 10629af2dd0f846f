package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// Names of the sparse index types and of their blobs. The types differ in their search algorithm, not in the file.
const (
	SparseInverted = "SPARSE_INVERTED_INDEX"
	SparseWand     = "SPARSE_WAND"
)

// isSparseType reports whether name is the type of a sparse index.
func isSparseType(name string) bool {
	name = strings.ToUpper(name)
	return name == SparseInverted || name == SparseWand
}

// There are two forms of a sparse blob.
//
// The form of rows, up to Milvus 2.5 (index version below 8), has the number of rows as int64 (negative in an early
// 2.4 for SPARSE_WAND), the number of dimensions as u64, an unused float32, and for each row its count of values as
// u64 and the values.
//
// The form of lists, since 2.6, has a header of 32 bytes, a table of sections, and the sections.
//
// Sources: knowhere v2.3.12 and v2.5.6, src/index/sparse/sparse_inverted_index.h, Save and Load; v2.6.9, Serialize
// and Deserialize.
const (
	sparseRowsHeader  = 20
	sparseListsHeader = 36
	sparseSection     = 24
	maxSections       = 64
)

// Numbers of the sections of the form of lists. Others are ignored, as knowhere does.
const (
	sectionLists   = 0
	sectionNames   = 2
	sectionLengths = 3
	sectionStats   = 5 // counts of values, of each row and of each list
)

// sniffSparseLists reports whether data begins with a header of the form of lists.
func sniffSparseLists(data []byte) bool {
	if len(data) < sparseListsHeader || le32(data, 0) != 1 {
		return false
	}
	for _, b := range data[16:32] {
		if b != 0 {
			return false
		}
	}
	n := le32(data, 8)
	return n >= 2 && n <= maxSections && len(data) >= sparseListsHeader+int(n)*sparseSection &&
		le32(data, sparseListsHeader/4) == sectionLists
}

// sniffSparseRows reports whether all of data parses as the form of rows, and at least one row has a value. A
// shorter match would accept the beginning of other formats.
func sniffSparseRows(data []byte) bool {
	if len(data) < sparseRowsHeader {
		return false
	}
	rows := int64(le64(data, 0))
	if rows < 0 {
		rows = -rows
	}
	left, none := data[sparseRowsHeader:], true
	if rows < 0 || rows > int64(len(left)/8) || le64(data, 1) > math.MaxUint32+1 {
		return false
	}
	for range rows {
		if len(left) < 8 || le64(left, 0) > uint64((len(left)-8)/sparse.PairBytes) {
			return false
		}
		none = none && le64(left, 0) == 0
		left = left[8+int(le64(left, 0))*sparse.PairBytes:]
	}
	return len(left) == 0 && !none
}

// sparseMetric returns BM25 if the hint names it, otherwise IP.
func sparseMetric(c *cursor, hint Hint) engine.Metric {
	if m := hint.Metric; m != dist.BM25 && m != dist.InnerProduct && m != dist.L2 { // L2 is the zero value: no hint
		c.fail(0, "sparse vectors of IP or BM25", "%s", m)
	}
	if hint.Metric == dist.BM25 {
		return dist.BM25
	}
	return dist.InnerProduct
}

// readSparseRows reads the form of rows, and builds lists from it.
func readSparseRows(c *cursor, hint Hint) (*File, error) {
	rows := int64(c.u64("a count of rows"))
	hint.wand = hint.wand || rows < 0
	if rows < 0 {
		rows = -rows
	}
	dim := c.u64("a count of dimensions")
	c.u32("a threshold")
	metric := sparseMetric(c, hint)
	c.expect(rows >= 0 && uint64(rows) <= uint64(c.left()/8), 20, fmt.Sprintf("at most %d rows", c.left()/8), "%d",
		rows)
	if c.err != nil {
		return nil, c.err
	}
	f := &File{Format: KnowhereSparse, Metric: metric, Dim: int(min(dim, math.MaxInt)), Rows: int(rows)}
	f.part("header", 0, c.at)
	offsets := make([]int, 1, rows+1)
	first := c.at
	offsets[0] = first
	for i := range rows {
		c.array(c.u64(fmt.Sprintf("the count of values of row %d", i)), sparse.PairBytes, "values of a row")
		offsets = append(offsets, c.at)
	}
	c.end()
	if c.err != nil {
		return nil, c.err
	}
	f.part("rows", first, c.at-first)
	v, err := engine.ViewSparse(c.data, offsets, 8)
	if err != nil {
		return nil, err
	}
	if err := finitePairs(v); err != nil {
		return nil, err
	}
	x, err := sparse.Build(v, metric)
	if err != nil {
		return nil, err
	}
	return f, f.sparse(x, hint)
}

// finitePairs rejects NaN and infinite values, which Milvus does not accept and which cannot be ordered.
func finitePairs(v *engine.Vectors) error {
	for i := range v.Rows {
		for b := v.Row(i); len(b) >= sparse.PairBytes; b = b[sparse.PairBytes:] {
			if le32(b, 1)&0x7f800000 == 0x7f800000 {
				return notFound(0, "finite values", fmt.Sprintf("%g in row %d", math.Float32frombits(le32(b, 1)), i))
			}
		}
	}
	return nil
}

// sparse sets the Searchable of f to the lists.
func (f *File) sparse(x *sparse.Index, hint Hint) error {
	if x.Dim > f.Dim {
		return notFound(8, fmt.Sprintf("values of %d dimensions", f.Dim), fmt.Sprintf("dimension %d", x.Dim-1))
	}
	x.Dim, x.Wand = f.Dim, hint.wand
	f.Searchable = FromSparse(x)
	return nil
}

// sparseLists reads the form of lists.
type sparseLists struct {
	*cursor
	file     *File
	sections map[uint32]section
	x        *sparse.Index
	names    int
}

type section struct {
	at   int
	data []byte
}

func readSparseLists(c *cursor, hint Hint) (*File, error) {
	r := &sparseLists{cursor: c}
	r.header(hint)
	r.lists()
	r.others()
	if c.err != nil {
		return nil, c.err
	}
	if err := r.x.Finish(); err != nil {
		return nil, err
	}
	return r.file, r.file.sparse(r.x, hint)
}

// header reads the counts and the table of sections.
func (r *sparseLists) header(hint Hint) {
	r.u32("a version")
	rows, dim, names := r.u32("a count of rows"), r.u32("a count of dimensions"), r.u32("a count of lists")
	// A row has at least one value, or four bytes in the section of statistics, which Milvus's builds write.
	r.expect(uint64(rows) <= uint64(len(r.data)), 12, fmt.Sprintf("at most %d rows", len(r.data)), "%d", rows)
	r.bytes(16, "a header")
	n := r.u32("a count of sections")
	r.expect(n <= maxSections, 4, fmt.Sprintf("at most %d sections", maxSections), "%d", n)
	sparseMetric(r.cursor, hint)
	r.sections = map[uint32]section{}
	for i := 0; i < int(n) && r.err == nil; i++ {
		kind := r.u32("a section")
		r.u32("a section")
		offset, size := r.u64("the offset of a section"), r.u64("the size of a section")
		r.expect(r.err != nil || offset <= uint64(len(r.data)) && size <= uint64(len(r.data))-offset, 16,
			fmt.Sprintf("a section within %d bytes", len(r.data)), "%d bytes from %d on", size, offset)
		if r.err != nil {
			break
		}
		for other, s := range r.sections {
			r.expect(kind != other && (offset+size <= uint64(s.at) || uint64(s.at+len(s.data)) <= offset), 16,
				"sections that do not overlap", "%d bytes from %d on, and %d from %d on", size, offset, len(s.data),
				s.at)
		}
		r.sections[kind] = section{int(offset), r.data[offset : offset+size]}
	}
	r.names = int(names)
	r.x = &sparse.Index{Rows: int(rows), Dim: int(dim), Metric: dist.InnerProduct}
	if _, bm25 := r.sections[sectionLengths]; bm25 {
		r.x.Metric = dist.BM25
	}
	r.file = &File{Format: KnowhereSparse, Metric: r.x.Metric, MetricKnown: true, Dim: int(dim), Rows: int(rows)}
	r.file.part("header", 0, r.at)
}

// lists reads the ids and values.
func (r *sparseLists) lists() {
	if r.err != nil {
		return
	}
	s := r.sections[sectionLists]
	c := cursor{data: s.data}
	encoding := c.u32("an encoding")
	if encoding != 0 { // knowhere 3.0 has blocks and compression
		r.err = &UnsupportedError{
			Type: fmt.Sprintf("%s with lists of encoding %d", SparseInverted, encoding), Hint: hintRebuild,
		}
		return
	}
	starts := c.array(uint64(r.names)+1, 8, "starts of lists")
	if c.err == nil {
		r.x.Starts = make([]uint64, r.names+1)
		for i := range r.x.Starts {
			r.x.Starts[i] = le64(starts, i)
		}
		total, width := r.x.Starts[r.names], 4
		if r.x.Metric == dist.BM25 {
			width = 2
		}
		r.x.IDs = uint32s(c.array(total, 4, "ids of rows"))
		r.x.Values = sparseValues(c.array(total, width, "values"), width)
	}
	c.end()
	if wrong, ok := errors.AsType[*FormatError](c.err); ok {
		wrong.Offset += s.at
		r.err = wrong
	}
	r.finite(s, r.x.Values)
	r.file.part("lists", s.at, len(s.data))
}

// others reads the sections other than the lists.
func (r *sparseLists) others() {
	if r.err != nil {
		return
	}
	x := r.x
	s := r.sections[sectionNames]
	x.Names = uint32s(r.sectionData(s, r.names, "dimensions"))
	for _, name := range x.Names {
		if int(name) >= x.Dim {
			r.fail(s.at, fmt.Sprintf("values of %d dimensions", x.Dim), "dimension %d", name)
		}
	}
	if x.Metric == dist.BM25 {
		s := r.sections[sectionLengths]
		x.Lengths = float32s(r.sectionData(s, x.Rows, "lengths of rows"))
		r.finite(s, x.Lengths)
	}
	if s, ok := r.sections[sectionStats]; ok {
		r.sectionData(s, x.Rows+r.names, "counts of values of rows and lists")
	}
}

// sectionData returns the data of a section of n 4-byte numbers.
func (r *sparseLists) sectionData(s section, n int, what string) []byte {
	if len(s.data) != 4*n {
		r.fail(s.at, fmt.Sprintf("%d %s", n, what), "%d bytes", len(s.data))
		return nil
	}
	r.file.part(what, s.at, len(s.data))
	return s.data
}

// finite rejects NaN and infinite values, which cannot be ordered.
func (r *sparseLists) finite(s section, values []float32) {
	for _, v := range values {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			r.fail(s.at, "finite values", "%g", v)
			return
		}
	}
}

func uint32s(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = le32(b, i)
	}
	return v
}

// sparseValues decodes float32 values (width 4) or 16-bit integers.
func sparseValues(b []byte, width int) []float32 {
	if width == 4 {
		return float32s(b)
	}
	v := make([]float32, len(b)/2)
	for i := range v {
		v[i] = float32(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return v
}
