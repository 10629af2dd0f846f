package hnsw_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// odd holds values that are difficult for codes and for sums of squares.
var odd = []float32{
	0, math.SmallestNonzeroFloat32, -1e-40, 1e-22, 1e17, -1e20, math.MaxFloat32, float32(math.Inf(1)),
	float32(math.Inf(-1)), float32(math.NaN()), 1, 16777216,
}

// randomGraph returns a graph of random links, so that walks meet cases that do not occur in a built graph.
func randomGraph(t *testing.T, r *rand.Rand, dim, rows int, m engine.Metric, draw func(row []float32)) *hnsw.Index {
	t.Helper()
	v, err := engine.NewVectors(dist.Float32, dim, rows)
	if err != nil {
		t.Fatal(err)
	}
	x := &hnsw.Index{Metric: m, Vectors: v}
	x.M, x.M0, x.MaxLevel, x.EFConstruction = 4, 8, 1, 10
	for i := range rows {
		draw(v.Float32(i))
		for range 1 + r.IntN(8) {
			x.Base = append(x.Base, uint32(r.IntN(rows)))
		}
		for len(x.Base) < 8*(i+1) {
			x.Base = append(x.Base, hnsw.End)
		}
		x.Levels, x.UpperAt = append(x.Levels, 0), append(x.UpperAt, 0)
	}
	for _, i := range []int{0, rows / 3, rows / 2} {
		x.Levels[i], x.UpperAt[i] = 1, uint32(len(x.Upper)/4)
		x.Upper = append(x.Upper, 0, uint32(rows/3), uint32(rows/2), hnsw.End)
	}
	return x
}

// TestCodesChangeNoWalk checks that searches with and without codes return the same hits, to the bit, and the same
// counters.
func TestCodesChangeNoWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	kinds := []func(row []float32){
		func(row []float32) {
			for j := range row {
				row[j] = float32(r.NormFloat64())
			}
		},
		func(row []float32) {
			for j := range row {
				row[j] = float32(r.IntN(3))
			}
		},
		func(row []float32) {
			for j := range row {
				row[j] = float32(1000 + r.NormFloat64()*float64(1+30*(j%7/6)))
				if r.IntN(100) == 0 {
					row[j] = odd[r.IntN(len(odd))]
				}
			}
		},
	}
	libraries := []engine.Library{engine.HNSWLib, engine.Faiss, engine.Knowhere22, engine.Knowhere23}
	rounds := 120
	if testing.Short() {
		rounds = 16
	}
	for round := range rounds {
		dim, m := []int{1, 9, 64, 100}[round%4], engine.Metric(r.IntN(3))
		draw := kinds[r.IntN(len(kinds))]
		plain := randomGraph(t, r, dim, 300+r.IntN(500), m, draw)
		library := libraries[r.IntN(len(libraries))]
		if m == dist.Cosine && library.Knowhere() {
			plain.Norms = norms(t, plain.Vectors)
		}
		coded := *plain
		if err := coded.Quantize(1 + r.IntN(3)); err != nil {
			t.Fatal(err)
		}
		one, two := searcher(t, plain, hnsw.Options{Library: library}),
			searcher(t, &coded, hnsw.Options{Library: library})
		query := make([]float32, dim)
		for range 8 {
			if draw(query); r.IntN(4) == 0 {
				copy(query, plain.Vectors.Float32(r.IntN(plain.Vectors.Rows)))
			}
			p := hnsw.Params{K: 1 + r.IntN(10), EF: []int{10, 16, 40, 200}[r.IntN(4)]}
			if r.IntN(2) == 0 {
				p.Filter = engine.NewBitset(plain.Vectors.Rows)
				for i := range plain.Vectors.Rows / (1 + r.IntN(9)) {
					p.Filter.Set(i * 7 % plain.Vectors.Rows)
				}
			}
			want, stats, err := one.SearchFloat32(query, p, nil)
			got, counted, failed := two.SearchFloat32(query, p, nil)
			if (err == nil) != (failed == nil) {
				t.Fatalf("%v, without codes %v", failed, err)
			}
			bits := cmp.Transformer("bits", math.Float32bits)
			if d := cmp.Diff(want, got, bits, cmpopts.EquateEmpty()) + cmp.Diff(stats, counted); d != "" {
				t.Fatalf("round %d, %v, %v, %d dimensions, %+v: with codes (+)\n%s", round, library, m, dim, p, d)
			}
		}
	}
}

// norms returns the norms that knowhere's files hold.
func norms(t *testing.T, v *engine.Vectors) []float32 {
	t.Helper()
	k, err := dist.New(dist.Cosine, dist.Float32, dist.Knowhere, v.Dim)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float32, v.Rows)
	for i := range all {
		all[i] = k.Norm(unsafe.Pointer(&v.Float32(i)[0]))
	}
	return all
}
