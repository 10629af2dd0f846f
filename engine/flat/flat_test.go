package flat

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// randomRows returns random rows of any element type. They have few distinct values, so that many distances are
// equal.
func randomRows(t testing.TB, r *rand.Rand, e dist.Element, dim, rows int) *engine.Vectors {
	t.Helper()
	v, err := engine.NewVectors(e, dim, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		row := v.Row(i)
		for j := range row {
			switch e {
			case dist.Bit:
				row[j] = byte(r.Intn(256))
			case dist.Int8:
				row[j] = byte(r.Intn(9) - 4)
			default:
				row[j] = 0
			}
		}
		for j := range dim {
			x := float32(r.Intn(9)-4) / 4
			switch e {
			case dist.Float32:
				v.Float32(i)[j] = x
			case dist.BFloat16:
				b := math.Float32bits(x)
				row[2*j], row[2*j+1] = byte(b>>16), byte(b>>24)
			case dist.Float16: // 0, or a power of two with a random sign
				row[2*j+1] = byte(r.Intn(2)<<7 | r.Intn(3)<<2 | 0x30)
			default:
			}
		}
	}
	return v
}

// brute returns all rows sorted by distance, which is the expected result if the library does not matter.
func brute(s *Searcher, x *engine.Vectors, query []byte, excluded *engine.Bitset) []engine.Hit {
	q, _ := s.prepare(query)
	var hits []engine.Hit
	for i := range x.Rows {
		d := s.kernel.One(q.at(), unsafe.Pointer(&x.Row(i)[0]))
		if s.norms != nil {
			d /= s.norms[i] * q.norm
		}
		if !excluded.Has(i) && d == d {
			hits = append(hits, engine.Hit{ID: int64(i), Distance: d})
		}
	}
	slices.SortStableFunc(hits, func(a, b engine.Hit) int {
		if s.Similarity() {
			a, b = b, a
		}
		switch {
		case a.Distance < b.Distance:
			return -1
		case a.Distance > b.Distance:
			return 1
		}
		return 0
	})
	return hits
}

type spec struct {
	metric  engine.Metric
	element dist.Element
	policy  engine.Library
}

var specs = []spec{
	{dist.L2, dist.Float32, engine.Faiss},
	{dist.L2, dist.Float32, engine.Knowhere22},
	{dist.L2, dist.Float32, engine.HNSWLib},
	{dist.InnerProduct, dist.Float32, engine.Faiss},
	{dist.InnerProduct, dist.Float32, engine.Knowhere22},
	{dist.InnerProduct, dist.Float32, engine.HNSWLib},
	{dist.Cosine, dist.Float32, engine.Knowhere22},
	{dist.Cosine, dist.Float32, engine.Knowhere23},
	{dist.Cosine, dist.Float32, engine.HNSWLib},
	{dist.L2, dist.Float16, engine.Knowhere23},
	{dist.InnerProduct, dist.BFloat16, engine.Knowhere23},
	{dist.Cosine, dist.Float16, engine.Knowhere23},
	{dist.L2, dist.Int8, engine.Knowhere23},
	{dist.Cosine, dist.Int8, engine.Knowhere23},
	{dist.Hamming, dist.Bit, engine.Knowhere22},
	{dist.Jaccard, dist.Bit, engine.Knowhere22},
}

func (c spec) String() string {
	return fmt.Sprintf("metric %d element %d %v", c.metric, c.element, c.policy)
}

// TestBatchMatchesSingle checks that batches return the same hits as single searches, to the bit. It
// covers batches of all sizes, rows across block boundaries, and dense and sparse filters.
func TestBatchMatchesSingle(t *testing.T) {
	r, rounds := rand.New(rand.NewSource(5)), 6
	if testing.Short() {
		rounds = 1
	}
	for _, c := range specs {
		for range rounds {
			dim := []int{1, 3, 8, 17, 40}[r.Intn(5)]
			rows := []int{0, 1, 63, 64, 511, 512, 513, 1500}[r.Intn(8)]
			x, queries := randomRows(t, r, c.element, dim, rows), randomRows(t, r, c.element, dim, 1+r.Intn(80))
			index := &Index{Vectors: x, Metric: c.metric}
			if r.Intn(2) == 0 {
				index.Deleted = sparse(r, rows, 0.1)
			}
			s, err := New(index, Options{Library: c.policy})
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			p := Params{K: []int{1, 10, 99, 100, 250, 2000}[r.Intn(6)]}
			if share := []float64{0, 0.3, 0.9, 1}[r.Intn(4)]; share > 0 {
				p.Filter = sparse(r, rows, share)
			}
			batch, err := s.SearchBatch(queries, p, 1+r.Intn(4))
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			left := p.Filter.Or(index.Deleted)
			for i := range queries.Rows {
				hits, err := s.Search(queries.Row(i), p, nil)
				if err != nil {
					t.Fatalf("%v: %v", c, err)
				}
				if !bytes.Equal(bitsOf(hits), bitsOf(batch[i])) {
					t.Fatalf("%v dim %d rows %d %+v query %d: the batch says %v, alone it is %v", c, dim, rows, p, i,
						batch[i], hits)
				}
				if c.policy != engine.HNSWLib {
					checkDistances(t, c, hits, brute(s, x, queries.Row(i), left), p.K)
				}
			}
		}
	}
}

func sparse(r *rand.Rand, rows int, share float64) *engine.Bitset {
	b := engine.NewBitset(rows)
	for i := range rows {
		if r.Float64() < share {
			b.Set(i)
		}
	}
	return b
}

// checkDistances compares the distances of hits with the sorted distances of all rows.
func checkDistances(t *testing.T, c spec, hits, all []engine.Hit, k int) {
	t.Helper()
	all = all[:min(k, len(all))]
	if len(hits) != len(all) {
		t.Fatalf("%v: %d hits, want %d", c, len(hits), len(all))
	}
	seen := map[int64]bool{}
	for i, h := range hits {
		if h.Distance != all[i].Distance || seen[h.ID] {
			t.Fatalf("%v: hit %d is %v, want the distance %v once", c, i, h, all[i].Distance)
		}
		seen[h.ID] = true
	}
}

func TestNaNIsNotAHit(t *testing.T) {
	nan := float32(math.NaN())
	x, err := engine.FromFloat32s(2, []float32{1, 1, nan, 0, 2, 2, 0, nan, 3, 3, float32(math.Inf(1)), 0})
	if err != nil {
		t.Fatal(err)
	}
	q, _ := engine.FromFloat32s(2, []float32{1, 1, nan, 1, 0, 0})
	for _, policy := range []engine.Library{engine.Faiss, engine.Knowhere22, engine.Knowhere23} {
		s, err := New(&Index{Vectors: x, Metric: dist.L2}, Options{Library: policy})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.SearchBatch(q, Params{K: 200}, 1)
		if err != nil {
			t.Fatal(err)
		}
		// An infinite distance is not better than the initial value of a heap either.
		want := [][]engine.Hit{
			{{ID: 0, Distance: 0}, {ID: 2, Distance: 2}, {ID: 4, Distance: 8}},
			{},
			{{ID: 0, Distance: 2}, {ID: 2, Distance: 8}, {ID: 4, Distance: 18}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", policy, d)
		}
	}
}

// TestKEqualsRows checks that a search can return all rows of an index with more than MaxK, alone and in a
// batch.
func TestKEqualsRows(t *testing.T) {
	const rows = MaxK + 500
	v := make([]float32, rows)
	for i := range v {
		v[i] = float32(i * 7919 % rows)
	}
	x, err := engine.FromFloat32s(1, v)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := engine.FromFloat32s(1, []float32{0})
	for _, policy := range []engine.Library{engine.Faiss, engine.HNSWLib} {
		s, err := New(&Index{Vectors: x}, Options{Library: policy})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := s.Search(q.Row(0), Params{K: rows}, nil)
		if err != nil || len(hits) != rows {
			t.Fatalf("%v: %d hits, %v", policy, len(hits), err)
		}
		for i, h := range hits {
			if h.Distance != float32(i)*float32(i) {
				t.Fatalf("%v: hit %d is %v", policy, i, h)
			}
		}
		batch, err := s.SearchBatch(q, Params{K: rows}, 1)
		if err != nil || !slices.Equal(batch[0], hits) {
			t.Errorf("%v: the batch says otherwise, %v", policy, err)
		}
		if _, err := s.Search(q.Row(0), Params{K: rows + 1}, nil); err == nil {
			t.Errorf("%v: more than all rows: no error", policy)
		}
	}
}

func TestRowsWithoutLengthUnderCosine(t *testing.T) {
	x, _ := engine.FromFloat32s(2, []float32{0, 0, 3, 4, -3, -4})
	q, _ := engine.FromFloat32s(2, []float32{6, 8, 0, 0})
	tests := []struct {
		name   string
		index  Index
		policy engine.Library
		want   [][]int64
	}{
		// 0/0 is NaN, which is never a hit.
		{"knowhere 2.2 computes the norms", Index{}, engine.Knowhere22, [][]int64{{1, 2}, {1, 2}}},
		// The index of knowhere 2.2 has norm 1 for such rows (NormalizeVec).
		{
			"knowhere 2.2 has the norms",
			Index{Norms: []float32{1, 5, 5}},
			engine.Knowhere22,
			[][]int64{{1, 0, 2}, {0, 2, 1}},
		},
		{"knowhere 2.3", Index{}, engine.Knowhere23, [][]int64{{1, 0, 2}, {2, 1, 0}}},
	}
	for _, test := range tests {
		test.index.Vectors, test.index.Metric = x, dist.Cosine
		s, err := New(&test.index, Options{Library: test.policy})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			hits, err := s.Search(q.Row(i), Params{K: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, h := range hits {
				got = append(got, h.ID)
			}
			if i == 1 { // all equally near: the order is unspecified
				slices.Sort(got)
				slices.Sort(want)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, query %d: %s", test.name, i, d)
			}
		}
	}
}
