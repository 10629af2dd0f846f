package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// npyMagic is the start of a NumPy file (numpy/lib/format.py, versions 1.0 to 3.0).
const npyMagic = "\x93NUMPY"

// maxHeader is the maximum size of a header in bytes. The header of a matrix has at most 128 bytes.
const maxHeader = 1 << 16

// npyHeader holds the fields of a header.
type npyHeader struct {
	descr      string
	fortran    bool
	rows, cols int
	data       int // offset of the first value
}

// readNPY reads a matrix. Values of float32, float16, bfloat16 (written as V2 by ml_dtypes), int8, uint8 (eight
// bits per value) and float64 (rounded to float32) are vectors. Values of int32, uint32 and int64 are rows of ids.
func readNPY(ctx context.Context, data []byte) (*Set, error) {
	h, err := readNPYHeader(data)
	if err != nil {
		return nil, err
	}
	read := (*npyHeader).vectors
	var size int
	var element dist.Element
	switch h.descr {
	case "<f4":
		size, element = 4, dist.Float32
	case "<f2":
		size, element = 2, dist.Float16
	case "<V2", "|V2", "bfloat16":
		size, element = 2, dist.BFloat16
	case "|i1", "<i1", "i1":
		size, element = 1, dist.Int8
	case "|u1", "<u1", "u1":
		size, element = 1, dist.Bit
	case "<f8":
		size, read = 8, (*npyHeader).narrowed
	case "<i4", "<u4":
		size, read = 4, (*npyHeader).ids
	case "<i8":
		size, read = 8, (*npyHeader).ids
	default:
		return nil, h.refuse()
	}
	rest := data[h.data:]
	// This divides instead of multiplying, because the shape may be arbitrarily large.
	if h.rows > 0 && (h.cols > len(rest)/size || h.rows > len(rest)/(h.cols*size)) {
		return nil, fmt.Errorf("offset %d: expected %d rows of %d values of %d bytes, found %d bytes",
			h.data, h.rows, h.cols, size, len(rest))
	}
	if extra := len(rest) - h.rows*h.cols*size; extra > 0 {
		return nil, fmt.Errorf("offset %d: expected the end of the file, %d bytes follow", len(data)-extra, extra)
	}
	if h.fortran {
		if rest, err = transpose(ctx, rest, h.rows, h.cols, size); err != nil {
			return nil, err
		}
	}
	return read(h, ctx, rest, element, size)
}

// readNPYHeader reads the header, which precedes the values.
func readNPYHeader(data []byte) (*npyHeader, error) {
	if len(data) < 10 || string(data[:6]) != npyMagic {
		return nil, errors.New(`offset 0: expected a .npy file, starting with "\x93NUMPY"`)
	}
	var length, start int
	switch version := data[6]; version {
	case 1:
		length, start = int(binary.LittleEndian.Uint16(data[8:])), 10
	case 2, 3:
		if len(data) < 12 {
			return nil, errors.New("offset 8: expected the length of the header, the file ends")
		}
		length, start = int(min(binary.LittleEndian.Uint32(data[8:]), math.MaxInt32)), 12
	default:
		return nil, fmt.Errorf("offset 6: expected version 1, 2 or 3 of .npy, found %d", version)
	}
	if length > maxHeader || length > len(data)-start {
		return nil,
			fmt.Errorf("offset 8: a header of %d bytes declared, at most %d found", length,
				min(maxHeader, len(data)-start))
	}
	text := data[start : start+length]
	h := &npyHeader{data: start + length}
	if m := regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`).FindSubmatch(text); m != nil {
		h.descr = string(m[1])
	} else {
		return nil, fmt.Errorf("offset %d: the header has no 'descr' of one simple type", start)
	}
	m := regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`).FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("offset %d: the header has no 'fortran_order'", start)
	}
	h.fortran = bytes.Equal(m[1], []byte("True"))
	if m = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^()]*)\)`).FindSubmatch(text); m == nil {
		return nil, fmt.Errorf("offset %d: the header has no 'shape'", start)
	}
	return h, h.shape(string(m[1]))
}

// shape parses the numbers of rows and columns. A one-dimensional array of integers is a column with one id per
// row.
func (h *npyHeader) shape(text string) error {
	var sizes []int
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSuffix(strings.TrimSpace(field), "L") // Python 2 wrote 10L
		if field == "" {
			continue // trailing comma
		}
		n, err := strconv.ParseInt(field, 10, 62)
		if err != nil || n < 0 {
			return fmt.Errorf("offset 10: expected a shape of whole numbers, found (%s)", text)
		}
		sizes = append(sizes, int(n))
	}
	switch {
	case len(sizes) == 2:
		h.rows, h.cols = sizes[0], sizes[1]
	case len(sizes) == 1 && strings.ContainsAny(h.descr, "iu") && !strings.HasSuffix(h.descr, "1"):
		h.rows, h.cols = sizes[0], 1
	default:
		return fmt.Errorf("offset 10: expected the shape of a matrix, found (%s)", text)
	}
	if h.cols == 0 {
		return fmt.Errorf("offset 10: rows of no columns: shape (%s)", text)
	}
	return nil
}

func (h *npyHeader) refuse() error {
	if strings.HasPrefix(h.descr, ">") {
		return fmt.Errorf("offset 10: big-endian values of type %q are not supported; expected little-endian", h.descr)
	}
	return fmt.Errorf("offset 10: expected values of type <f4, <f2, <f8, |i1, |u1, <i4 or <i8, found %q", h.descr)
}

// vectors returns vectors that refer to the file if the values are aligned, and copies them otherwise.
func (h *npyHeader) vectors(_ context.Context, rest []byte, element dist.Element, size int) (*Set, error) {
	dim := h.cols
	if element == dist.Bit {
		if h.cols > math.MaxInt/8 {
			return nil, fmt.Errorf("offset 10: rows of %d bytes of bits", h.cols)
		}
		dim = 8 * h.cols
	}
	// NumPy aligns values to 16 or 64 bytes, but other writers may not.
	aligned := len(rest) == 0 || uintptr(unsafe.Pointer(&rest[0]))%uintptr(size) == 0
	if !aligned {
		rest = bytes.Clone(rest)
	}
	v, err := engine.View(element, dim, h.rows, h.cols*size, rest)
	return &Set{Vectors: v, Mapped: aligned && !h.fortran}, err
}

// narrowed copies float64 values to float32.
func (h *npyHeader) narrowed(ctx context.Context, rest []byte, _ dist.Element, _ int) (*Set, error) {
	v, err := engine.NewVectors(dist.Float32, h.cols, h.rows)
	if err != nil {
		return nil, err
	}
	s := &Set{Vectors: v}
	for i := range h.rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			s.Close()
			return nil, ctx.Err()
		}
		row := v.Float32(i)
		for j := range row {
			x := math.Float64frombits(binary.LittleEndian.Uint64(rest))
			row[j] = float32(x)
			if float64(row[j]) != x && x == x {
				s.Rounded++
			}
			rest = rest[8:]
		}
	}
	return s, nil
}

func (h *npyHeader) ids(ctx context.Context, rest []byte, _ dist.Element, size int) (*Set, error) {
	return idRows(ctx, h.rows, h.cols, func(i, j int) int64 {
		value := rest[(i*h.cols+j)*size:]
		switch h.descr {
		case "<i4":
			return int64(int32(binary.LittleEndian.Uint32(value)))
		case "<u4":
			return int64(binary.LittleEndian.Uint32(value))
		}
		return int64(binary.LittleEndian.Uint64(value))
	})
}

// idRows returns a Set of ids. The id in row i and column j is at(i, j).
func idRows(ctx context.Context, rows, cols int, at func(i, j int) int64) (*Set, error) {
	all, ids := make([]int64, rows*cols), make([][]int64, rows)
	for i := range ids {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ids[i] = all[i*cols : (i+1)*cols : (i+1)*cols]
		for j := range ids[i] {
			ids[i][j] = at(i, j)
		}
	}
	return &Set{IDs: ids}, nil
}

// transpose converts values in column order to row order.
func transpose(ctx context.Context, columns []byte, rows, cols, size int) ([]byte, error) {
	out := make([]byte, len(columns))
	for i := range rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for j := range cols {
			copy(out[(i*cols+j)*size:][:size], columns[(j*rows+i)*size:])
		}
	}
	return out, nil
}
