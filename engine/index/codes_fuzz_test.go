package index

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// FuzzQuantize computes codes for any bytes that parse as an index of rows or lists, and compares the answers before
// and after.
func FuzzQuantize(f *testing.F) {
	for _, like := range []string{"*flat*", "*ivf*", "*sq8*", "*pq*"} {
		files, err := filepath.Glob("testdata/" + like + ".bin")
		if err != nil || len(files) == 0 {
			f.Fatal("no seeds", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) > 1<<15 {
			return
		}
		x, err := Parse("fuzz", data, Hint{})
		if err != nil || x.Element() != dist.Float32 || x.Effort() == ByEF || x.Rows == 0 || x.Dim > 1000 {
			return
		}
		want, err := answersOf(x, seed)
		if err != nil {
			return
		}
		if err := x.Quantize(1); err != nil {
			return
		}
		defer x.ReleaseCodes()
		got, err := answersOf(x, seed)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmp.Transformer("bits", math.Float32bits), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("with codes (+)\n%s", d)
		}
	})
}

// answersOf returns the answers to several queries. Some queries are near zero, and some have unusual values.
func answersOf(x *File, seed uint64) (all [][]engine.Hit, err error) {
	o := Options{Library: engine.Faiss}
	if x.Metric == dist.Cosine {
		o = Options{Library: engine.Knowhere22}
	}
	s, err := x.NewSearcher(o)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	query := make([]float32, x.Dim)
	for i := range 12 {
		for j := range query {
			if query[j] = float32(r.NormFloat64() * math.Pow(10, float64(i%4-2))); r.IntN(100) == 0 {
				query[j] = []float32{0, 1e30, 1e-40, float32(math.Inf(1)), float32(math.NaN())}[r.IntN(5)]
			}
		}
		hits, _, err := s.Search(unsafe.Slice((*byte)(unsafe.Pointer(&query[0])), 4*x.Dim),
			Params{K: 1 + i, SearchParams: engine.SearchParams{NProbe: 1 + r.IntN(40)}}, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, hits)
	}
	return all, nil
}
