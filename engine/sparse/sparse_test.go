package sparse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

func random(t *testing.T, rng *rand.Rand, rows, dims int) *engine.Vectors {
	t.Helper()
	list := make([][]byte, rows)
	for i := range list {
		for d := range uint32(dims) {
			if rng.IntN(3) == 0 {
				list[i] = AppendPair(list[i], d, float32(rng.IntN(4)))
			}
		}
	}
	v, err := engine.JoinSparse(list)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSumsInPlaceOfWalks holds that adding up all lists answers what the walk does that it stands for, windows and filters included.
func TestSumsInPlaceOfWalks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range []engine.Metric{dist.InnerProduct, dist.BM25} {
		x, err := Build(random(t, rng, 2*window+77, 30), m)
		if err != nil {
			t.Fatal(err)
		}
		algorithm := MaxScore
		sums, err := New(x, Options{Algorithm: &algorithm})
		if err != nil {
			t.Fatal(err)
		}
		walk := sums.Clone()
		walk.sound = false // it walks, whatever the bounds are
		filter := engine.NewBitset(x.Rows)
		for range x.Rows / 2 {
			filter.Set(rng.IntN(x.Rows))
		}
		queries := random(t, rng, 40, 30)
		summed := 0
		for i := range queries.Rows {
			for _, p := range []Params{{K: 1}, {K: 10}, {K: 100, Filter: filter}, {K: 9000}} {
				a, err := sums.Search(queries.Row(i), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				summed += sums.Scored()
				b, err := walk.Search(queries.Row(i), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				summed -= walk.Scored()
				if !slices.Equal(a, b) {
					t.Fatalf("%s, query %d, k %d: %v, a walk finds %v", m, i, p.K, a[:min(len(a), 5)], b[:min(len(b), 5)])
				}
			}
		}
		if summed <= 0 {
			t.Errorf("%s: nothing was added up in place of a walk", m)
		}
	}
}

func TestSortAsCPP(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		list := make([]ordered[float64], n)
		for i := range list {
			list[i] = ordered[float64]{float64(rng.IntN(20)), uint32(i)}
		}
		if n%3 == 0 { // an order that is bad for quicksort
			for i := range list {
				list[i].key = float64(i ^ 1)
			}
		}
		sortAsCPP(list)
		if !slices.IsSortedFunc(list, func(a, b ordered[float64]) int { return int(a.key - b.key) }) {
			t.Fatalf("%v", list)
		}
		by := slices.Clone(list)
		rng.Shuffle(n, func(i, j int) { by[i], by[j] = by[j], by[i] })
		heapSort(by)
		for i := range by {
			if by[i].key != list[i].key {
				t.Fatalf("%v, by a heap %v", list, by)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	x, err := Build(random(t, rand.New(rand.NewPCG(1, 1)), 10, 5), dist.InnerProduct)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := AppendPair(nil, 1, 1)
	for _, test := range []struct {
		query []byte
		p     Params
		want  string
	}{
		{good, Params{K: 3}, ""},
		{good[:5], Params{K: 3}, "5 bytes"},
		{AppendPair(good, 1, 1), Params{K: 3}, "stands behind"},
		{good, Params{}, "k is 0"},
		{good, Params{K: 3, SparseParams: engine.SparseParams{DropRatio: 1}}, "drop ratio is 1"},
		{good, Params{K: 3, SparseParams: engine.SparseParams{MaxScoreRatio: 2}}, "0.5 to 1.3"},
		{good, Params{K: 3, SparseParams: engine.SparseParams{RefineFactor: -1}}, "refine factor is -1"},
	} {
		_, err := s.Search(test.query, test.p, nil)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, expected %q", err, test.want)
		}
	}
	if _, err := New(x, Options{Library: engine.Knowhere22}); err == nil {
		t.Error("knowhere 2.2 has sparse vectors")
	}
}
