package dist

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLinearIsTheProduct compares each order with float64, and all back ends with the specification.
func TestLinearIsTheProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	for _, dims := range [][2]int{{1, 1}, {3, 2}, {4, 9}, {8, 8}, {12, 70}, {13, 3}, {31, 31}, {32, 33}, {48, 130}, {100, 100}, {128, 64}, {500, 11}, {1000, 40}, {1100, 66}} {
		in, out := dims[0], dims[1]
		matrix, x := draw(in*out), draw(in)
		for _, p := range []Product{ByVector, ByBlocks, ByLanes} {
			for _, bias := range [][]float32{nil, draw(out)} {
				var specified []float32
				for _, b := range Backends() {
					l, err := newLinear(b, p, in, out, matrix, bias)
					if err != nil {
						t.Fatal(err)
					}
					y, scratch := make([]float32, out), l.NewScratch()
					l.Apply(scratch, draw(in), y)
					l.Apply(scratch, x, y) // nothing is left of the one before
					if b == Generic {
						specified = y
					}
					for i, got := range y {
						want, size := 0.0, 1.0
						if bias != nil {
							want = float64(bias[i])
						}
						for j, v := range x {
							want += float64(v) * float64(matrix[i*in+j])
							size += math.Abs(float64(v) * float64(matrix[i*in+j]))
						}
						if math.Abs(float64(got)-want) > 1e-6*size {
							t.Errorf("%d to %d, product %d, %s: element %d is %g, not %g", in, out, p, b, i, got, want)
						}
						if math.Float32bits(got) != math.Float32bits(specified[i]) {
							t.Errorf("%d to %d, product %d, %s: element %d is %g, specified is %g", in, out, p, b, i, got, specified[i])
						}
					}
				}
			}
		}
	}
	for _, c := range [][4]int{{0, 1, 0, -1}, {1, 0, 0, -1}, {2, 2, 3, -1}, {2, 2, 4, 1}} {
		var bias []float32
		if c[3] >= 0 {
			bias = make([]float32, c[3])
		}
		if _, err := NewLinear(ByVector, c[0], c[1], make([]float32, c[2]), bias); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}
