package ivf

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/goldentest"
)

// golden is an index with the results of faiss; see testdata/goldens.py.
type golden struct {
	Metric, Kind       string
	Rows, Dim, Queries int
	Lists              [][]int // row numbers
	Searches           []struct {
		K, NProbe int
		Radius    *float32
		Filter    bool
		NDis      int // distances counted by faiss, except the distances to centroids
		Answers   []struct {
			IDs  []int64
			Bits []uint32
		}
	}
}

// values returns the vectors of a golden. Value i of a set is a hash of i and the set's number (splitmix64).
func values(kind string, rows, dim int) []float32 {
	set := map[string]uint64{
		"ties": 1, "floats": 2, "ties-queries": 3, "floats-queries": 4, "ties-centroids": 5, "floats-centroids": 6,
	}[kind]
	v := make([]float32, rows*dim)
	for i := range v {
		x := uint64(i)*set + 0x9E3779B97F4A7C15*set
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		x ^= x >> 31
		switch {
		case set&1 == 0:
			v[i] = float32(x>>40)/(1<<24) - 0.5
		case dim == 1:
			v[i] = float32(x % 20)
		default:
			v[i] = float32(x % 3)
		}
	}
	return v
}

func idOf(row int) int64 { return int64(row * 7919 % 10007) }

func vectors(t testing.TB, dim int, x []float32) *engine.Vectors {
	t.Helper()
	v, err := engine.FromFloat32s(dim, x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// index builds the index of a golden.
func (g *golden) index(t *testing.T) *Index {
	t.Helper()
	centroids := values(g.Kind+"-centroids", len(g.Lists), g.Dim)
	for i := range g.Dim {
		centroids[len(centroids)-1-i] = -1000
	}
	x := &Index{Metric: dist.L2, Centroids: vectors(t, g.Dim, centroids), Lists: make([]List, len(g.Lists))}
	if g.Metric == "IP" {
		x.Metric = dist.InnerProduct
	}
	all := values(g.Kind, g.Rows, g.Dim)
	for i, rows := range g.Lists {
		var own []float32
		for _, row := range rows {
			own = append(own, all[row*g.Dim:(row+1)*g.Dim]...)
			x.Lists[i].IDs = append(x.Lists[i].IDs, idOf(row))
		}
		x.Lists[i].Vectors = vectors(t, g.Dim, own)
	}
	return x
}

// check compares searches with the results of faiss, to the bit if slack is 0.
func (g *golden) check(t *testing.T, slack float64) {
	t.Helper()
	s, err := New(g.index(t), Options{Library: engine.Faiss})
	if err != nil {
		t.Fatal(err)
	}
	filter := engine.NewBitset(10007)
	for i := 0; i < 10007; i += 3 {
		filter.Set(i)
	}
	queries := vectors(t, g.Dim, values(g.Kind+"-queries", g.Queries, g.Dim))
	for _, search := range g.Searches {
		if search.Radius != nil {
			continue
		}
		if g.Kind == "ties" && search.NProbe >= 100 && search.NProbe < len(g.Lists) {
			continue // faiss does not determine which tied lists are read
		}
		p := Params{K: search.K, NProbe: search.NProbe}
		if search.Filter {
			p.Filter = filter
		}
		var got [][]engine.Hit
		computed := 0
		if got, err = s.SearchBatch(queries, p, 2); err != nil {
			t.Fatal(err)
		}
		for i := range queries.Rows {
			hits, err := s.Search(queries.Row(i), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(hits, got[i]) {
				t.Errorf("%+v, query %d: %v, in a batch %v", p, i, hits, got[i])
			}
			computed += s.Computed()
		}
		if want := search.NDis + queries.Rows*len(g.Lists); computed != want {
			t.Errorf("%s %s dim %d, %d lists, %+v: %d distances, want %d", g.Metric, g.Kind, g.Dim, len(g.Lists), p,
				computed, want)
		}
		for i, want := range search.Answers {
			hits := goldentest.Hits(want.IDs, want.Bits)
			if slack > 0 && !goldentest.AlmostEqual(got[i], hits, slack) || slack == 0 && !slices.Equal(got[i], hits) {
				t.Errorf("%s %s dim %d, %d lists, %+v, query %d:\n%v, want\n%v", g.Metric, g.Kind, g.Dim, len(g.Lists),
					p, i, got[i], hits)
				return
			}
		}
	}
}

func readGoldens(t *testing.T, name string) []golden {
	t.Helper()
	var all []golden
	goldentest.ReadJSON(t, name, &all)
	return all
}

func TestMatchesFaiss(t *testing.T) {
	for _, g := range readGoldens(t, "testdata/faiss.json.gz") {
		g.check(t, 0)
	}
}

// small returns an index of four lists on a line. The second list is empty.
func small(t *testing.T, m engine.Metric) *Index {
	t.Helper()
	list := func(ids []int64, x ...float32) List { return List{Vectors: vectors(t, 2, x), IDs: ids} }
	return &Index{Metric: m, NProbe: 2, Centroids: vectors(t, 2, []float32{0, 1, 10, 1, 20, 1, 30, 1}), Lists: []List{
		list([]int64{3, 0}, 0, 1, 1, 1),
		list(nil),
		list([]int64{2, 1}, 20, 1, 21, 1),
		list([]int64{4}, 30, 1),
	}}
}

// TestMoreListsThanMaxK checks that a search can read more than MaxK lists. Milvus allows 65,536
// lists, and a search may read every list.
func TestMoreListsThanMaxK(t *testing.T) {
	const lists = flat.MaxK + 100
	all := make([]float32, lists)
	x := &Index{Metric: dist.L2, NProbe: 1, Lists: make([]List, lists)}
	for i := range all {
		all[i] = float32(i)
		x.Lists[i] = List{Vectors: vectors(t, 1, all[i:i+1]), IDs: []int64{int64(i)}}
	}
	x.Centroids = vectors(t, 1, all)
	s, err := New(x, Options{Library: engine.Knowhere22})
	if err != nil {
		t.Fatal(err)
	}
	q := vectors(t, 1, []float32{5})
	if _, err := s.Search(q.Row(0), Params{K: 3, NProbe: math.MaxInt}, nil); err != nil || s.Computed() != 2*lists {
		t.Errorf("all lists: %d distances, %v", s.Computed(), err)
	}
	batch, err := s.SearchBatch(q, Params{K: 1}, math.MaxInt)
	if d := cmp.Diff([][]engine.Hit{{{ID: 5}}}, batch); err != nil || d != "" {
		t.Errorf("a batch by any number of threads: %v %s", err, d)
	}
	if _, err := s.Search(q.Row(0), Params{K: 1, NProbe: -1}, nil); err == nil || s.Computed() != 0 {
		t.Errorf("a search that cannot be: %d distances, %v", s.Computed(), err)
	}
}

// TestCosineDividesByNorms checks that a search of all lists returns the same cosines as a flat index over the same
// rows.
func TestCosineDividesByNorms(t *testing.T) {
	x := small(t, dist.Cosine)
	x.Lists[3].Norms = []float32{2}
	s, err := New(x, Options{Library: engine.Knowhere22})
	if err != nil {
		t.Fatal(err)
	}
	q := vectors(t, 2, []float32{3, 4})
	got, err := s.Search(q.Row(0), Params{K: 9, NProbe: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := vectors(t, 2, []float32{1, 1, 21, 1, 20, 1, 0, 1, 30, 1})
	f, err := flat.New(&flat.Index{Vectors: rows, Metric: dist.Cosine}, flat.Options{Library: engine.Knowhere22})
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Search(q.Row(0), flat.Params{K: 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if want[i].ID == 4 { // the file's norm of this row is 2, so it is now the nearest
			h := engine.Hit{ID: 4, Distance: (float32(3)/5*30 + float32(4)/5) / 2}
			want = append([]engine.Hit{h}, slices.Delete(want, i, i+1)...)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestListsWithoutVectorsAreRestored(t *testing.T) {
	whole, stripped := small(t, dist.L2), small(t, dist.L2)
	for i := range stripped.Lists {
		stripped.Lists[i].Vectors = nil
	}
	if _, err := New(stripped, Options{Library: engine.Knowhere22}); err == nil ||
		!strings.Contains(err.Error(), "restore") {
		t.Errorf("lists without vectors: %v", err)
	}
	raw := vectors(t, 2, []float32{1, 1, 21, 1, 20, 1, 0, 1, 30, 1})
	if err := stripped.Restore(raw); err != nil {
		t.Fatal(err)
	}
	for i, l := range stripped.Lists {
		for j := range l.IDs {
			if !bytes.Equal(l.Vectors.Row(j), whole.Lists[i].Vectors.Row(j)) {
				t.Errorf("list %d row %d is %v", i, j, l.Vectors.Float32(j))
			}
		}
	}
	for name, spoil := range map[string]func(*Index) *engine.Vectors{
		"an id beyond the rows": func(x *Index) *engine.Vectors { x.Lists[0].IDs[0] = 5; return raw },
		"a negative id":         func(x *Index) *engine.Vectors { x.Lists[0].IDs[0] = -1; return raw },
		"an id twice":           func(x *Index) *engine.Vectors { x.Lists[0].IDs[0] = 4; return raw },
		"fewer rows":            func(*Index) *engine.Vectors { return vectors(t, 2, []float32{1, 1}) },
		"another dimension":     func(*Index) *engine.Vectors { return vectors(t, 1, []float32{1, 2, 3, 4, 5}) },
	} {
		x := small(t, dist.L2)
		if err := x.Restore(spoil(x)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestInvalidIndex(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*Index, *Options)
		want  string
	}{
		{"no centroids", func(x *Index, _ *Options) { x.Centroids = nil }, "without centroids"},
		{"lists", func(x *Index, _ *Options) { x.Lists = x.Lists[1:] }, "3 lists for 4 centroids"},
		{"ids", func(x *Index, _ *Options) { x.Lists[0].IDs = x.Lists[0].IDs[1:] }, "list 0 has 1 ids"},
		{"norms", func(x *Index, _ *Options) { x.Lists[2].Norms = []float32{1} }, "1 norms for 2 rows"},
		{"dimension", func(x *Index, _ *Options) { x.Lists[3].Vectors = vectors(t, 1, []float32{1}) }, "1 dimensions"},
		{"hnswlib", func(_ *Index, o *Options) { o.Library = engine.HNSWLib }, "no inverted files"},
		{"cosine", func(x *Index, _ *Options) { x.Metric = dist.Cosine }, "knowhere's"},
		{"bits", func(x *Index, _ *Options) { x.Metric = dist.Jaccard }, "bits"},
	}
	for _, test := range tests {
		x, o := small(t, dist.L2), Options{}
		test.spoil(x, &o)
		if _, err := New(x, o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	x := small(t, dist.L2)
	s, err := New(x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := binary.LittleEndian.AppendUint64(nil, 0)
	for _, p := range []Params{{K: 0, NProbe: 1}, {K: flat.MaxK + 1, NProbe: 1}, {K: 1, NProbe: -1}} {
		if _, err := s.Search(q, p, nil); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	if _, err := s.Search(q[:4], Params{K: 1}, nil); err == nil {
		t.Error("a short query: no error")
	}
	if _, err := s.SearchBatch(vectors(t, 1, []float32{1}), Params{K: 1}, 1); err == nil {
		t.Error("queries of one dimension: no error")
	}
}
