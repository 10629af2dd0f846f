package replay

import (
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// graphs returns segments with HNSW indexes of random vectors, placed on two nodes in turn.
func graphs(t testing.TB, segments, rows, dim, m int) *Loaded {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	l := &Loaded{Layout: &Layout{
		Collection: Collection{Name: "random", Dim: dim}, Replicas: []Replica{{ID: 1}},
		Nodes: []Node{{ID: 1, Cores: 2}, {ID: 2, Cores: 2}},
	}}
	for i := range segments {
		v := randomVectors(t, r, rows, dim)
		x, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{
			M: m, EFConstruction: 100, Library: engine.Knowhere22, Threads: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		g := &segment.Segment{
			ID: int64(i + 1), Rows: rows, Vectors: x.Vectors, Deleted: engine.NewBitset(rows),
			Index: &index.File{Searchable: index.FromGraph(x), Dim: dim, Rows: rows},
		}
		for j := range rows {
			g.Int64s, g.Timestamps = append(g.Int64s, int64(i*rows+j)), append(g.Timestamps, 1)
		}
		info := &Segment{
			ID: g.ID, State: Indexed, Rows: int64(rows), Channel: "a", On: []int64{int64(i%2 + 1)},
			Index: Index{Type: "HNSW", M: m},
		}
		l.Layout.Segments = append(l.Layout.Segments, *info)
		l.Parts = append(l.Parts, &Part{Info: info, State: Indexed, Data: g})
	}
	return l
}

func randomVectors(t testing.TB, r *rand.Rand, rows, dim int) *engine.Vectors {
	t.Helper()
	values := make([]float32, rows*dim)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	v, err := engine.FromFloat32s(dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func oneByOne(t testing.TB, queries *engine.Vectors) []*load.Request {
	t.Helper()
	requests := make([]*load.Request, queries.Rows)
	for i := range requests {
		one, err := queries.Slice(i, i+1)
		if err != nil {
			t.Fatal(err)
		}
		requests[i] = &load.Request{Number: i, Vectors: one, K: 10, SearchParams: engine.SearchParams{EF: 64}}
	}
	return requests
}

// TestNoMemoryPerQuery checks that a warmed-up session over graphs allocates no memory per request, including
// filters, costs and the slowest queries.
func TestNoMemoryPerQuery(t *testing.T) {
	target, err := NewTarget(graphs(t, 3, 500, 8, 8), TargetOptions{Options: segment.Milvus(2, 3), Slowest: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	requests := oneByOne(t, randomVectors(t, rand.New(rand.NewPCG(2, 2)), 50, 8))
	for i := range 1450 {
		requests[3].Keys = append(requests[3].Keys, engine.NumberKey(int64(i)))
	}
	all := func() {
		for _, r := range requests {
			if _, err := s.Ask(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	if n := testing.AllocsPerRun(5, all) / float64(len(requests)); n > 0.1 { // a new slowest query may be added
		t.Errorf("%v allocations per query", n)
	}
}

// TestModelIn checks that modelIn returns the CPU name from Linux's /proc/cpuinfo.
func TestModelIn(t *testing.T) {
	for in, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n\nprocessor : 1\nmodel name " +
			": other\n": "AMD EPYC 7763",
		"processor : 0\nBogoMIPS : 50.00\n": "", "": "",
	} {
		if got := modelIn(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDistancesOfMetrics checks that in all steps the greater inner product counts as nearer.
func TestDistancesOfMetrics(t *testing.T) {
	l := graphs(t, 2, 200, 4, 8)
	for _, p := range l.Parts {
		p.Data.Metric, p.State = dist.InnerProduct, Unindexed
	}
	target, err := NewTarget(l, TargetOptions{Options: segment.Milvus(2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Ask(t.Context(), oneByOne(t, randomVectors(t, rand.New(rand.NewPCG(2, 2)), 1, 4))[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range a.Hits[0][1:] {
		if h.Distance > a.Hits[0][i].Distance {
			t.Errorf("hit %d at %v after %v", i+1, h.Distance, a.Hits[0][i].Distance)
		}
	}
}

func TestOptionsFor(t *testing.T) {
	for version, want := range map[string]segment.Options{
		"2.1.0": segment.Milvus(2, 1), "v2.3.5": segment.Milvus(2, 3), "2.4.0-rc.1": segment.Milvus(2, 4),
		"": segment.Milvus(2, 6), "master": segment.Milvus(2, 6), "3.0": segment.Milvus(3, 0),
	} {
		if got := OptionsFor(version); got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
}
