package index

import (
	"math"
	"sync/atomic"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// NaNRows counts the rows that have a NaN in them: such a row has a distance to nothing, and
// no search finds it. It reads all vectors.
func (f *File) NaNRows() int {
	n := 0
	for v := range f.Vectors() {
		n += nanRows(v)
	}
	return n
}

func nanRows(v *engine.Vectors) int {
	var n atomic.Int64
	_ = parallel(v.Rows, max(1, chunk/v.Stride), func(from, to int) error {
		for i := from; i < to; i++ {
			if hasNaN(v.Element, v.Row(i)) {
				n.Add(1)
			}
		}
		return nil
	})
	return int(n.Load())
}

// hasNaN reports whether an element of a row is NaN: all bits of the exponent set, and one of
// the fraction.
func hasNaN(e dist.Element, row []byte) bool {
	half := uint16(0x7C00)
	switch e {
	case dist.Float32:
		for i := range len(row) / 4 {
			if le32(row, i)&math.MaxInt32 > 0x7F800000 {
				return true
			}
		}
		return false
	case dist.BFloat16:
		half = 0x7F80
	case dist.Float16:
	default:
		return false
	}
	for i := 0; i+1 < len(row); i += 2 {
		if v := uint16(row[i]) | uint16(row[i+1])<<8; v&0x7FFF > half {
			return true
		}
	}
	return false
}
