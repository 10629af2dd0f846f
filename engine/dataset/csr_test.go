package dataset

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"kitescope/engine/dist"
)

// csr returns a .csr file. starts holds the start of each row and the end of the last row.
func csr(rows, dim, values int64, starts []int64, dims []int32, numbers []float32) []byte {
	var b []byte
	for _, n := range append([]int64{rows, dim, values}, starts...) {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, d := range dims {
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestCSR(t *testing.T) {
	s, err := parse(context.Background(), CSR, "",
		csr(3, 10, 3, []int64{0, 2, 2, 3}, []int32{1, 9, 4}, []float32{0.5, 2, -1}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := s.Vectors
	if v.Element != dist.Sparse || v.Rows != 3 || len(v.Row(0)) != 16 || len(v.Row(1)) != 0 ||
		binary.LittleEndian.Uint32(v.Row(2)) != 4 {
		t.Errorf("%d rows of %s: %v", v.Rows, v.Element, v.Row(0))
	}
	for want, data := range map[string][]byte{
		"expected the 24 of a header":              []byte("short"),
		"offset 0: 9 rows in a file":               csr(9, 10, 0, []int64{0}, nil, nil),
		"offset 8: -1 dimensions":                  csr(0, -1, 0, []int64{0}, nil, nil),
		"offset 16: 5 values":                      csr(1, 10, 5, []int64{0, 1}, []int32{1}, []float32{1}),
		"row 0 has the values from 0 to 7, of 1":   csr(1, 10, 1, []int64{0, 7}, []int32{1}, []float32{1}),
		"row 1 has the values from 2 to 1, of 2":   csr(2, 10, 2, []int64{0, 2, 1}, []int32{1, 2}, []float32{1, 1}),
		"row 0: dimension 10 of 10":                csr(1, 10, 1, []int64{0, 1}, []int32{10}, []float32{1}),
		"dimension 1 of a sparse vector follows 2": csr(1, 10, 2, []int64{0, 2}, []int32{2, 1}, []float32{1, 1}),
		"expected a finite number": csr(1, 10, 1, []int64{0, 1}, []int32{2},
			[]float32{float32(math.NaN())}),
	} {
		if _, err := parse(context.Background(), CSR, "", data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
