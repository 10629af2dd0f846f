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

// TestListsMatchRows checks that adding up lists finds the same hits as comparing row by row, with several
// windows and with filters.
func TestListsMatchRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range []engine.Metric{dist.InnerProduct, dist.BM25} {
		v := random(t, rng, 2*window+77, 30)
		x, err := Build(v, m)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := New(x, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := NewRows(v, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		filter := engine.NewBitset(x.Rows)
		for range x.Rows / 2 {
			filter.Set(rng.IntN(x.Rows))
		}
		queries := random(t, rng, 20, 30)
		for i := range queries.Rows {
			for _, p := range []Params{{K: 1}, {K: 10}, {K: 100, Filter: filter}, {K: 9000}} {
				a, err := lists.Search(queries.Row(i), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := rows.Search(queries.Row(i), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(a, b) {
					t.Fatalf("%s, query %d, k %d: %v, row by row %v", m, i, p.K, a[:min(len(a), 5)], b[:min(len(b), 5)])
				}
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
		{AppendPair(good, 1, 1), Params{K: 3}, "follows"},
		{good, Params{}, "k is 0"},
		{good, Params{K: 3, SparseParams: engine.SparseParams{DropRatio: 1}}, "drop ratio is 1"},
		{good, Params{K: 3, SparseParams: engine.SparseParams{RefineFactor: -1}}, "refine factor is -1"},
	} {
		_, err := s.Search(test.query, test.p, nil)
		if test.want == "" && err != nil ||
			test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, expected %q", err, test.want)
		}
	}
	if _, err := New(x, Options{Library: engine.Knowhere22}); err == nil {
		t.Error("knowhere 2.2 has sparse vectors")
	}
}
