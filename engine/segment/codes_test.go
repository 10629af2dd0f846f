package segment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
)

// TestCodesChangeNoAnswer searches a segment without an index, e.g. a growing one, without codes and with codes.
func TestCodesChangeNoAnswer(t *testing.T) {
	const rows, dim = 6000, 48
	r := rand.New(rand.NewPCG(41, 42))
	for _, m := range []engine.Metric{dist.L2, dist.InnerProduct, dist.Cosine} {
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		g := &segment.Segment{ID: 1, Rows: rows, Vectors: v, Deleted: engine.NewBitset(rows), Metric: m}
		for i := range rows {
			for j := range v.Float32(i) {
				v.Float32(i)[j] = float32(r.NormFloat64())
			}
			if r.IntN(9) == 0 {
				g.Deleted.Set(i)
			}
		}
		filter := engine.NewBitset(rows)
		for i := range rows / 3 {
			filter.Set(3 * i)
		}
		answers := func() (all [][]engine.Hit) {
			p, err := segment.NewProbe(g, segment.Milvus(2, 3))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				hits, _, err := p.Search(v.Row(i*11), segment.Params{K: 1 + i*9}, []*engine.Bitset{nil, filter}[i%2],
					nil)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, hits)
			}
			return all
		}
		want := answers()
		if shaded, err := g.Quantize(3, 1, -1); shaded || err != nil {
			t.Fatalf("codes for three searches: %v, %v", shaded, err)
		}
		if shaded, err := g.Quantize(1000, 2, rows*dim/2); shaded || err != nil {
			t.Fatalf("codes that there is no room for: %v, %v", shaded, err)
		}
		if shaded, err := g.Quantize(1000, 2, -1); !shaded || err != nil {
			t.Fatalf("codes for 1,000 searches: %v, %v", shaded, err)
		}
		if d := cmp.Diff(want, answers(), cmp.Transformer("bits", math.Float32bits)); d != "" {
			t.Errorf("%v: with codes (+)\n%s", m, d)
		}
		g.Release()
		if g.Codes != nil {
			t.Error("codes outlive their segment")
		}
	}
}
