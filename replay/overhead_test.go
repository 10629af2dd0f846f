package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// BenchmarkOverhead measures the overhead of replay over the bare engine. It runs the same queries with the same
// searchers of the same graphs, because other memory addresses alone cost some percent. It alternates batches
// without a session and through one. The median excludes batches in which the thread was interrupted.
func BenchmarkOverhead(b *testing.B) {
	const dim, batch = 128, 10
	for name, c := range map[string]struct{ segments, rows int }{
		"one segment of 20,000": {1, 20000}, "eight of 5,000": {8, 5000},
	} {
		b.Run(name, func(b *testing.B) {
			loaded := graphs(b, c.segments, c.rows, dim, 16)
			requests := oneByOne(b, randomVectors(b, rand.New(rand.NewPCG(2, 2)), 1000, dim))
			target, err := NewTarget(loaded, TargetOptions{Options: segment.Milvus(2, 3)})
			if err != nil {
				b.Fatal(err)
			}
			opened, err := target.Session(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			s, ok := opened.(*session)
			if !ok {
				b.Fatalf("a session is a %T", opened)
			}
			var direct, through []float64
			for n := 0; b.Loop(); n++ {
				list := requests[n*batch%len(requests):][:batch]
				withoutDriver(b, s, list) // so that the rows are cached for both
				if n/2%2 == 0 {
					direct = append(direct, withoutDriver(b, s, list))
					through = append(through, withDriver(b, s, list))
				} else {
					through = append(through, withDriver(b, s, list))
					direct = append(direct, withoutDriver(b, s, list))
				}
			}
			slices.Sort(direct)
			slices.Sort(through)
			b.ReportMetric(100*(through[len(through)/2]/direct[len(direct)/2]-1), "overhead-%")
			b.ReportMetric(through[len(through)/2]/batch, "us/query")
		})
	}
}

// withoutDriver runs the searchers of a session directly.
func withoutDriver(b *testing.B, s *session, requests []*load.Request) float64 {
	b.Helper()
	began := time.Now()
	var hits []engine.Hit
	for _, r := range requests {
		for _, p := range s.worker.probes {
			var err error
			if hits, _, err = p.Search(r.Vectors.Row(0),
				segment.Params{K: r.K, SearchParams: engine.SearchParams{EF: r.EF}}, nil, hits[:0]); err != nil {
				b.Fatal(err)
			}
		}
	}
	return float64(time.Since(began)) / 1000
}

func withDriver(b *testing.B, s *session, requests []*load.Request) float64 {
	b.Helper()
	began := time.Now()
	for _, r := range requests {
		if _, err := s.Ask(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(began)) / 1000
}
