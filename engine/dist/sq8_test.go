package dist

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSQ8AgreesWithTheSpecification(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	odd := []float32{0, float32(math.Inf(1)), float32(math.NaN()), -1e30, math.SmallestNonzeroFloat32}
	compared := 0
	for _, dim := range []int{1, 3, 8, 16, 24, 31, 40, 48, 100, 128, 768} {
		for round := range 6 {
			low, span, q := make([]float32, dim), make([]float32, dim), make([]float32, dim)
			for i := range low {
				low[i], span[i], q[i] = float32(r.NormFloat64()), float32(r.ExpFloat64()), float32(r.NormFloat64())
				if round == 5 && r.IntN(20) == 0 {
					q[i] = odd[r.IntN(len(odd))]
				}
			}
			const rows = 11
			stride := dim + round%3
			codes := make([]byte, rows*stride)
			for i := range codes {
				codes[i] = byte(r.Uint32())
			}
			for _, m := range []Metric{L2, InnerProduct} {
				for _, b := range Backends() {
					k, err := NewSQ8On(b, m, low, span)
					if err != nil {
						t.Fatal(err)
					}
					query := k.NewQuery()
					copy(query.Floats(), q)
					for n := 1; n <= rows; n++ {
						out := make([]float32, n)
						query.Scan(unsafe.Pointer(&codes[0]), uintptr(stride), out)
						for i, got := range out {
							want := specifiedSQ8(k, m, q, codes[i*stride:][:dim])
							if !same(got, want) {
								t.Fatalf("%s, %s, %d dimensions, row %d of %d: %x, the specification has %x", b, m, dim,
									i, n, got, want)
							}
							compared++
						}
					}
				}
			}
		}
	}
	if compared < 8000 {
		t.Errorf("%d distances", compared)
	}
}

// specifiedSQ8 returns a distance computed by the specification.
func specifiedSQ8(k *SQ8, m Metric, q []float32, code []byte) float32 {
	x := make([]float32, len(q))
	k.decode(code, x)
	return summation{l2: m == L2, order: orderFaiss}.sum(q, x)
}

func TestNewSQ8Errors(t *testing.T) {
	for _, c := range []struct {
		m         Metric
		low, span []float32
	}{
		{Jaccard, []float32{1}, []float32{1}},
		{Cosine, []float32{1}, []float32{1}},
		{L2, nil, nil},
		{L2, []float32{1}, []float32{1, 2}},
	} {
		if _, err := NewSQ8(c.m, c.low, c.span); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
