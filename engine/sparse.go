package engine

import (
	"fmt"

	"kitescope/engine/dist"
)

// NewSparse returns zeroed rows of sparse vectors. sizes holds the bytes of each row. Dim is 0, because sparse
// vectors have no dimension.
func NewSparse(sizes []int) (*Vectors, error) {
	offsets := make([]int, len(sizes)+1)
	for i, n := range sizes {
		if n < 0 || n > maxBytes-offsets[i] {
			return nil, fmt.Errorf("%d rows of sparse vectors: too many values", len(sizes))
		}
		offsets[i+1] = offsets[i] + n
	}
	v := &Vectors{Element: dist.Sparse, Rows: len(sizes), offsets: offsets}
	if n := offsets[len(sizes)]; n > 0 {
		v.data, v.free = allocate(n, true)
	}
	return v, nil
}

// ViewSparse returns a view of the sparse rows in data. Row i is data[offsets[i]+skip : offsets[i+1]]; the skip
// bytes before it are ignored. It returns an error if an offset is out of range.
func ViewSparse(data []byte, offsets []int, skip int) (*Vectors, error) {
	for i := range offsets[1:] {
		if offsets[i] < 0 || offsets[i+1] > len(data) || skip > offsets[i+1]-offsets[i] {
			return nil,
				fmt.Errorf("row %d has the bytes from %d to %d, of %d", i, offsets[i]+skip, offsets[i+1], len(data))
		}
	}
	return &Vectors{Element: dist.Sparse, Rows: len(offsets) - 1, offsets: offsets, skip: skip, data: data}, nil
}

// JoinSparse copies rows of sparse vectors into one allocation.
func JoinSparse(rows [][]byte) (*Vectors, error) {
	sizes := make([]int, len(rows))
	for i, row := range rows {
		sizes[i] = len(row)
	}
	v, err := NewSparse(sizes)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		copy(v.Row(i), row)
	}
	return v, nil
}
