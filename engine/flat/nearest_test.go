package flat

import (
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// TestOneIsTheFirstNearest compares with the library's own way over all rows: of rows that are there several times, infinitely far, not
// comparable, of sums that overflow or vanish, with codes and without.
func TestOneIsTheFirstNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for round := range 300 {
		dim, rows := []int{1, 2, 3, 4, 5, 12, 20, 100}[r.IntN(8)], []int{1, 2, 3, 7, 9, 40, 255, 256, 257, 1100}[r.IntN(10)]
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		scale := []float64{1, 1, 1e19, 1e18, 1e-20, 1e-23, 1e38}[r.IntN(7)]
		for i := range rows {
			row := dist.Floats(v.Row(i))
			for j := range row {
				row[j] = float32(r.NormFloat64() * scale)
			}
			if round%3 == 1 { // as far from nothing as the others, but for rounding
				copy(row, dist.Floats(v.Row(0)))
				r.Shuffle(dim, func(i, j int) { row[i], row[j] = row[j], row[i] })
				continue
			}
			switch r.IntN(6) {
			case 0:
				copy(row, dist.Floats(v.Row(r.IntN(i+1))))
			case 1:
				if round%4 == 0 {
					row[r.IntN(dim)] = float32(math.NaN())
				}
			case 2:
				if round%5 == 0 {
					row[r.IntN(dim)] = float32(math.Inf(1))
				}
			}
		}
		x := &Index{Vectors: v, Metric: dist.L2}
		if round%3 == 0 {
			_ = x.Shade(1) // which not all rows can have
		}
		s, err := New(x, Options{Library: engine.Knowhere25, Profile: dist.Knowhere25, Centroids: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			query := append([]byte(nil), v.Row(r.IntN(rows))...)
			switch {
			case round%3 == 1:
				clear(query)
			case r.IntN(3) > 0:
				dist.Floats(query)[r.IntN(dim)] += float32(r.NormFloat64() * scale / 8)
			}
			hits, err := s.Search(query, Params{K: 1}, nil)
			if err != nil || len(hits) != 1 {
				t.Fatal(hits, err)
			}
			q, err := s.prepare(query)
			if err != nil {
				t.Fatal(err)
			}
			if want := s.oneOfAll(q); hits[0].ID != want.ID || math.Float32bits(hits[0].Distance) != math.Float32bits(want.Distance) {
				t.Fatalf("%d rows of %d dimensions, scale %g: %v, not %v", rows, dim, scale, hits[0], want)
			}
			other, err := s.Search(query, Params{K: 1, Filter: engine.NewBitset(rows)}, nil)
			if err != nil || scale == 1 && round%4 > 0 && round%5 > 0 && math.Abs(float64(other[0].Distance-hits[0].Distance)) > 1e-4 {
				t.Fatalf("%v with a filter of no rows, %v without: %v", other, hits, err)
			}
		}
		v.Release()
	}
}
