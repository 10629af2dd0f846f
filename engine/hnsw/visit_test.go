package hnsw_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// TestLongRowsMatchGeneric checks rows so long that the rows of the next hop are prefetched
// while distances are computed. It compares the kernels of this CPU with the generic kernel, which prefetches
// nothing, on data without ties and with many.
func TestLongRowsMatchGeneric(t *testing.T) {
	const rows, dim = 300, 280
	r := rand.New(rand.NewPCG(5, 6))
	values := func(n, distinct int) []float32 {
		v := make([]float32, n*dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
			if i/dim >= distinct {
				v[i] = v[i-distinct*dim]
			}
		}
		return v
	}
	queries := values(8, 8)
	for name, distinct := range map[string]int{"all different": rows, "ties": 60} {
		v, err := engine.FromFloat32s(dim, values(rows, distinct))
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range []engine.Metric{dist.L2, dist.InnerProduct} {
			x, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{M: 8, EFConstruction: 40, Metric: metric})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []engine.Library{engine.HNSWLib, engine.Knowhere22, engine.Knowhere23, engine.Faiss} {
				t.Run(name+"/"+metric.String()+"/"+p.String(), func(t *testing.T) {
					k, err := dist.NewOn(dist.Generic, metric, dist.Float32, p.Profile(), dim)
					if err != nil {
						t.Fatal(err)
					}
					ours, specified := searcher(t, x, hnsw.Options{Library: p}),
						searcher(t, x, hnsw.Options{Library: p, Kernel: k})
					for ef := 5; ef <= 80; ef *= 4 {
						for i := range 8 {
							q, params := queries[i*dim:(i+1)*dim], hnsw.Params{K: 5, EF: ef}
							got, gotStats, err := ours.SearchFloat32(q, params, nil)
							if err != nil {
								t.Fatal(err)
							}
							want, wantStats, err := specified.SearchFloat32(q, params, nil)
							if err != nil {
								t.Fatal(err)
							}
							if d := cmp.Diff(want, got) + cmp.Diff(wantStats, gotStats); d != "" {
								t.Fatalf("ef %d, query %d (-specified +got):\n%s", ef, i, d)
							}
						}
					}
				})
			}
		}
	}
}
