package dist

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestPQIsTheDistanceToWhatCodesStandFor compares with sums of float64. Bits are compared with faiss's by engine/index.
func TestPQIsTheDistanceToWhatCodesStandFor(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for _, c := range [][2]int{{1, 1}, {3, 5}, {16, 8}, {17, 12}, {40, 2}, {96, 8}} {
		parts, width := c[0], c[1]
		centroids, q := make([]float32, PQValues*parts*width), make([]float32, parts*width)
		for i := range centroids {
			centroids[i] = float32(r.NormFloat64())
		}
		for i := range q {
			q[i] = float32(r.NormFloat64())
		}
		k, err := NewPQ(parts, width, centroids)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 5
		stride := parts + 3
		codes := make([]byte, rows*stride)
		for i := range codes {
			codes[i] = byte(r.Uint32())
		}
		table, out := make([]float32, parts*PQValues), make([]float32, rows)
		for _, m := range []Metric{L2, InnerProduct} {
			k.Table(m, q, table)
			k.Sum(100, table, unsafe.Pointer(&codes[0]), uintptr(stride), out)
			for i, got := range out {
				want := 100.0
				for p := range parts {
					for j, x := range k.Centroid(p, codes[i*stride+p]) {
						v := float64(q[p*width+j])
						if m == L2 {
							want += (v - float64(x)) * (v - float64(x))
						} else {
							want += v * float64(x)
						}
					}
				}
				if math.Abs(float64(got)-want) > 1e-5*(100+math.Abs(want)) {
					t.Errorf("%d parts of %d, %s: %g, not %g", parts, width, m, got, want)
				}
			}
		}
	}
	for _, c := range [][3]int{{0, 1, 0}, {1, 0, 256}, {2, 1, 256}, {1, 1, 255}, {1, 2, 514}} {
		if _, err := NewPQ(c[0], c[1], make([]float32, c[2])); err == nil {
			t.Errorf("%d parts of %d with %d values: no error", c[0], c[1], c[2])
		}
	}
}

// TestPQOfAllBackEndsHasTheSameBits compares sums and tables with the specification's, of numbers of all sizes.
func TestPQOfAllBackEndsHasTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-40, 1e30, -1e30, float32(math.Inf(1)), float32(math.NaN())}
	draw := func(to []float32) {
		for i := range to {
			if to[i] = float32(r.NormFloat64()); r.IntN(200) == 0 {
				to[i] = special[r.IntN(len(special))]
			}
		}
	}
	for _, b := range Backends() {
		for _, parts := range []int{1, 2, 7, 15, 16, 17, 31, 32, 48, 50, 96} {
			k, err := newPQ(b, parts, 2, make([]float32, parts*PQValues*2))
			if err != nil {
				t.Fatal(err)
			}
			specified, err := newPQ(Generic, parts, 2, make([]float32, parts*PQValues*2))
			if err != nil {
				t.Fatal(err)
			}
			own, query := make([]float32, parts*PQValues), make([]float32, parts*PQValues)
			draw(own)
			draw(query)
			got, want := make([]float32, parts*PQValues), make([]float32, parts*PQValues)
			k.Less(own, query, got)
			specified.Less(own, query, want)
			samePQ(t, b, parts, got, want)
			const rows = 9
			stride := parts + r.IntN(3)
			codes := make([]byte, rows*stride)
			for i := range codes {
				codes[i] = byte(r.Uint32())
			}
			for count := range rows {
				got, want := make([]float32, count), make([]float32, count)
				k.Sum(query[0], own, unsafe.Pointer(&codes[0]), uintptr(stride), got)
				specified.Sum(query[0], own, unsafe.Pointer(&codes[0]), uintptr(stride), want)
				samePQ(t, b, parts, got, want)
			}
		}
	}
}

func samePQ(t *testing.T, b Backend, parts int, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("%s, %d parts: value %d is %g, want %g", b, parts, i, got[i], want[i])
		}
	}
}

// TestPQTablesOfAllBackEndsHaveTheSameBits compares tables with the specification's, at widths with an order of their own and others.
func TestPQTablesOfAllBackEndsHaveTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-40, 1e-30, 1e30, float32(math.Inf(-1)), float32(math.NaN())}
	draw := func(to []float32) {
		for i := range to {
			if to[i] = float32(r.NormFloat64()); r.IntN(50) == 0 {
				to[i] = special[r.IntN(len(special))]
			}
		}
	}
	for _, b := range Backends() {
		for width := 1; width < 14; width++ {
			parts := 1 + r.IntN(20)
			centroids, q := make([]float32, parts*width*PQValues), make([]float32, parts*width)
			draw(centroids)
			draw(q)
			k, err := newPQ(b, parts, width, centroids)
			if err != nil {
				t.Fatal(err)
			}
			specified, err := newPQ(Generic, parts, width, centroids)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []Profile{Faiss, KnowhereAVX512} {
				own, err := k.As(p)
				if err != nil {
					t.Fatal(err)
				}
				theirs, err := specified.As(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range []Metric{L2, InnerProduct} {
					got, want := make([]float32, parts*PQValues+1), make([]float32, parts*PQValues+1)
					own.Table(m, q, got)
					theirs.Table(m, q, want)
					samePQ(t, b, parts, got, want)
				}
			}
		}
	}
}
