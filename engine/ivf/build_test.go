package ivf_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/ivf"
)

// clustered are rows around some centres, of which rows 0 to 9 are equal.
func clustered(t *testing.T, rows, dim int) *engine.Vectors {
	t.Helper()
	r := rand.New(rand.NewPCG(9, uint64(dim)))
	centres := make([]float32, 20*dim)
	for i := range centres {
		centres[i] = float32(r.NormFloat64())
	}
	v, err := engine.NewVectors(dist.Float32, dim, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		c := centres[r.IntN(20)*dim:]
		for j := range dim {
			put(v, i, j, c[j]+float32(r.NormFloat64())/2)
		}
		if i < 10 {
			copy(v.Row(i), v.Row(0))
		}
	}
	return v
}

func put(v *engine.Vectors, row, at int, x float32) {
	unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v.Row(row)))), v.Dim)[at] = x
}

// TestBuiltListsFindWhatIsThere: all rows are in the list of their nearest centroid, the codes are theirs, any number of threads makes the same, and
// searches find about what a comparison row by row does.
func TestBuiltListsFindWhatIsThere(t *testing.T) {
	v := clustered(t, 1200, 12)
	for _, c := range []struct {
		name   string
		o      ivf.BuildOptions
		recall float64
	}{
		{"whole", ivf.BuildOptions{}, 0.95},
		{"bytes", ivf.BuildOptions{Bytes: true}, 0.9},
		{"8 bits", ivf.BuildOptions{Parts: 6, Bits: 8}, 0.7},
		{"5 bits", ivf.BuildOptions{Parts: 12, Bits: 5}, 0.7},
	} {
		for _, m := range []engine.Metric{dist.L2, dist.InnerProduct} {
			t.Run(c.name+" "+m.String(), func(t *testing.T) {
				c.o.Metric, c.o.Lists, c.o.Seed, c.o.Threads = m, 30, 7, 1
				x, err := ivf.Build(t.Context(), v, c.o)
				if err != nil {
					t.Fatal(err)
				}
				c.o.Threads = 3
				again, err := ivf.Build(t.Context(), v, c.o)
				if err != nil {
					t.Fatal(err)
				}
				held(t, x, again, v)
				if got := recall(t, x, v); got < c.recall {
					t.Errorf("recall %g", got)
				}
			})
		}
	}
}

// held tells that each row is in one list with its own code, in both indexes the same.
func held(t *testing.T, x, again *ivf.Index, v *engine.Vectors) {
	t.Helper()
	seen, wrong := 0, 0
	var holds func(i, j int, v []float32) bool
	if x.Codec != nil {
		holds = x.Holds()
	}
	for i, l := range x.Lists {
		if !slices.Equal(l.IDs, again.Lists[i].IDs) {
			t.Fatalf("list %d depends on the number of threads", i)
		}
		for j, id := range l.IDs {
			if seen++; !slices.Equal(l.Vectors.Row(j), again.Lists[i].Vectors.Row(j)) {
				t.Fatalf("row %d depends on the number of threads", id)
			}
			if x.Codec == nil && !slices.Equal(l.Vectors.Row(j), v.Row(int(id))) || x.Codec != nil && !holds(i, j, v.Float32(int(id))) {
				wrong++
			}
		}
	}
	if seen != v.Rows || wrong > 0 {
		t.Errorf("%d of %d rows, %d have the code of another", seen, v.Rows, wrong)
	}
}

// recall is the share of the ten nearest that are found in a fifth of the lists.
func recall(t *testing.T, x *ivf.Index, v *engine.Vectors) float64 {
	t.Helper()
	s, err := ivf.New(x, ivf.Options{Library: engine.Faiss})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := flat.New(&flat.Index{Metric: x.Metric, Vectors: v}, flat.Options{Library: engine.Faiss})
	if err != nil {
		t.Fatal(err)
	}
	found, asked := 0, 0
	for q := 20; q < v.Rows; q += 60 {
		want, err := exact.Search(v.Row(q), flat.Params{K: 10}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Search(v.Row(q), ivf.Params{K: 10, NProbe: 6}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range want {
			asked++
			if slices.ContainsFunc(got, func(g engine.Hit) bool { return g.ID == h.ID }) {
				found++
			}
		}
	}
	return float64(found) / float64(asked)
}

func TestBuildTakesFewAndOddRows(t *testing.T) {
	same := clustered(t, 10, 4) // ten rows of which all are equal: centroids without rows
	if x, err := ivf.Build(t.Context(), same, ivf.BuildOptions{Lists: 10}); err != nil || x.Rows() != 10 {
		t.Errorf("equal rows: %v", err)
	}
	if x, err := ivf.Build(t.Context(), same, ivf.BuildOptions{Lists: 3, Metric: dist.InnerProduct}); err != nil || x.Rows() != 10 {
		t.Errorf("equal rows, fewer lists: %v", err)
	}
	odd := clustered(t, 300, 4)
	put(odd, 40, 1, float32(math.NaN()))
	half := *same
	half.Element = dist.Float16
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		v    *engine.Vectors
		o    ivf.BuildOptions
		want string
	}{
		{odd, ivf.BuildOptions{Lists: 3}, "it has NaN"},
		{same, ivf.BuildOptions{Lists: 11}, "11 lists for 10 rows"},
		{same, ivf.BuildOptions{}, "0 lists"},
		{same, ivf.BuildOptions{Lists: 1, Metric: dist.Cosine}, "not COSINE"},
		{same, ivf.BuildOptions{Lists: 1, Parts: 3, Bits: 8}, "4 dimensions in 3 parts"},
		{same, ivf.BuildOptions{Lists: 1, Parts: 2, Bits: 9}, "parts of 9 bits"},
		{same, ivf.BuildOptions{Lists: 1, Parts: 2, Bits: 8}, "part 0: 10 rows for 256 centroids"},
		{&half, ivf.BuildOptions{Lists: 1}, "float32"},
	} {
		if _, err := ivf.Build(t.Context(), c.v, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := ivf.Build(ended, clustered(t, 100, 4), ivf.BuildOptions{Lists: 4}); err == nil {
		t.Error("ended, and built")
	}
}
