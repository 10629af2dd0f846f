package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// Names of the types of inverted lists of sparse vectors, and of their blobs. What walks them differs, not what is in the file.
const (
	SparseInverted = "SPARSE_INVERTED_INDEX"
	SparseWand     = "SPARSE_WAND"
)

// isSparseType reports whether an index has lists of sparse vectors.
func isSparseType(name string) bool {
	name = strings.ToUpper(name)
	return name == SparseInverted || name == SparseWand
}

// There are two forms of such a blob. Rows, up to Milvus 2.5 (index version below 8): their number as int64, which is negative where
// an early 2.4 means SPARSE_WAND, the number of dimensions as u64, a float32 without use, and for each row its count of values as u64
// and the values. Lists, from 2.6 on: a header of 32 bytes, a table of sections, and these.
// Sources: knowhere v2.3.12 and v2.5.6, src/index/sparse/sparse_inverted_index.h, Save and Load; v2.6.9, Serialize and Deserialize.
const (
	sparseRowsHeader  = 20
	sparseListsHeader = 36
	sparseSection     = 24
	maxSections       = 64
)

// sections of lists, by their numbers; others are passed over, as there.
const (
	sectionLists   = 0
	sectionNames   = 2
	sectionLengths = 3
	sectionMost    = 4
)

// sniffSparseLists reports whether data begins as lists of sparse vectors do.
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
	return n >= 2 && n <= maxSections && len(data) >= sparseListsHeader+int(n)*sparseSection && le32(data, sparseListsHeader/4) == sectionLists
}

// sniffSparseRows reports whether data is rows of sparse vectors from its beginning to its end.
func sniffSparseRows(data []byte) bool {
	if len(data) < sparseRowsHeader {
		return false
	}
	rows := int64(le64(data, 0))
	if rows < 0 {
		rows = -rows
	}
	left := data[sparseRowsHeader:]
	if rows < 0 || rows > int64(len(left)/8) || le64(data, 1) > math.MaxUint32+1 {
		return false
	}
	for range rows {
		if len(left) < 8 || le64(left, 0) > uint64((len(left)-8)/sparse.PairBytes) {
			return false
		}
		left = left[8+int(le64(left, 0))*sparse.PairBytes:]
	}
	return len(left) == 0
}

// sparseMetric is IP, but where the hint says BM25.
func sparseMetric(c *cursor, hint Hint) engine.Metric {
	switch hint.Metric {
	case dist.BM25:
		return dist.BM25
	case dist.InnerProduct, dist.L2: // L2 is a hint of nothing
		return dist.InnerProduct
	}
	c.fail(0, "sparse vectors of IP or BM25", "%s", hint.Metric)
	return 0
}

// readSparseRows reads the form of rows, and makes lists of them.
func readSparseRows(c *cursor, hint Hint) (*File, error) {
	rows := int64(c.u64("a count of rows"))
	hint.wand = hint.wand || rows < 0
	if rows < 0 {
		rows = -rows
	}
	dim := c.u64("a count of dimensions")
	c.u32("a threshold")
	metric := sparseMetric(c, hint)
	c.expect(rows >= 0 && uint64(rows) <= uint64(c.left()/8), 20, fmt.Sprintf("at most %d rows", c.left()/8), "%d", rows)
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
	v, err := engine.ViewSparse(f.Dim, c.data, offsets, 8)
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

// finitePairs refuses values that Milvus takes from nobody, by which no order is one.
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

// sparse takes over lists.
func (f *File) sparse(x *sparse.Index, hint Hint) error {
	if x.Dim > f.Dim {
		return notFound(8, fmt.Sprintf("values of %d dimensions", f.Dim), fmt.Sprintf("dimension %d", x.Dim-1))
	}
	x.Dim, x.Wand = f.Dim, hint.wand
	f.Searchable = FromSparse(x)
	return nil
}

// readSparseLists reads the form of lists.
func readSparseLists(c *cursor, hint Hint) (*File, error) {
	c.u32("a version")
	rows, dim, names := c.u32("a count of rows"), c.u32("a count of dimensions"), c.u32("a count of lists")
	// A row has a value at least, or four bytes in the section of statistics that Milvus's builds write.
	c.expect(uint64(rows) <= uint64(len(c.data)), 12, fmt.Sprintf("at most %d rows", len(c.data)), "%d", rows)
	c.bytes(16, "a header")
	n := c.u32("a count of sections")
	c.expect(n <= maxSections, 4, fmt.Sprintf("at most %d sections", maxSections), "%d", n)
	sparseMetric(c, hint)
	found := map[uint32][]byte{}
	at := map[uint32]int{}
	f := &File{Format: KnowhereSparse, MetricKnown: true, Dim: int(dim), Rows: int(rows)}
	for i := 0; i < int(n) && c.err == nil; i++ {
		kind := c.u32("a section")
		c.u32("a section")
		offset, size := c.u64("the offset of a section"), c.u64("the size of a section")
		c.expect(c.err != nil || offset <= uint64(len(c.data)) && size <= uint64(len(c.data))-offset, 16,
			fmt.Sprintf("a section within %d bytes", len(c.data)), "%d bytes from %d on", size, offset)
		if c.err == nil {
			found[kind], at[kind] = c.data[offset:offset+size], int(offset)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	f.part("header", 0, c.at)
	lists := cursor{data: found[sectionLists]}
	encoding := lists.u32("an encoding")
	lists.expect(encoding == 0, 4, "lists that are not compressed (encoding 0)", "encoding %d", encoding)
	starts := lists.array(uint64(names)+1, 8, "starts of lists")
	x := &sparse.Index{Rows: int(rows), Dim: int(dim), Metric: dist.InnerProduct}
	if lists.err == nil {
		x.Starts = make([]uint64, names+1)
		for i := range x.Starts {
			x.Starts[i] = le64(starts, i)
		}
		total := x.Starts[names]
		width := 4
		if _, bm25 := found[sectionLengths]; bm25 {
			width, x.Metric = 2, dist.BM25
		}
		x.IDs = uint32s(lists.array(total, 4, "ids of rows"))
		x.Values = sparseValues(lists.array(total, width, "values"), width)
	}
	lists.end()
	f.Metric = x.Metric
	if lists.err != nil {
		return nil, moved(lists.err, at[sectionLists])
	}
	var err error
	take := func(kind uint32, n int, what string) []byte {
		b, ok := found[kind]
		if err == nil && (!ok || len(b) != 4*n) {
			err = notFound(at[kind], fmt.Sprintf("%d %s", n, what), fmt.Sprintf("%d bytes", len(b)))
		}
		f.part(what, at[kind], len(b))
		return b
	}
	f.part("lists", at[sectionLists], len(found[sectionLists]))
	x.Names = uint32s(take(sectionNames, int(names), "dimensions"))
	if x.Metric == dist.BM25 {
		x.Lengths = float32s(take(sectionLengths, int(rows), "lengths of rows"))
	}
	if _, ok := found[sectionMost]; ok {
		x.Most = float32s(take(sectionMost, int(names), "greatest scores"))
	}
	if err != nil {
		return nil, err
	}
	for _, list := range [][]float32{x.Values, x.Lengths, x.Most} {
		for _, v := range list {
			if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
				return nil, notFound(0, "finite values", v)
			}
		}
	}
	for _, name := range x.Names {
		if name >= dim {
			return nil, notFound(8, fmt.Sprintf("values of %d dimensions", dim), fmt.Sprintf("dimension %d", name))
		}
	}
	if err := x.Finish(); err != nil {
		return nil, err
	}
	return f, f.sparse(x, hint)
}

// moved is an error of a section as one of the file.
func moved(err error, by int) error {
	if wrong, ok := err.(*FormatError); ok {
		wrong.Offset += by
	}
	return err
}

func uint32s(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = le32(b, i)
	}
	return v
}

// sparseValues are float32, or whole numbers of 16 bits.
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
