package hnsw_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// recallOf returns the share of the k nearest rows that a search finds.
func recallOf(t *testing.T, x *hnsw.Index, queries *engine.Vectors, k, ef int) float64 {
	t.Helper()
	kernel, err := dist.New(x.Metric, dist.Float32, dist.HNSWLib, x.Vectors.Dim)
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.NewSearcher(hnsw.Options{Library: engine.HNSWLib})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	all := make([]float32, x.Vectors.Rows)
	for q := range queries.Rows {
		hits, _, err := s.SearchFloat32(queries.Float32(q), hnsw.Params{K: k, EF: ef}, nil)
		if err != nil {
			t.Fatal(err)
		}
		kernel.Scan(unsafe.Pointer(&queries.Float32(q)[0]), x.Vectors.Base(), uintptr(x.Vectors.Stride), all)
		farthest := slices.Sorted(slices.Values(all))[k-1]
		for _, h := range hits {
			if h.Distance <= farthest {
				found++
			}
		}
	}
	return float64(found) / float64(k*queries.Rows)
}

// TestBuildParallel checks that a graph built by several threads is valid, and that its recall matches the recall
// of a graph built by one thread.
func TestBuildParallel(t *testing.T) {
	c := buildCase{"random", "l2", 12, 1000, 8, 60, 100}
	queries := buildCase{kind: "random", dim: 12, rows: 1040}.vectors(t)
	last, err := engine.View(dist.Float32, 12, 40, queries.Stride, viewFrom(queries, 1000))
	if err != nil {
		t.Fatal(err)
	}
	single := c.build(t)
	o := c.options()
	o.Threads = 4
	reports := 0
	o.Progress = func(done int) { reports = max(reports, done) }
	several, err := hnsw.Build(t.Context(), c.vectors(t), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, several)
	if reports != c.rows {
		t.Errorf("progress ended at %d of %d", reports, c.rows)
	}
	if !slices.Equal(single.Levels, several.Levels) {
		t.Error("levels depend on the number of threads")
	}
	one, more := recallOf(t, single, last, 10, 60), recallOf(t, several, last, 10, 60)
	if one < 0.95 || more < one-0.02 {
		t.Errorf("recall %.4f of one thread, %.4f of four", one, more)
	}
}

// viewFrom returns the bytes of all rows from row on.
func viewFrom(v *engine.Vectors, row int) []byte {
	return unsafe.Slice(unsafe.SliceData(v.Row(row)), v.Bytes()-row*v.Stride)
}

// checkSound checks that each list holds only other nodes of its level, each once, and that End fills the rest of
// the list.
func checkSound(t *testing.T, x *hnsw.Index) {
	t.Helper()
	list := func(id, level int, slots []uint32) {
		n := count(slots)
		for i, s := range slots[:n] {
			if int(s) >= x.Vectors.Rows || int(s) == id || int(x.Levels[s]) < level || slices.Contains(slots[:i], s) {
				t.Fatalf("node %d, level %d: link %d is %d", id, level, i, s)
			}
		}
		for _, s := range slots[n:] {
			if s&hnsw.End == 0 {
				t.Fatalf("node %d, level %d: a link behind the end", id, level)
			}
		}
		if n == 0 && level == 0 {
			t.Fatalf("node %d has no links", id)
		}
	}
	for id, top := range x.Levels {
		list(id, 0, x.Base[id*x.M0:(id+1)*x.M0])
		for level := 1; level <= int(top); level++ {
			at := (int(x.UpperAt[id]) + level - 1) * x.M
			list(id, level, x.Upper[at:at+x.M])
		}
	}
	if int(x.Levels[x.Entry]) != x.MaxLevel || x.MaxLevel != int(slices.Max(x.Levels)) {
		t.Errorf("entry point %d of level %d, top level %d", x.Entry, x.Levels[x.Entry], x.MaxLevel)
	}
}

func TestBuildCanceled(t *testing.T) {
	c := buildCase{"random", "l2", 8, 5000, 8, 40, 100}
	v := c.vectors(t)
	for _, threads := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		o := c.options()
		o.Threads = threads
		o.Progress = func(int) { cancel() }
		x, err := hnsw.Build(ctx, v, o)
		if x != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%d threads: %v, %v", threads, x, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hnsw.Build(ctx, v, c.options()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBuildBadInput(t *testing.T) {
	good := func() *engine.Vectors { return buildCase{kind: "random", dim: 4, rows: 9}.vectors(t) }
	nan := good()
	nan.Float32(5)[2] = float32(math.NaN())
	inf := good()
	inf.Float32(8)[3] = float32(math.Inf(-1))
	half, err := engine.NewVectors(dist.Float16, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	none, err := engine.NewVectors(dist.Float32, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v      *engine.Vectors
		change func(o *hnsw.BuildOptions)
		want   string
	}{
		{nan, nil, "row 5: value 2 is NaN"},
		{inf, nil, "row 8: value 3 is -Inf"},
		{none, nil, "no rows"},
		{half, nil, "float32"},
		{good(), func(o *hnsw.BuildOptions) { o.M = 1 }, "m = 1"},
		{good(), func(o *hnsw.BuildOptions) { o.M = 513 }, "m = 513"},
		{good(), func(o *hnsw.BuildOptions) { o.EFConstruction = 0 }, "efConstruction = 0"},
		{good(), func(o *hnsw.BuildOptions) { o.Metric = dist.Hamming }, "metric"},
		{good(), func(o *hnsw.BuildOptions) { o.Library = 9 }, "library 9"},
		{good(), func(o *hnsw.BuildOptions) { o.Labels = make([]int64, 8) }, "8 labels for 9 rows"},
		{good(), func(o *hnsw.BuildOptions) { o.Labels = []int64{1, 2, 3, 4, 5, 6, 7, 3, 8} }, "label 3: two rows"},
		{&engine.Vectors{Element: dist.Float32, Dim: 4, Rows: 1 << 31, Stride: 16}, nil, "2147483648 rows"},
	} {
		o := hnsw.BuildOptions{M: 4, EFConstruction: 10}
		if c.change != nil {
			c.change(&o)
		}
		if _, err := hnsw.Build(t.Context(), c.v, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestBuildForms checks the contents of indexes built from rows of any layout, with zeros under cosine, and with
// labels.
func TestBuildForms(t *testing.T) {
	c := buildCase{"random", "cosine", 5, 40, 4, 10, 100}
	v := c.vectors(t)
	clear(v.Float32(3))
	o := c.options()
	o.Labels = make([]int64, c.rows)
	for i := range o.Labels {
		o.Labels[i] = int64(1000 - i)
	}
	x, err := hnsw.Build(t.Context(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, x)
	if x.Norms != nil || x.Vectors == v || x.Labels[7] != 993 || x.Vectors.Float32(3)[0] != 0 {
		t.Errorf("hnswlib: norms %v, labels %v", x.Norms, x.Labels)
	}
	if n := x.Vectors.Float32(9); math.Abs(float64(n[0]*n[0]+n[1]*n[1]+n[2]*n[2]+n[3]*n[3]+n[4]*n[4])-1) > 1e-6 {
		t.Errorf("row 9 is not normalised: %v", n)
	}
	o.Library, o.Labels = engine.Knowhere22, nil
	if x, err = hnsw.Build(t.Context(), v, o); err != nil {
		t.Fatal(err)
	}
	checkSound(t, x)
	if x.Labels != nil || len(x.Norms) != c.rows || x.Norms[3] != 0 ||
		!slices.Equal(x.Vectors.Float32(9), v.Float32(9)) {
		t.Errorf("knowhere: norms %v", x.Norms)
	}
	// Rows as in a file: at an odd address and stride.
	packed := make([]byte, 2+22*c.rows)
	for i := range c.rows {
		copy(packed[2+22*i:], v.Row(i))
	}
	view, err := engine.View(dist.Float32, c.dim, c.rows, 22, packed[2:])
	if err != nil {
		t.Fatal(err)
	}
	y, err := hnsw.Build(t.Context(), view, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Base, y.Base) || !slices.Equal(x.Upper, y.Upper) {
		t.Error("the graph depends on where the rows lie")
	}
}

// TestBuildOverflow checks that the graph is valid even if inner products of finite values are NaN.
func TestBuildOverflow(t *testing.T) {
	v := buildCase{kind: "ties", dim: 3, rows: 200}.vectors(t)
	for i := range v.Rows {
		for j, x := range v.Float32(i) {
			v.Float32(i)[j] = x * 1e38
		}
	}
	x, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{M: 4, EFConstruction: 20, Metric: dist.InnerProduct})
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, x)
}

// TestLevelMult compares LevelMult with 1/math.log(m) of Python, which uses glibc.
func TestLevelMult(t *testing.T) {
	for m, want := range map[int]uint64{
		2: 0x3ff71547652b82fe, 3: 0x3fed20ae03bcc152, 14: 0x3fd8404704437eac, 16: 0x3fd71547652b82fe,
		48: 0x3fd088473e1a7262, 512: 0x3fc484b13d7c02a9,
	} {
		if got := math.Float64bits(hnsw.LevelMult(m)); got != want {
			t.Errorf("LevelMult(%d) = %#x, want %#x", m, got, want)
		}
	}
}
