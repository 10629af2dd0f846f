package prefilter

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// metrics holds the metrics that codes support.
var metrics = []engine.Metric{dist.L2, dist.InnerProduct, dist.Cosine}

// profiles holds all orders of addition.
var profiles = []dist.Profile{dist.Knowhere, dist.HNSWLib, dist.Faiss}

// checkTightCuts checks that each row passes a cut that it beats by one bit, in the order of addition of every
// library.
func checkTightCuts(t *testing.T, rows *engine.Vectors, query []float32) {
	t.Helper()
	for _, m := range metrics {
		c, err := Encode([]*engine.Vectors{rows}, rows.Dim, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		one := c.NewQuery()
		if !one.Load(query) {
			continue
		}
		sieves := []sieve{func(beat float64, norms bool) uint64 {
			var out [1]uint64
			cut := one.Cut(beat, norms)
			one.Sieve(0, &cut, out[:])
			return out[0]
		}}
		apart, err := EncodeRows(rows, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		few := apart.NewQuery()
		few.Load(query)
		sieves = append(sieves, func(beat float64, norms bool) (passed uint64) {
			ids := make([]uint32, rows.Rows)
			for i := range ids {
				ids[i] = uint32(i)
			}
			cut := few.Cut(beat, norms)
			for _, id := range ids[:few.Pick(&cut, ids)] {
				passed |= 1 << id
			}
			return passed
		})
		for _, coarse := range []bool{true, false} {
			four := c.NewPanel(4)
			four.SetCoarse(coarse)
			four.Load(2, query)
			sieves = append(sieves, func(beat float64, norms bool) uint64 {
				var out [4]uint64
				four.SetThreshold(2, beat, norms)
				four.Sieve(0, 0, out[:])
				return out[2]
			})
		}
		for _, p := range profiles {
			checkCuts(t, c, sieves, m, p, rows, query)
		}
		c.Release()
	}
}

// sieve returns which of 64 rows pass a cut.
type sieve func(beat float64, norms bool) uint64

func checkCuts(
	t *testing.T, c *Codes, sieves []sieve, m engine.Metric, p dist.Profile, rows *engine.Vectors, query []float32,
) {
	t.Helper()
	k, err := dist.NewOn(dist.Generic, m, dist.Float32, p, rows.Dim)
	if err != nil {
		t.Fatal(err)
	}
	distances, norms := make([]float32, rows.Rows), make([]float32, rows.Rows)
	for i := range norms {
		x := unsafe.Pointer(&rows.Float32(i)[0])
		distances[i], norms[i] = k.One(unsafe.Pointer(&query[0]), x), k.Norm(x)
	}
	divided := m == dist.Cosine && c.SupportsNorms(0, norms)
	for i, d := range distances {
		if divided {
			d /= norms[i]
		}
		worse := float32(math.Inf(1))
		if m != dist.L2 {
			worse = -worse
		}
		for form, passed := range sieves {
			if d == d && d != worse && passed(float64(math.Nextafter32(d, worse)), divided)>>i&1 == 0 {
				t.Fatalf("%v, %v, form %d: row %v at %g of query %v is held back", m, p, form, rows.Float32(i), d,
					query)
			}
		}
	}
}

// odd holds values that are difficult for sums of squares.
var odd = []float32{
	0, math.SmallestNonzeroFloat32, -1e-40, 1e-30, 1e-22, 1e17, -1e20, math.MaxFloat32, float32(math.Inf(1)),
	float32(math.NaN()), 1, 16777216,
}

func TestNoFalseRejections(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 400 {
		dim := []int{1, 2, 5, 16, 37, 100}[round%6]
		size := math.Ldexp(1, []int{0, 0, 0, -60, -74, 40, 54, 20}[r.IntN(8)])
		centre := size * []float64{0, 0, 100, 1e6}[r.IntN(4)]
		draw := func(to []float32) {
			for j := range to {
				to[j] = float32(centre + size*r.NormFloat64()*math.Exp(float64(r.IntN(3)*(j%3))))
				if r.IntN(200) == 0 {
					to[j] = odd[r.IntN(len(odd))]
				}
			}
		}
		rows, err := engine.NewVectors(dist.Float32, dim, 20)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Rows {
			draw(rows.Float32(i))
		}
		query := make([]float32, dim)
		draw(query)
		if r.IntN(4) == 0 { // a row, or nearly one
			copy(query, rows.Float32(3))
			query[0] = math.Nextafter32(query[0], 0)
		}
		checkTightCuts(t, rows, query)
	}
}

func FuzzBound(f *testing.F) {
	f.Add([]byte("\x03rows that are no numbers, and a query of them"))
	f.Add(binary.LittleEndian.AppendUint32([]byte{1}, math.Float32bits(1e-22)))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 5 {
			return
		}
		dim := 1 + int(in[0]%40)
		var values []float32
		for in = in[1:]; len(in) >= 4 && len(values) < 64*dim; in = in[4:] {
			values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(in)))
		}
		for len(values) < 2*dim || len(values)%dim != 0 {
			values = append(values, values[len(values)/2])
		}
		rows, err := engine.FromFloat32s(dim, values[dim:])
		if err != nil {
			t.Fatal(err)
		}
		checkTightCuts(t, rows, values[:dim])
	})
}

// TestRejectionRate checks how many of 20,000 rows pass the cut of the tenth nearest, because codes that
// let all rows pass would be correct too.
func TestRejectionRate(t *testing.T) {
	const rows, dim = 20000, 96
	for name, draw := range map[string]func(r *rand.Rand, to []float32){
		"normal": func(r *rand.Rand, to []float32) {
			for j := range to {
				to[j] = float32(r.NormFloat64())
			}
		},
		"outlying dimensions": func(r *rand.Rand, to []float32) {
			for j := range to {
				to[j] = float32(r.NormFloat64())
				if j%40 == 7 {
					to[j] = 15 + 20*to[j]
				}
			}
		},
	} {
		r := rand.New(rand.NewPCG(6, 7))
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			draw(r, v.Float32(i))
		}
		query := make([]float32, dim)
		draw(r, query)
		for _, m := range metrics {
			c, err := Encode([]*engine.Vectors{v}, dim, m, 2)
			if err != nil {
				t.Fatal(err)
			}
			q := c.NewQuery()
			if !q.Load(query) {
				t.Fatal("a usual query cannot be held against codes")
			}
			cut := q.Cut(tenth(t, v, query, m), m == dist.Cosine)
			out, passed := make([]uint64, (rows+63)/64), 0
			q.Sieve(0, &cut, out)
			out[rows/64] &= 1<<(rows%64) - 1
			for _, w := range out {
				passed += bits.OnesCount64(w)
			}
			if passed < 9 || passed > 100 {
				t.Errorf("%s, %v: %d rows pass the cut of the tenth nearest", name, m, passed)
			}
		}
	}
}

// tenth returns the distance of the tenth nearest row.
func tenth(t *testing.T, v *engine.Vectors, query []float32, m engine.Metric) float64 {
	t.Helper()
	k, err := dist.New(m, dist.Float32, dist.Faiss, v.Dim)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float64, v.Rows)
	for i := range all {
		x := unsafe.Pointer(&v.Float32(i)[0])
		d := k.One(unsafe.Pointer(&query[0]), x)
		if m == dist.Cosine {
			d /= k.Norm(x)
		}
		if all[i] = float64(d); m != dist.L2 {
			all[i] = -float64(d)
		}
	}
	slices.Sort(all)
	if m != dist.L2 {
		return -all[9]
	}
	return all[9]
}
