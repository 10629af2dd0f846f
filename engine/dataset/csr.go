package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/sparse"
)

// csrHeader is the size of the header in bytes: the numbers of rows, dimensions and values, as int64.
const csrHeader = 24

// readCSR reads sparse vectors in the format of the sparse track of big-ann-benchmarks. After the header, the file
// holds the start of each row and the end of the last (int64), the dimensions of all values (int32), and the values
// (float32). Source: benchmark/dataset_io.py, read_sparse_matrix.
func readCSR(ctx context.Context, data []byte) (*Set, error) {
	if len(data) < csrHeader {
		return nil, fmt.Errorf("%d bytes: expected the %d of a header", len(data), csrHeader)
	}
	rows, dim, values := int64At(data, 0), int64At(data, 1), int64At(data, 2)
	left := int64(len(data) - csrHeader)
	switch {
	case rows < 0 || rows > left/8-1:
		return nil, fmt.Errorf("offset 0: %d rows in a file of %d bytes", rows, len(data))
	case dim < 0 || dim > math.MaxInt32:
		return nil, fmt.Errorf("offset 8: %d dimensions, expected 0 to %d", dim, math.MaxInt32)
	case values < 0 || values != (left-8*(rows+1))/8 || left%8 != 0:
		return nil,
			fmt.Errorf("offset 16: %d values, where %d of the file's %d bytes are left for 8 bytes each", values,
				left-8*(rows+1), len(data))
	}
	starts := data[csrHeader:]
	dims := starts[8*(rows+1):]
	numbers := dims[4*values:]
	sizes := make([]int, rows)
	for i := range sizes {
		from, to := int64At(starts, i), int64At(starts, i+1)
		if from < 0 || to < from || to > values || i == 0 && from != 0 || i == len(sizes)-1 && to != values {
			return nil,
				fmt.Errorf("offset %d: row %d has the values from %d to %d, of %d", csrHeader+8*i, i, from, to, values)
		}
		sizes[i] = int(to-from) * sparse.PairBytes
	}
	v, err := engine.NewSparse(sizes)
	if err != nil {
		return nil, err
	}
	for i := range v.Rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			v.Release()
			return nil, ctx.Err()
		}
		row, at := v.Row(i), int(int64At(starts, i))
		for j := range len(row) / sparse.PairBytes {
			copy(row[j*sparse.PairBytes:], dims[4*(at+j):4*(at+j)+4])
			copy(row[j*sparse.PairBytes+4:], numbers[4*(at+j):4*(at+j)+4])
			if d := binary.LittleEndian.Uint32(row[j*sparse.PairBytes:]); int64(d) >= dim {
				v.Release()
				return nil, fmt.Errorf("row %d: dimension %d of %d", i, d, dim)
			}
		}
		if err := sparse.Check(row); err != nil {
			v.Release()
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return &Set{Vectors: v}, nil
}

func int64At(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
