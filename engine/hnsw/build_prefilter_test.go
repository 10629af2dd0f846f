package hnsw_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// TestCodesBuildTheSameGraph checks that one-threaded builds with and without codes write the same file, to the
// byte.
func TestCodesBuildTheSameGraph(t *testing.T) {
	const rows, dim = 4200, 256
	r := rand.New(rand.NewPCG(51, 52))
	cases := []struct {
		name    string
		metric  engine.Metric
		library engine.Library
		value   func() float32
	}{
		{"L2", dist.L2, engine.HNSWLib, func() float32 { return float32(r.NormFloat64()) }},
		{"ties", dist.L2, engine.HNSWLib, func() float32 { return float32(r.IntN(50) / 49) }},
		{
			"inner product of faiss", dist.InnerProduct, engine.Faiss,
			func() float32 { return float32(3 + r.NormFloat64()) },
		},
		{"cosine of hnswlib", dist.Cosine, engine.HNSWLib, func() float32 { return float32(r.ExpFloat64()) }},
		{"cosine of knowhere", dist.Cosine, engine.Knowhere22, func() float32 { return float32(r.NormFloat64()) }},
	}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, c := range cases {
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j := range v.Float32(i) {
				v.Float32(i)[j] = c.value()
			}
		}
		o := hnsw.BuildOptions{M: 6, EFConstruction: 12, Metric: c.metric, Library: c.library}
		var files [2][]byte
		for i := range files {
			o.Plain = i == 0
			x, err := hnsw.Build(context.Background(), v, o)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = fileBytes(x)
		}
		t.Log(c.name)
		sameBytes(t, files[1], files[0])
	}
}
