package hnsw_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// ring returns a graph of rows nodes at places on a line. Each node is linked to the four nodes around it.
func ring(t testing.TB, rows int, metric engine.Metric) *hnsw.Index {
	t.Helper()
	var places []float32
	x := &hnsw.Index{Metric: metric}
	x.M, x.M0, x.MaxLevel = 2, 4, 0
	for i := range rows {
		places = append(places, float32(i)+1, 1)
		for _, d := range []int{1, 2, rows - 1, rows - 2} {
			x.Base = append(x.Base, uint32((i+d)%rows))
		}
		x.Levels, x.UpperAt = append(x.Levels, 0), append(x.UpperAt, 0)
	}
	v, err := engine.FromFloat32s(2, places)
	if err != nil {
		t.Fatal(err)
	}
	x.Vectors = v
	return x
}

func searcher(t testing.TB, x *hnsw.Index, o hnsw.Options) *hnsw.Searcher {
	t.Helper()
	s, err := x.NewSearcher(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSearchErrors(t *testing.T) {
	x, cosine := ring(t, 30, dist.L2), ring(t, 30, dist.Cosine)
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		index  *hnsw.Index
		policy engine.Library
		query  []float32
		p      hnsw.Params
		want   string
	}{
		{"no k", x, engine.HNSWLib, []float32{1, 1}, hnsw.Params{}, "k is 0"},
		{"negative ef", x, engine.Faiss, []float32{1, 1}, hnsw.Params{K: 1, EF: -1}, "ef is -1"},
		{
			"ef under k", x, engine.Knowhere22,
			[]float32{1, 1},
			hnsw.Params{K: 20, EF: 10},
			"ef (10) is smaller than k (20)",
		},
		{
			"ef under k", x, engine.Knowhere23,
			[]float32{1, 1},
			hnsw.Params{K: 20, EF: 10},
			"ef (10) is smaller than k (20)",
		},
		{"dimensions", x, engine.HNSWLib, []float32{1}, hnsw.Params{K: 1}, "4 bytes for vectors of 8"},
		{
			"not a number", x, engine.HNSWLib,
			[]float32{1, nan},
			hnsw.Params{K: 1},
			"dimension 1 of the query is not a number",
		},
		{"no direction", cosine, engine.Knowhere22, []float32{0, 0}, hnsw.Params{K: 1}, "no direction"},
		{"filter", x, engine.Faiss, []float32{1, 1}, hnsw.Params{K: 1, Filter: engine.NewBitset(7)}, "7 rows for 30"},
	} {
		_, _, err := searcher(t, c.index, hnsw.Options{Library: c.policy}).SearchFloat32(c.query, c.p, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %v: %v, want %q", c.name, c.policy, err, c.want)
		}
	}
	if _, err := x.NewSearcher(hnsw.Options{Library: 9}); err == nil {
		t.Error("policy 9 is known")
	}
}

func TestNewSearcherDanglingLinks(t *testing.T) {
	for name, spoil := range map[string]func(x *hnsw.Index){
		"entry":       func(x *hnsw.Index) { x.Entry = 30 },
		"base":        func(x *hnsw.Index) { x.Base = x.Base[:90] },
		"levels":      func(x *hnsw.Index) { x.Levels = x.Levels[:5] },
		"upper":       func(x *hnsw.Index) { x.Levels[3] = 1 },
		"upper place": func(x *hnsw.Index) { x.Levels[3], x.UpperAt[3] = 1, math.MaxUint32 },
		"max level":   func(x *hnsw.Index) { x.MaxLevel = 2 },
		"labels":      func(x *hnsw.Index) { x.Labels = make([]int64, 3) },
		"norms":       func(x *hnsw.Index) { x.Norms = make([]float32, 3) },
	} {
		x := ring(t, 30, dist.L2)
		if err := x.Check(30); err != nil {
			t.Fatal(err)
		}
		spoil(x)
		if _, err := x.NewSearcher(hnsw.Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	x := ring(t, 30, dist.L2)
	x.Base[5] = 31
	if err := x.Check(30); err == nil || !strings.Contains(err.Error(), "node 1 links on level 0 to node 31 of 30") {
		t.Errorf("a link outside: %v", err)
	}
	if hits, _, err := searcher(t, x, hnsw.Options{}).SearchFloat32([]float32{9, 1}, hnsw.Params{K: 3}, nil); err !=
		nil || len(hits) != 3 {
		t.Errorf("a search over a link outside: %v, %v", hits, err)
	}
}

func TestSearchSmall(t *testing.T) {
	empty := &hnsw.Index{Vectors: ring(t, 5, dist.L2).Vectors}
	empty.Vectors, _ = engine.NewVectors(dist.Float32, 2, 0)
	empty.MaxLevel = -1
	for _, policy := range []engine.Library{engine.HNSWLib, engine.Knowhere22, engine.Knowhere23, engine.Faiss} {
		s := searcher(t, empty, hnsw.Options{Library: policy})
		if hits, _, err := s.SearchFloat32([]float32{1, 1}, hnsw.Params{K: 3}, nil); err != nil || len(hits) != 0 {
			t.Errorf("%v: %v, %v of nothing", policy, hits, err)
		}
		x := ring(t, 6, dist.L2)
		hits, _, err := searcher(t, x, hnsw.Options{Library: policy}).SearchFloat32([]float32{3, 1},
			hnsw.Params{K: 100, EF: 100}, nil)
		if err != nil || len(hits) != 6 || hits[0].ID != 2 {
			t.Errorf("%v: %v, %v of six", policy, hits, err)
		}
		all := engine.NewBitset(6)
		for i := range 6 {
			all.Set(i)
		}
		hits, _, err = searcher(t, x, hnsw.Options{Library: policy}).SearchFloat32([]float32{3, 1},
			hnsw.Params{K: 2, Filter: all}, nil)
		if err != nil || len(hits) != 0 {
			t.Errorf("%v: %v, %v with all filtered", policy, hits, err)
		}
	}
}

func TestBruteForceReason(t *testing.T) {
	x := ring(t, 1000, dist.L2)
	filter := func(n int) *engine.Bitset {
		b := engine.NewBitset(1000)
		for i := range n {
			b.Set(i)
		}
		return b
	}
	for _, c := range []struct {
		p    hnsw.Params
		want string
	}{
		{hnsw.Params{K: 10}, ""},
		{hnsw.Params{K: 499}, ""},
		{hnsw.Params{K: 500}, hnsw.BruteForceK},
		{hnsw.Params{K: 10, Filter: filter(929)}, ""},
		{hnsw.Params{K: 10, Filter: filter(930)}, hnsw.BruteForceFilter},
		{hnsw.Params{K: 49, Filter: filter(900)}, ""},
		{hnsw.Params{K: 50, Filter: filter(900)}, hnsw.BruteForceKFilter},
	} {
		_, st, err := searcher(t, x, hnsw.Options{Library: engine.Knowhere22}).SearchFloat32([]float32{5, 1}, c.p, nil)
		if err != nil || st.BruteForce != c.want {
			t.Errorf("k %d, %d filtered: %q, %v; want %q", c.p.K, c.p.Filter.Count(), st.BruteForce, err, c.want)
		}
		_, st, err = searcher(t, x, hnsw.Options{Library: engine.Knowhere22, GraphOnly: true}).
			SearchFloat32([]float32{5, 1}, c.p, nil)
		if err != nil || st.BruteForce != "" || st.Hops == 0 {
			t.Errorf("graph only, k %d: %+v, %v", c.p.K, st, err)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	x := ring(t, 2000, dist.Cosine)
	x.Deleted = engine.NewBitset(2000)
	x.Deleted.Set(7)
	filter := engine.NewBitset(2000)
	for i := range 900 {
		filter.Set(2 * i)
	}
	for _, policy := range []engine.Library{engine.HNSWLib, engine.Knowhere22, engine.Knowhere23, engine.Faiss} {
		s := searcher(t, x, hnsw.Options{Library: policy})
		hits := make([]engine.Hit, 0, 2000)
		for _, p := range []hnsw.Params{{K: 10, EF: 50}, {K: 10, EF: 50, Filter: filter}} {
			n := testing.AllocsPerRun(20, func() {
				var err error
				if hits, _, err = s.SearchFloat32([]float32{3, 4}, p, hits[:0]); err != nil {
					t.Fatal(err)
				}
			})
			if n > 0 {
				t.Errorf("%v, filter of %d: %v allocations a query", policy, p.Filter.Count(), n)
			}
		}
	}
}

// TestVisitMarksWrap checks that the 65,536th query does not take the visit marks of the first
// query for its own. Marks have 16 bits.
func TestVisitMarksWrap(t *testing.T) {
	x := ring(t, 40, dist.L2)
	s := searcher(t, x, hnsw.Options{})
	want, _, _ := s.SearchFloat32([]float32{20, 1}, hnsw.Params{K: 5, EF: 5}, nil)
	for i := range 66000 {
		got, _, _ := s.SearchFloat32([]float32{20, 1}, hnsw.Params{K: 5, EF: 5}, nil)
		if len(got) != 5 || got[0] != want[0] || got[4] != want[4] {
			t.Fatalf("query %d: %v, want %v", i, got, want)
		}
	}
}

func TestSearchersShareAnIndex(t *testing.T) {
	x := ring(t, 500, dist.L2)
	o := hnsw.Options{Library: engine.Knowhere22}
	var wg sync.WaitGroup
	for g := range 4 {
		s := searcher(t, x, o)
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 300 {
				at := r.IntN(500)
				hits, _, err := s.SearchFloat32([]float32{float32(at) + 1, 1}, hnsw.Params{K: 1, EF: 300}, nil)
				if err != nil || hits[0].ID != int64(at) {
					t.Errorf("at %d: %v, %v", at, hits, err)
				}
			}
		})
	}
	wg.Wait()
}
