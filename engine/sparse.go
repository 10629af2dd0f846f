package engine

import (
	"fmt"

	"kitescope/engine/dist"
)

// NewSparse returns zeroed rows of sparse vectors, of so many bytes each. They have no dimension: Dim is 0.
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

// ViewSparse returns the rows that lie in data, row i from offsets[i]+skip up to offsets[i+1]: skip bytes stand before each.
func ViewSparse(data []byte, offsets []int, skip int) (*Vectors, error) {
	for i := range offsets[1:] {
		if offsets[i] < 0 || offsets[i+1] > len(data) || skip > offsets[i+1]-offsets[i] {
			return nil, fmt.Errorf("row %d has the bytes from %d to %d, of %d", i, offsets[i]+skip, offsets[i+1], len(data))
		}
	}
	return &Vectors{Element: dist.Sparse, Rows: len(offsets) - 1, offsets: offsets, skip: skip, data: data}, nil
}

// JoinSparse returns rows of sparse vectors that lie anywhere, one after the other.
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
