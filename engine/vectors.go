package engine

import (
	"fmt"
	"unsafe"

	"kitescope/engine/dist"
)

// Vectors holds rows with the same dimension and element type in memory. The memory is either owned and aligned,
// or a view of a mapped file. Rows of sparse vectors differ in length, so Size and Stride do not apply to them.
// Vectors are immutable once filled and may be shared freely.
type Vectors struct {
	Element dist.Element
	Dim     int
	Rows    int
	Stride  int // bytes from the start of a row to the start of the next, at least Size()

	data []byte // the first row starts at data[0]; the last row may end at len(data)
	free func()

	// offsets holds the start of each sparse row and the end of the last row. Each row starts with skip bytes that do
	// not belong to the vector. offsets is nil for other vectors, whose rows all have the same size.
	offsets []int
	skip    int
}

// Size returns the size of a row in bytes.
func (v *Vectors) Size() int { return v.Element.Bytes(v.Dim) }

// Base returns the address of the first row, or nil if there are no rows.
func (v *Vectors) Base() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(v.data))
}

// Row returns the bytes of row i.
func (v *Vectors) Row(i int) []byte {
	if v.offsets != nil {
		at, end := v.offsets[i]+v.skip, v.offsets[i+1]
		return v.data[at:end:end]
	}
	at := i * v.Stride
	return v.data[at : at+v.Size() : at+v.Size()]
}

// Span returns the bytes of rows first to end-1, including the padding between them.
func (v *Vectors) Span(first, end int) []byte {
	if first == end {
		return nil
	}
	last := (end-1)*v.Stride + v.Size()
	return v.data[first*v.Stride : last : last]
}

// View returns a view of rows in data. The first row is at the start of data, and rows are stride bytes apart. It
// returns an error if the rows do not fit in data.
func View(element dist.Element, dim, rows, stride int, data []byte) (*Vectors, error) {
	v := &Vectors{Element: element, Dim: dim, Rows: rows, Stride: stride, data: data}
	size := v.Size()
	if dim <= 0 || dim > maxBytes || rows < 0 || stride < size {
		return nil, fmt.Errorf("impossible layout: %d rows of %d dimensions at a stride of %d bytes", rows, dim, stride)
	}
	// This divides instead of multiplying, because rows and stride may come from a hostile file.
	if rows > 0 && (len(data) < size || (len(data)-size)/stride < rows-1) {
		return nil, fmt.Errorf("%d rows of %d bytes every %d do not fit in %d bytes", rows, size, stride, len(data))
	}
	return v, nil
}

// NewVectors returns zeroed rows at 64-byte alignment, in huge pages if available. Rows are padded to a multiple of
// 64 bytes (a cache line) if the padding is at most an eighth of the row, and to a multiple of 4 bytes otherwise.
// It returns an error if dim is not positive or the rows are too large.
func NewVectors(element dist.Element, dim, rows int) (*Vectors, error) {
	size := element.Bytes(dim)
	stride := (size + 63) &^ 63
	if stride-size > size/8 {
		stride = (size + 3) &^ 3
	}
	if dim <= 0 || dim > maxBytes || rows < 0 || rows > maxBytes/stride {
		return nil, fmt.Errorf("%d rows of %d dimensions: too many", rows, dim)
	}
	data, free := allocate(rows*stride, true)
	return &Vectors{Element: element, Dim: dim, Rows: rows, Stride: stride, data: data, free: free}, nil
}

// NewBytes returns one zeroed row of n bytes at 64-byte alignment, in pages of normal size. It is for data that is
// written once and read once.
func NewBytes(n int) (*Vectors, error) {
	if n <= 0 || n > maxBytes {
		return nil, fmt.Errorf("%d bytes: none, or too many", n)
	}
	data, free := allocate(n, false)
	return &Vectors{Element: dist.Int8, Dim: n, Rows: 1, Stride: n, data: data, free: free}, nil
}

// maxBytes is the maximum size of an allocation in bytes, and of a dimension. No machine that this runs on has more
// memory.
const maxBytes = 1 << (30 + 14*(^uint(0)>>63)) // 1 GiB on 32-bit platforms

// FromFloat32s returns a copy of rows, which holds consecutive rows of length dim.
func FromFloat32s(dim int, rows []float32) (*Vectors, error) {
	if dim <= 0 || len(rows)%dim != 0 {
		return nil, fmt.Errorf("%d values do not divide into rows of %d", len(rows), dim)
	}
	v, err := NewVectors(dist.Float32, dim, len(rows)/dim)
	if err != nil {
		return nil, err
	}
	for i := range v.Rows {
		copy(v.Float32(i), rows[i*dim:(i+1)*dim])
	}
	return v, nil
}

// Float32 returns row i of float32 vectors, without copying.
func (v *Vectors) Float32(i int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&v.data[i*v.Stride])), v.Dim)
}

// Slice returns rows first to end-1 in the same memory.
func (v *Vectors) Slice(first, end int) (*Vectors, error) {
	if first < 0 || end < first || end > v.Rows {
		return nil, fmt.Errorf("rows %d to %d of %d", first, end, v.Rows)
	}
	part := &Vectors{Element: v.Element, Dim: v.Dim, Rows: end - first, Stride: v.Stride}
	if v.offsets != nil {
		part.offsets, part.skip, part.data = v.offsets[first:end+1], v.skip, v.data
		return part, nil
	}
	if part.Rows > 0 {
		part.data = v.data[first*v.Stride : (end-1)*v.Stride+v.Size()]
	}
	return part, nil
}

// Bytes returns the memory that the rows occupy in bytes, including padding.
func (v *Vectors) Bytes() int { return len(v.data) + 8*len(v.offsets) }

// Release frees the memory of owned rows immediately. The rows must not be used afterwards.
func (v *Vectors) Release() {
	if v.free != nil {
		v.free()
	}
	v.free, v.data, v.offsets, v.Rows = nil, nil, nil, 0
}
