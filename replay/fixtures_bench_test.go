package replay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
)

// BenchmarkFixtures measures queries per second on one core: 10,000 queries to each recorded collection of float
// vectors, in one session.
func BenchmarkFixtures(b *testing.B) {
	for _, version := range []string{"2.3.5", "cluster-2.3.5"} {
		store := openStore(b, version)
		for _, c := range recorded(b, version) {
			if c.Hits == nil {
				continue
			}
			l := layoutOf(b, store, &c)
			if l.Collection.Element != dist.Float32 {
				continue
			}
			b.Run(version+"/"+c.Name, func(b *testing.B) {
				target := newTarget(b, loadOf(b, store, l, nil), replay.TargetOptions{Options: segment.Milvus(2, 3)})
				queries := randomVectors(b, rand.New(rand.NewPCG(1, 1)), 10000, c.Dim)
				requests := make([]*load.Request, queries.Rows)
				for i := range requests {
					one, err := queries.Slice(i, i+1)
					if err != nil {
						b.Fatal(err)
					}
					requests[i] = &load.Request{
						Number: i, Vectors: one, K: c.Limit, SearchParams: engine.SearchParams{EF: c.EF},
					}
				}
				s, err := target.Session(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				for b.Loop() {
					for _, r := range requests {
						if _, err := s.Ask(b.Context(), r); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.N*len(requests))/time.Since(began).Seconds(), "queries/s")
			})
		}
	}
}
