package dataset

import (
	"context"
	"encoding/binary"

	"kitescope/engine/dist"
)

// maxNaNRows is the maximum length of Set.NaNRows. Set.NaNs counts all rows.
const maxNaNRows = 10

// findNaNs counts the rows with a NaN value. Whether a search returns such a row depends on how it happens to
// compare distances.
func (s *Set) findNaNs(ctx context.Context) error {
	v := s.Vectors
	if v == nil {
		return nil
	}
	var has func([]byte) bool
	switch v.Element {
	case dist.Float32:
		has = hasNaN32
	case dist.Float16:
		has = func(row []byte) bool { return hasNaN16(row, 0x7c00) }
	case dist.BFloat16:
		has = func(row []byte) bool { return hasNaN16(row, 0x7f80) }
	default:
		return nil
	}
	for i := range v.Rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if has(v.Row(i)) {
			s.NaNs++
			if len(s.NaNRows) < maxNaNRows {
				s.NaNRows = append(s.NaNRows, i)
			}
		}
	}
	return nil
}

// hasNaN32 reports whether a row has a NaN: a float32 whose exponent is all ones and whose fraction is not zero.
func hasNaN32(row []byte) bool {
	const infinity = 0x7f800000
	for ; len(row) >= 4; row = row[4:] {
		if binary.LittleEndian.Uint32(row)&0x7fffffff > infinity {
			return true
		}
	}
	return false
}

func hasNaN16(row []byte, infinity uint16) bool {
	for ; len(row) >= 2; row = row[2:] {
		if binary.LittleEndian.Uint16(row)&0x7fff > infinity {
			return true
		}
	}
	return false
}
