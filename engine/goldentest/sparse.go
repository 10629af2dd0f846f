package goldentest

import (
	"testing"

	"kitescope/engine"
	"kitescope/engine/sparse"
)

// SparseVectors returns rows of sparse vectors. Each row is a list of dimensions and a list of values.
func SparseVectors(t testing.TB, list [][2][]float64) *engine.Vectors {
	t.Helper()
	rows := make([][]byte, len(list))
	for i, row := range list {
		for j, d := range row[0] {
			rows[i] = sparse.AppendPair(rows[i], uint32(d), float32(row[1][j]))
		}
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
