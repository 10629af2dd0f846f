package flat

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// odd holds values that are difficult for sums of squares and for codes.
var odd = []float32{
	0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -1e-40, 1e-30, 1e-22, 1e19, -1e20, 3e36,
	math.MaxFloat32, -math.MaxFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1, -1, 16777216,
}

// population generates rows with one kind of data.
type population struct {
	name string
	draw func(r *rand.Rand, row []float32, i int)
}

func populations() []population {
	normal := func(scale func(r *rand.Rand, j int) float64) func(r *rand.Rand, row []float32, i int) {
		return func(r *rand.Rand, row []float32, _ int) {
			for j := range row {
				row[j] = float32(r.NormFloat64() * scale(r, j))
			}
		}
	}
	return []population{
		{"normal", normal(func(*rand.Rand, int) float64 { return 1 })},
		{"tiny", normal(func(*rand.Rand, int) float64 { return 1e-22 })},
		{"denormal", normal(func(*rand.Rand, int) float64 { return 1e-41 })},
		{"large", normal(func(*rand.Rand, int) float64 { return 1e17 })},
		{"outlying dimensions", normal(func(_ *rand.Rand, j int) float64 { return 1 + 30*float64(1-min(1, j%9)) })},
		{"outlying values", normal(func(r *rand.Rand, _ int) float64 { return 1 / (0.01 + r.Float64()*r.Float64()) })},
		{"off centre", func(r *rand.Rand, row []float32, _ int) {
			for j := range row {
				row[j] = float32(1e4 + r.NormFloat64())
			}
		}},
		{"ties", func(r *rand.Rand, row []float32, _ int) {
			for j := range row {
				row[j] = float32(r.IntN(3))
			}
		}},
		{"clusters, duplicates, rows without length", func(r *rand.Rand, row []float32, i int) {
			centre := rand.New(rand.NewPCG(7, uint64(i%5)))
			for j := range row {
				row[j] = float32(3 * centre.NormFloat64())
				if i%3 == 0 {
					row[j] += float32(r.NormFloat64() / 10)
				}
				if i%11 == 0 {
					row[j] = 0
				}
			}
		}},
		{"odd values among normal ones", func(r *rand.Rand, row []float32, i int) {
			for j := range row {
				row[j] = float32(r.NormFloat64())
				if i%4 == 0 && r.IntN(len(row)) == 0 {
					row[j] = odd[r.IntN(len(odd))]
				}
			}
		}},
		{"odd values alone", func(r *rand.Rand, row []float32, _ int) {
			for j := range row {
				row[j] = odd[r.IntN(len(odd))]
			}
		}},
	}
}

func (p population) rows(t testing.TB, r *rand.Rand, dim, rows int) *engine.Vectors {
	t.Helper()
	v, err := engine.NewVectors(dist.Float32, dim, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		p.draw(r, v.Float32(i), i)
	}
	return v
}

// TestCodesChangeNoAnswer checks that searches with codes return the same hits as searches without, to the bit. It
// covers all kinds of data, libraries, filters and deleted rows.
func TestCodesChangeNoAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, p := range populations() {
		for _, c := range specs {
			if c.element != dist.Float32 {
				continue
			}
			dims := []int{1, 7, 33, 100}[r.IntN(3):]
			if testing.Short() {
				dims = dims[:1]
			}
			for _, dim := range dims {
				name := fmt.Sprintf("%s, %v, %d dimensions", p.name, c, dim)
				rows := []int{1025, 2500}[r.IntN(2)]
				x := &Index{Vectors: p.rows(t, r, dim, rows), Metric: c.metric}
				if r.IntN(2) == 0 {
					x.Deleted = marks(r, rows, 0.1)
				}
				compareQuantized(t, r, name, x, c, p.rows(t, r, dim, 7))
			}
		}
	}
}

func marks(r *rand.Rand, rows int, share float64) *engine.Bitset {
	b := engine.NewBitset(rows)
	for i := range rows {
		if r.Float64() < share {
			b.Set(i)
		}
	}
	return b
}

// compareQuantized compares the results of an index with codes and one without.
func compareQuantized(t *testing.T, r *rand.Rand, name string, x *Index, c spec, queries *engine.Vectors) {
	t.Helper()
	shaded := *x
	if err := shaded.Quantize(1 + r.IntN(3)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	plain, err := New(x, Options{Library: c.policy})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	coded, err := New(&shaded, Options{Library: c.policy})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if coded.codes == nil {
		t.Fatalf("%s: codes are not used", name)
	}
	for i := range queries.Rows {
		copy(queries.Float32(0), x.Vectors.Float32(r.IntN(x.Vectors.Rows))) // one query is a row
		p := Params{K: []int{1, 10, 99, 100, 300}[r.IntN(5)]}
		if share := []float64{0, 0.3, 0.9, 0.99}[r.IntN(4)]; share > 0 {
			p.Filter = marks(r, x.Vectors.Rows, share)
		}
		want, err := plain.Search(queries.Row(i), p, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := coded.Search(queries.Row(i), p, nil)
		if err != nil || !bytes.Equal(bitsOf(got), bitsOf(want)) {
			t.Fatalf("%s, %d of %d rows: %v (%v), without codes %v", name, p.K, x.Vectors.Rows, got, err, want)
		}
		if i == 0 {
			compareBatches(t, r, name, coded, queries, p)
		}
	}
}

// compareBatches compares a batch that uses codes with single queries that do not.
func compareBatches(t *testing.T, r *rand.Rand, name string, coded *Searcher, queries *engine.Vectors, p Params) {
	t.Helper()
	plain := *coded
	plain.codes = nil
	batch, err := coded.SearchBatch(queries, p, 1+r.IntN(3))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range batch {
		want, err := plain.Search(queries.Row(i), p, nil)
		if err != nil || !bytes.Equal(bitsOf(batch[i]), bitsOf(want)) {
			t.Fatalf("%s, batch, query %d, %d of %d rows: %v (%v), without codes %v", name, i, p.K,
				coded.index.Vectors.Rows, batch[i], err, want)
		}
	}
}
