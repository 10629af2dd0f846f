package dist

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestGatherAheadMatchesGather(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows, most = 12, 257
	data := make([]float32, (rows+1)*most)
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	q, base := unsafe.Pointer(&data[0]), unsafe.Pointer(&data[most])
	for _, b := range Backends() {
		for _, m := range []Metric{L2, InnerProduct} {
			for _, p := range profiles() {
				for _, dim := range []int{1, 3, 15, 16, 17, 28, 48, 100, 128, 257} {
					k := newKernel(b, m, Float32, p, dim)
					for n := range 10 {
						ids := make([]uint32, n+Lookahead)
						for i := range ids {
							ids[i] = uint32(r.IntN(rows))
						}
						got, want := make([]float32, n+1), make([]float32, n+1)
						k.GatherAhead(q, base, 4*most, ids, got)
						k.Gather(q, base, 4*most, ids[:n], want)
						if !slices.Equal(got, want) {
							t.Fatalf("%s, %s, %s, %d dimensions, %d rows: %v, Gather has %v", b, m, p, dim, n, got,
								want)
						}
					}
				}
			}
		}
	}
}
