package dataset

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// WriteNPY writes vectors like NumPy (version 1.0), in row order, without the padding in memory. Bits are written
// as uint8, bfloat16 as the V2 of ml_dtypes.
func WriteNPY(w io.Writer, v *engine.Vectors) error {
	var descr string
	cols := v.Dim
	switch v.Element {
	case dist.Float32:
		descr = "<f4"
	case dist.Float16:
		descr = "<f2"
	case dist.BFloat16:
		descr = "<V2"
	case dist.Int8:
		descr = "|i1"
	case dist.Bit:
		descr, cols = "|u1", v.Size()
	default:
		return fmt.Errorf("element %d has no NumPy type", v.Element)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	writeNPYHeader(out, descr, v.Rows, cols)
	for i := range v.Rows {
		_, _ = out.Write(v.Row(i)) // Flush returns the error
	}
	return out.Flush()
}

// WriteIDs writes rows of ids as a .npy matrix of int64. All rows must have the same length.
func WriteIDs(w io.Writer, ids [][]int64) error {
	cols := 0
	if len(ids) > 0 {
		cols = len(ids[0])
	}
	out := bufio.NewWriterSize(w, 1<<16)
	writeNPYHeader(out, "<i8", len(ids), cols)
	for i, row := range ids {
		if len(row) != cols {
			return fmt.Errorf("row %d has %d ids, the first has %d", i, len(row), cols)
		}
		var value [8]byte
		for _, id := range row {
			binary.LittleEndian.PutUint64(value[:], uint64(id))
			_, _ = out.Write(value[:])
		}
	}
	return out.Flush()
}

// writeNPYHeader writes the header. It pads the text with spaces so that the values start at a multiple of 64
// bytes.
func writeNPYHeader(out *bufio.Writer, descr string, rows, cols int) {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, cols)
	total := (10 + len(text) + 1 + 63) &^ 63
	_, _ = fmt.Fprintf(out, "%s%-*s\n",
		[]byte{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, byte(total - 10), byte((total - 10) >> 8)}, total-11, text)
}

// WriteFvecs writes float32 vectors. Each vector is preceded by its dimension.
func WriteFvecs(w io.Writer, v *engine.Vectors) error {
	if v.Element != dist.Float32 || v.Dim > math.MaxInt32 {
		return fmt.Errorf(".fvecs holds only float32 vectors, these have element %d and %d dimensions", v.Element,
			v.Dim)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var dim [4]byte
	binary.LittleEndian.PutUint32(dim[:], uint32(v.Dim))
	for i := range v.Rows {
		_, _ = out.Write(dim[:]) // Flush returns the error
		_, _ = out.Write(v.Row(i))
	}
	return out.Flush()
}
