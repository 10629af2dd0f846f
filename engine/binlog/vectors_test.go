package binlog

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// TestVectors reads vectors whose first page has a dictionary and whose other pages do not, with and without gaps
// between the rows.
func TestVectors(t *testing.T) {
	for _, dim := range []int{256, 255} { // rows without and with padding
		r := rand.New(rand.NewPCG(uint64(dim), 1))
		rows := 2 << 20 / (4 * dim)
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j := range dim {
				v.Float32(i)[j] = float32(r.IntN(1000))
			}
		}
		var b bytes.Buffer
		if err := WriteColumn(&b, &Column{Descriptor: Descriptor{Type: FloatVector}, Rows: rows, Vectors: v}); err !=
			nil {
			t.Fatal(err)
		}
		c, err := ReadColumn(t.Context(), fileOf(b.Bytes()), "log")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if !bytes.Equal(c.Vectors.Row(i), v.Row(i)) {
				t.Fatalf("%d dimensions: row %d of %d differs", dim, i, rows)
			}
		}
		c.Release()
	}
}
