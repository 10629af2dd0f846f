package ivf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// odd holds values that are difficult for codes and for sums of squares.
var odd = []float32{
	0, math.SmallestNonzeroFloat32, -1e-40, 1e-22, 1e17, -1e20, math.MaxFloat32, float32(math.Inf(1)),
	float32(math.Inf(-1)), float32(math.NaN()), 1, 16777216,
}

// lists returns an index with lists of many lengths, some empty. draw generates the rows.
func lists(t *testing.T, r *rand.Rand, dim int, m engine.Metric, draw func(row []float32)) *Index {
	t.Helper()
	make1 := func(rows int) *engine.Vectors {
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			draw(v.Float32(i))
		}
		return v
	}
	many, sizes := 12, []int{0, 1, 15, 16, 63, 64, 65, 300, 512, 1300}
	if r.IntN(3) == 0 { // enough for centroids to get codes
		many, sizes = minCentroidRows+r.IntN(100), []int{0, 1, 2, 40}
	}
	x := &Index{Metric: m, Centroids: make1(many)}
	id := int64(0)
	for range x.Centroids.Rows {
		l := List{Vectors: make1(sizes[r.IntN(len(sizes))])}
		for range l.Vectors.Rows {
			l.IDs = append(l.IDs, id*7)
			id++
		}
		x.Lists = append(x.Lists, l)
	}
	return x
}

func TestCodesChangeNoAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	draws := []func(row []float32){
		func(row []float32) {
			for j := range row {
				row[j] = float32(r.NormFloat64())
			}
		},
		func(row []float32) {
			for j := range row {
				row[j] = float32(r.IntN(2))
			}
		},
		func(row []float32) {
			for j := range row {
				row[j] = float32(100 + r.NormFloat64()*float64(1+20*(j%9/8)))
				if r.IntN(150) == 0 {
					row[j] = odd[r.IntN(len(odd))]
				}
			}
		},
	}
	answers := 0
	rounds := 100
	if testing.Short() {
		rounds = 24
	}
	for round := range rounds {
		dim, m := []int{1, 7, 40, 100}[round%4], engine.Metric(r.IntN(3))
		library := []engine.Library{engine.Faiss, engine.Knowhere22, engine.Knowhere23}[r.IntN(3)]
		if m == dist.Cosine && library == engine.Faiss {
			library = engine.Knowhere22
		}
		draw := draws[r.IntN(len(draws))]
		plain := lists(t, r, dim, m, draw)
		switch {
		case round%3 != 0:
			codeRows(t, plain, r.IntN(2) == 0)
		case m == dist.Cosine && r.IntN(2) == 0:
			storeNorms(t, plain)
		}
		coded := *plain
		if err := coded.Quantize(1 + r.IntN(2)); err != nil {
			t.Fatal(err)
		}
		o := Options{Library: library}
		one, err := New(plain, o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := New(&coded, o)
		if err != nil {
			t.Fatal(err)
		}
		if two = two.Clone(); two.codes == nil && round%4 != 0 && (m != dist.Cosine || plain.Codec != nil) {
			t.Fatal("codes are not used")
		}
		query := make([]float32, dim)
		for range 6 {
			draw(query)
			q := unsafe.Slice((*byte)(unsafe.Pointer(&query[0])), 4*dim)
			p := Params{K: []int{1, 5, 50, 200}[r.IntN(4)], NProbe: 1 + r.IntN(len(plain.Lists))}
			if r.IntN(2) == 0 {
				p.Filter = engine.NewBitset(plain.Rows() * 7)
				for i := range plain.Rows() / 2 {
					p.Filter.Set(i * 14)
				}
			}
			want, err := one.Search(q, p, nil)
			got, failed := two.Search(q, p, nil)
			same(t, want, got, err, failed)
			if one.Computed() != two.Computed() {
				t.Errorf("%d distances, without codes %d", two.Computed(), one.Computed())
			}
			answers += len(want)
		}
	}
	if answers < 35*rounds {
		t.Errorf("%d answers compared", answers)
	}
}

func same(t *testing.T, want, got []engine.Hit, err, failed error) {
	t.Helper()
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	bits := cmp.Transformer("bits", math.Float32bits)
	if d := cmp.Diff(want, got, bits, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("with codes (+)\n%s", d)
	}
}

// codeRows replaces the vectors of an index by 8-bit codes. The ranges of the codec cover most values.
func codeRows(t *testing.T, x *Index, residual bool) {
	t.Helper()
	dim := x.Centroids.Dim
	low, span := make([]float32, dim), make([]float32, dim)
	left := func(i, j int) []float32 {
		row := slices.Clone(x.Lists[i].Vectors.Float32(j))
		if residual {
			difference(row, row, x.Centroids.Float32(i))
		}
		return row
	}
	for i := range x.Lists {
		for j := range min(x.Lists[i].Vectors.Rows, 40) {
			for d, v := range left(i, j) {
				if math.Abs(float64(v)) < 1e6 {
					low[d], span[d] = min(low[d], v), max(span[d], v)
				}
			}
		}
	}
	for d := range low {
		span[d] -= low[d]
	}
	codec, err := NewSQ8(low, span, residual)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Lists {
		codes, err := engine.NewVectors(dist.Int8, dim, x.Lists[i].Vectors.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for j := range codes.Rows {
			codec.Encode(left(i, j), codes.Row(j))
		}
		x.Lists[i].Vectors = codes
	}
	x.Codec = codec
}

// storeNorms adds the norms that knowhere's files hold to the lists.
func storeNorms(t *testing.T, x *Index) {
	t.Helper()
	k, err := dist.New(dist.Cosine, dist.Float32, dist.Knowhere, x.Centroids.Dim)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Lists {
		if l := &x.Lists[i]; len(l.IDs) > 0 {
			l.Norms = flat.Norms(l.Vectors, k)
		}
	}
}

func TestUnsupportedCodes(t *testing.T) {
	centroids, err := engine.NewVectors(dist.Float32, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := NewSQ8([]float32{0, 1e20}, []float32{1, 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	x := &Index{Centroids: centroids, Codec: wide, Lists: make([]List, 3)}
	if err := x.Quantize(1); err == nil {
		t.Error("codes were made")
	}
	if n, have := x.CodeBytes(); n != 0 || have {
		t.Errorf("codes of %d bytes", n)
	}
}
