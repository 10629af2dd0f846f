package prefilter

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// coded holds rows with one byte per dimension in parts, with their ranges.
type coded struct {
	Ranges
	parts []*engine.Vectors
}

// drawCoded returns random rows, at most 64 per part, in ranges of a random size, and centres at a random
// distance.
func drawCoded(t *testing.T, r *rand.Rand, dim int, residual bool) coded {
	t.Helper()
	size := math.Ldexp(1, []int{0, 0, 0, -60, -74, 20, 29, 8}[r.IntN(8)])
	away, off := size*[]float64{0, 0, 1, 100, 1e6}[r.IntN(5)], size*[]float64{-2, -2, 1e3, 3e6}[r.IntN(4)]
	c := coded{Ranges: Ranges{Low: make([]float32, dim), Span: make([]float32, dim)}}
	for j := range dim {
		c.Low[j] = float32(off + size*r.NormFloat64())
		if c.Span[j] = float32(size * 4 * r.Float64()); r.IntN(20) == 0 {
			c.Span[j] = 0
		}
	}
	parts := 1 + r.IntN(4)
	draw := func(e dist.Element, rows int, one func(row []byte)) *engine.Vectors {
		v, err := engine.NewVectors(e, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			one(v.Row(i))
		}
		return v
	}
	for range parts {
		ends := r.IntN(2) == 0
		c.parts = append(c.parts, draw(dist.Int8, r.IntN(64), func(row []byte) {
			for j := range row {
				if row[j] = byte(r.UintN(256)); ends && r.IntN(3) == 0 {
					row[j] = []byte{0, 255}[r.IntN(2)]
				}
			}
		}))
	}
	if residual {
		c.Centres = draw(dist.Float32, parts, func(row []byte) {
			for j := range dim {
				x := float32(away * (1 + r.NormFloat64()))
				if r.IntN(300) == 0 {
					x = odd[r.IntN(len(odd))]
				}
				*(*float32)(unsafe.Pointer(&row[4*j])) = x
			}
		})
	}
	return c
}

// query returns a random query, which may be close to a row.
func (c *coded) query(r *rand.Rand, dim int) []float32 {
	q, part := make([]float32, dim), r.IntN(len(c.parts))
	for j := range q {
		if q[j] = c.Low[j] + c.Span[j]*float32(r.Float64()); c.Centres != nil {
			q[j] += c.Centres.Float32(part)[j]
		}
		if r.IntN(200) == 0 {
			q[j] = odd[r.IntN(len(odd))]
		}
	}
	if p := c.parts[part]; p.Rows > 0 && r.IntN(2) == 0 {
		for j, u := range p.Row(r.IntN(p.Rows)) {
			if q[j] = c.Low[j] + c.Span[j]*(float32(u)+0.5)/255; c.Centres != nil {
				q[j] += c.Centres.Float32(part)[j]
			}
		}
	}
	return q
}

// distances returns a library's distances to the rows of a part and to its centre.
func (c *coded) distances(
	t *testing.T, m engine.Metric, p dist.Profile, query []float32, part int,
) (all []float32, centre float32) {
	t.Helper()
	k, err := dist.NewSQ8On(dist.Generic, m, c.Low, c.Span)
	if err != nil {
		t.Fatal(err)
	}
	q, all := k.NewQuery(), make([]float32, c.parts[part].Rows)
	copy(q.Floats(), query)
	if c.Centres != nil {
		whole, err := dist.NewOn(dist.Generic, m, dist.Float32, p, len(query))
		if err != nil {
			t.Fatal(err)
		}
		origin := c.Centres.Float32(part)
		if centre = whole.One(unsafe.Pointer(&query[0]), unsafe.Pointer(&origin[0])); m == dist.L2 {
			for j, x := range query {
				q.Floats()[j] = x - origin[j]
			}
		}
	}
	q.Scan(c.parts[part].Base(), uintptr(c.parts[part].Stride), all)
	if c.Centres != nil && m != dist.L2 {
		for i, d := range all {
			all[i] = centre + d
		}
	}
	return all, centre
}

func TestNoFalseRejectionsOfCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	asked, refused := 0, 0
	rounds := 120
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		dim := []int{1, 1, 2, 5, 8, 16, 37, 96}[r.IntN(8)]
		c := drawCoded(t, r, dim, r.IntN(2) == 0)
		for _, m := range []engine.Metric{dist.L2, dist.InnerProduct} {
			codes, err := FromCodes(c.parts, c.Ranges, m, 1+r.IntN(2))
			if err != nil {
				t.Fatal(err)
			}
			q := codes.NewQuery()
			for range 3 {
				query := c.query(r, dim)
				if !q.Load(query) {
					continue
				}
				for _, p := range profiles {
					for part := range c.parts {
						all, centre := c.distances(t, m, p, query, part)
						if !q.SetPart(part, centre) {
							refused++
							continue
						}
						asked += len(all)
						checkTightCutsOfCodes(t, q, codes.Starts[part], m, all, c, query)
					}
				}
			}
			codes.Release()
		}
	}
	if asked < 400*rounds || refused > asked/10 {
		t.Errorf("%d rows were asked of, of %d parts codes said nothing", asked, refused)
	}
}

// checkTightCutsOfCodes checks that each row passes a cut that it beats by one bit.
func checkTightCutsOfCodes(
	t *testing.T, q *Query, first int, m engine.Metric, all []float32, c coded, query []float32,
) {
	t.Helper()
	worse := float32(math.Inf(1))
	if m != dist.L2 {
		worse = -worse
	}
	for i, d := range all {
		if d != d || d == worse {
			continue
		}
		var out [1]uint64
		cut := q.Cut(float64(math.Nextafter32(d, worse)), false)
		if q.Sieve(first, &cut, out[:]); out[0]>>i&1 == 0 {
			t.Fatalf("%v: row %d of those from %d at %g of query %v is held back: low %v, span %v, centres %v", m, i,
				first, d, query, c.Low, c.Span, c.Centres)
		}
	}
}

func TestUnsupportedRanges(t *testing.T) {
	one := []float32{1}
	for name, r := range map[string]Ranges{
		"infinite":     {Low: []float32{float32(math.Inf(1))}, Span: one},
		"not a number": {Low: one, Span: []float32{float32(math.NaN())}},
		"large":        {Low: one, Span: []float32{1e17}},
	} {
		if _, err := FromCodes(nil, r, dist.L2, 1); err == nil {
			t.Errorf("codes of ranges that are %s", name)
		}
	}
	if err := (&Ranges{Low: one, Span: one}).Fits(dist.Hamming); err == nil {
		t.Error("codes under Hamming")
	}
}

// TestRejectionRateOfCodes checks how many of 20,000 rows pass the cut of the tenth nearest.
func TestRejectionRateOfCodes(t *testing.T) {
	const dim, lists, rows = 96, 20, 1000
	r := rand.New(rand.NewPCG(17, 18))
	for _, residual := range []bool{false, true} {
		c := coded{Ranges: Ranges{Low: make([]float32, dim), Span: make([]float32, dim)}}
		for j := range dim {
			c.Low[j], c.Span[j] = -3, 8
		}
		if residual {
			c.Centres, _ = engine.NewVectors(dist.Float32, dim, lists)
			for i := range lists {
				for j := range dim {
					c.Centres.Float32(i)[j] = float32(30 + r.NormFloat64())
				}
			}
		}
		for range lists {
			p, err := engine.NewVectors(dist.Int8, dim, rows)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				for j := range dim {
					p.Row(i)[j] = byte(max(0, min(255, 128+32*r.NormFloat64())))
				}
			}
			c.parts = append(c.parts, p)
		}
		query := c.query(r, dim)
		for _, m := range []engine.Metric{dist.L2, dist.InnerProduct} {
			codes, err := FromCodes(c.parts, c.Ranges, m, 2)
			if err != nil {
				t.Fatal(err)
			}
			var all []float32
			var centres [lists]float32
			for part := range c.parts {
				d, centre := c.distances(t, m, dist.Faiss, query, part)
				all, centres[part] = append(all, d...), centre
			}
			slices.Sort(all)
			beat := all[9]
			if m != dist.L2 {
				beat = all[len(all)-10]
			}
			q, passed := codes.NewQuery(), 0
			for part, first := range codes.Starts[:lists] {
				if !q.Load(query) || !q.SetPart(part, centres[part]) {
					t.Fatal("a usual query cannot be held against codes")
				}
				var out [(rows + 63) / 64]uint64
				cut := q.Cut(float64(beat), false)
				q.Sieve(first, &cut, out[:])
				out[rows/64] &= 1<<(rows%64) - 1
				for _, w := range out {
					passed += bits.OnesCount64(w)
				}
			}
			if passed < 9 || passed > 20 {
				t.Errorf("%v, of what is left %v: %d rows pass the cut of the tenth nearest", m, residual, passed)
			}
		}
	}
}
