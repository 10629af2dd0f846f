package target

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

func answer(k int, hits ...[]int64) *Answers {
	a := &Answers{K: k}
	for _, ids := range hits {
		var list []engine.Hit
		for _, id := range ids {
			list = append(list, engine.Hit{ID: id})
		}
		a.Hits = append(a.Hits, list)
	}
	return a
}

func TestRecallOf(t *testing.T) {
	for name, x := range map[string]struct {
		answers *Answers
		truth   [][]int64
		want    Recall
	}{
		"all": {answer(2, []int64{3, 4}), [][]int64{{4, 3}}, Recall{1, 1, 1, 0, 0}},
		"half, and nothing": {
			answer(2, []int64{3, 4}, []int64{5}), [][]int64{{3, 9}, {1, 2}}, Recall{2, 0.25, 0, 1, 0},
		},
		"truth is longer than k": {answer(2, []int64{3, 4}), [][]int64{{3, 9, 4}}, Recall{1, 0.5, 0.5, 0, 0}},
		"truth is shorter":       {answer(3, []int64{3, 4, 5}), [][]int64{{5, 4}}, Recall{1, 1, 1, 0, 1}},
		"truth is padded":        {answer(3, []int64{3, 4, 5}), [][]int64{{5, -1, -1}}, Recall{1, 1, 1, 0, 1}},
		"truth names one twice":  {answer(3, []int64{3, 4, 5}), [][]int64{{3, 3, 7}}, Recall{1, 0.5, 0.5, 0, 1}},
		"a hit is there twice": {
			answer(3, []int64{3, 3, 3}), [][]int64{{3, 4, 7}}, Recall{1, 1.0 / 3, 1.0 / 3, 0, 0},
		},
		"no true neighbours":        {answer(3, nil), [][]int64{{}}, Recall{1, 1, 1, 0, 1}},
		"an equally far one: by id": {answer(1, []int64{8}), [][]int64{{3}}, Recall{1, 0, 0, 0, 0}},
		"more truth than queries":   {answer(1, []int64{8}), [][]int64{{8}, {9}}, Recall{1, 1, 1, 0, 0}},
		"the first of the worst is it": {
			answer(1, []int64{1}, []int64{2}, []int64{3}), [][]int64{{1}, {0}, {0}}, Recall{3, 1.0 / 3, 0, 1, 0},
		},
	} {
		got, err := RecallOf(x.answers, x.truth)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(x.want, *got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if _, err := RecallOf(answer(1, nil, nil), [][]int64{{1}}); err == nil {
		t.Error("truth of one query of two was taken")
	}
}

// nearest returns the ids of the nearest rows, computed by the definition of the metric, without other code.
func nearest(v *engine.Vectors, q []float32, m engine.Metric, k int) []int64 {
	type row struct {
		id int64
		d  float64
	}
	var rows []row
	for i := range v.Rows {
		l2, ip, square := 0.0, 0.0, 0.0
		for j, x := range v.Float32(i) {
			a, b := float64(x), float64(q[j])
			l2, ip, square = l2+(a-b)*(a-b), ip+a*b, square+a*a
		}
		d := map[engine.Metric]float64{dist.L2: l2, dist.InnerProduct: -ip, dist.Cosine: -ip / math.Sqrt(square)}[m]
		rows = append(rows, row{int64(i), d})
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.d < b.d {
			return -1
		}
		return 1
	})
	var ids []int64
	for _, r := range rows[:k] {
		ids = append(ids, r.id)
	}
	return ids
}

func TestExactMatchesBruteForce(t *testing.T) {
	v, queries := random(t, 300, 9), random(t, 7, 9)
	for _, m := range []engine.Metric{dist.L2, dist.InnerProduct, dist.Cosine} {
		for name, x := range map[string]*Target{"graph": built(t, v, m), "rows": openedAs(t, written(t, v), m)} {
			got, err := x.Exact(t.Context(), queries, index.Params{K: 12, SearchParams: engine.SearchParams{EF: 12}},
				Options{}, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, ids := range got {
				if want := nearest(v, queries.Float32(i), m, 12); !slices.Equal(want, ids) {
					t.Errorf("%s %s, query %d: %v, want %v", m, name, i, ids, want)
				}
			}
		}
	}
	// Reading all lists is exact.
	x, err := Open(t.Context(), milvusIVF, Hint{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	few := random(t, 3, 16)
	exact, err := x.Exact(t.Context(), few, index.Params{K: 5}, Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := x.Search(t.Context(), few, index.Params{K: 5, SearchParams: engine.SearchParams{NProbe: 32}}, Options{},
		1)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := RecallOf(all, exact); err != nil || r.Mean != 1 {
		t.Errorf("recall %v of all lists (%v)", r, err)
	}
	if got, want := all.Cost[0].Distances,
		index.As[ivf.Index](x.File).Rows()+len(index.As[ivf.Index](x.File).Lists); got != want {
		t.Errorf("all lists cost %d distances, want %d", got, want)
	}
}

func TestSearchRefuses(t *testing.T) {
	x := built(t, random(t, 50, 4), dist.L2)
	bytes4, err := engine.NewVectors(dist.Int8, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	none, err := random(t, 3, 4).Slice(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	broken := random(t, 3, 4)
	broken.Float32(2)[1] = float32(math.NaN())
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		queries *engine.Vectors
		p       index.Params
		o       Options
		want    string
	}{
		"dimensions": {t.Context(), random(t, 3, 5), index.Params{K: 1}, Options{}, "queries have 5 dimensions"},
		"element":    {t.Context(), bytes4, index.Params{K: 1}, Options{}, "are float32: write them as float32"},
		"none":       {t.Context(), none, index.Params{K: 1}, Options{}, "no queries"},
		"k":          {t.Context(), random(t, 3, 4), index.Params{}, Options{}, "k is 0"},
		"NaN":        {t.Context(), broken, index.Params{K: 1}, Options{Library: engine.Faiss}, "query 2: dimension 1"},
		"ef below k": {
			t.Context(), random(t, 3, 4),
			index.Params{K: 10, SearchParams: engine.SearchParams{EF: 5}},
			Options{Library: engine.Knowhere22},
			"ef (5) is smaller than k (10)",
		},
		"cancelled": {done, random(t, 3, 4), index.Params{K: 1}, Options{}, "canceled"},
	} {
		a, err := x.Search(c.ctx, c.queries, c.p, c.o, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) || a != nil {
			t.Errorf("%s: %v, %v, want %q", name, a, err, c.want)
		}
	}
}

func TestExcludeByID(t *testing.T) {
	for path, ids := range map[string][2]int64{ // two existing ids
		indexFiles + "hnswlib_l2.bin":        {1, 2},
		indexFiles + "faiss_flat_l2.bin":     {0, 3},
		indexFiles + "hnswlib_ip_labels.bin": {},
		indexFiles + "faiss_idmap_flat.bin":  {},
		indexFiles + "faiss_idmap_ivf.bin":   {},
		milvusIVF:                            {5, 2999},
	} {
		x, err := Open(t.Context(), path, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if ids[1] == 0 {
			n := 0
			x.eachStored(func(s storedRow) { ids[min(n, 1)] = s.id; n++ })
		}
		filter, err := x.Exclude(ids[:])
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		queries := random(t, 4, x.File.Dim)
		for _, p := range []index.Params{
			{K: x.File.Rows, SearchParams: engine.SearchParams{EF: x.File.Rows}},
			{K: x.File.Rows, SearchParams: engine.SearchParams{EF: x.File.Rows}, Filter: filter},
		} {
			if index.As[ivf.Index](x.File) != nil {
				p.EF, p.NProbe = 0, len(index.As[ivf.Index](x.File).Lists)
			}
			a, err := x.Search(t.Context(), queries, p, Options{}, 1)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for i, hits := range a.Hits {
				has := slices.ContainsFunc(hits, func(h engine.Hit) bool { return h.ID == ids[0] || h.ID == ids[1] })
				if has == (p.Filter != nil) {
					t.Errorf("%s, query %d of %d hits: ids %v are there: %v", path, i, len(hits), ids, has)
				}
			}
		}
		if _, err := x.Exclude([]int64{ids[0], 987654321}); err == nil ||
			!strings.Contains(err.Error(), "no row has the id 987654321") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestUnusedAndEF(t *testing.T) {
	v := random(t, 50, 4)
	graph, rows := built(t, v, dist.L2), openedAs(t, written(t, v), dist.L2)
	for _, c := range []struct {
		t    *Target
		p    index.Params
		o    Options
		name string
		ef   int
	}{
		{graph, index.Params{K: 3}, Options{}, "", 10},
		{graph, index.Params{K: 3, SearchParams: engine.SearchParams{EF: 7}}, Options{}, "", 7},
		{graph, index.Params{K: 30}, Options{Library: engine.Knowhere22}, "", 30},
		{graph, index.Params{K: 3}, Options{Library: engine.Faiss}, "", 16},
		{graph, index.Params{SearchParams: engine.SearchParams{NProbe: 3}, K: 1}, Options{}, "nprobe", 10},
		{graph, index.Params{K: 1}, Options{Library: engine.Knowhere22}, "", 16},
		{rows, index.Params{K: 1, SearchParams: engine.SearchParams{EF: 5}}, Options{}, "ef", 0},
	} {
		name, _ := c.t.Unused(&c.p)
		if ef := (&SearchResult{Target: c.t, Params: c.p, Options: c.o}).EF(); name != c.name || ef != c.ef {
			t.Errorf("%+v: %q is not used, want %q; ef %d, want %d", c.p, name, c.name, ef, c.ef)
		}
	}
}

func TestMeasure(t *testing.T) {
	x, queries := built(t, random(t, 200, 6), dist.L2), random(t, 9, 6)
	cpu := time.Duration(0)
	l := &Load{
		Params: index.Params{K: 4, SearchParams: engine.SearchParams{EF: 20}}, Threads: 2, Rounds: 3,
		CPU: func() time.Duration { cpu += 18 * time.Microsecond; return cpu },
	}
	s, err := x.Measure(t.Context(), queries, l)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.QPS) != 3 || len(s.CPU) != 3 || s.CPU[0] != 2*time.Microsecond || len(s.Latency) != 27 ||
		!slices.IsSorted(s.Latency) {
		t.Errorf("%d rounds, CPU %v, %d latencies", len(s.QPS), s.CPU, len(s.Latency))
	}
	want, err := x.Search(t.Context(), queries, l.Params, Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Hits, s.Answers.Hits); d != "" {
		t.Errorf("what was measured answers otherwise: %s", d)
	}
	distances, hops := s.Answers.PerQuery()
	if wantD, wantH := want.PerQuery(); distances != wantD || hops != wantH || distances < 20 || hops < 1 {
		t.Errorf("%v distances and %v hops, want %v and %v", distances, hops, wantD, wantH)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Measure(done, queries, l); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := x.Measure(t.Context(), random(t, 2, 7), l); err == nil {
		t.Error("queries of another dimension were measured")
	}
}

func TestLatencyAt(t *testing.T) {
	s := &Speed{Latency: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}
	for q, want := range map[float64]time.Duration{0: 1, 0.1: 1, 0.11: 2, 0.5: 5, 0.95: 10, 0.9: 9, 1: 10} {
		if got := s.LatencyQuantile(q); got != want {
			t.Errorf("at %v: %d, want %d", q, got, want)
		}
	}
	if (&Speed{}).LatencyQuantile(0.5) != 0 {
		t.Error("a latency of nothing")
	}
}
