package binlog

import (
	"unsafe"

	"kitescope/engine"
)

// pairBytes is the size in bytes of an index and a value of a sparse vector.
const pairBytes = 8

// joinSparse converts the bytes of rows, which are pairs of an index and a float32, to vectors (Milvus's
// SparseFloatVectorFieldData, internal/storage/payload_writer.go).
func (c *Column) joinSparse(from source) error {
	rows := make([][]byte, len(c.Strings))
	for i, s := range c.Strings {
		if len(s)%pairBytes != 0 {
			return from.errorf("row %d: a sparse vector of %d bytes, expected a multiple of %d", i, len(s), pairBytes)
		}
		rows[i] = unsafe.Slice(unsafe.StringData(s), len(s)) // read, never written
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		return from.errorf("%w", err)
	}
	c.Vectors, c.Strings = v, nil
	return nil
}
