package log

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// randomVectors returns n vectors of dim values around 3 with a deviation of 2.
func randomVectors(t testing.TB, e dist.Element, dim, n int) *engine.Vectors {
	t.Helper()
	v, err := engine.NewVectors(e, dim, n)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, uint64(e)))
	for i := range n {
		row := v.Row(i)
		if e == dist.Bit {
			for j := range row {
				row[j] = byte(rng.Uint64())
			}
			continue
		}
		for j := range dim {
			setValue(row, e, j, float32(3+float64(2*rng.NormFloat64())))
		}
	}
	return v
}

func mustSample(t testing.TB, sources []Source, o SampleOptions) *Log {
	t.Helper()
	l, err := Sample(context.Background(), sources, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSampleDeterministic(t *testing.T) {
	for _, e := range []dist.Element{dist.Float32, dist.Float16, dist.BFloat16, dist.Int8, dist.Bit} {
		o := SampleOptions{
			From: "c", Count: 40, NQ: 3, Seed: 11, Noise: 0.25, K: 10, SearchParams: engine.SearchParams{EF: 64},
			Rate: 100, Poisson: true, Collection: "c",
		}
		sources := []Source{{Vectors: randomVectors(t, e, 16, 50)}, {Vectors: randomVectors(t, e, 16, 30)}}
		l := mustSample(t, sources, o)
		if again := mustSample(t, sources, o); again.Digest != l.Digest {
			t.Errorf("%s: drawn again it is another", e)
		}
		o.Seed = 12
		if other := mustSample(t, sources, o); other.Digest == l.Digest {
			t.Errorf("%s: another seed draws the same", e)
		}
		var out bytes.Buffer
		if err := Write(&out, l); err != nil {
			t.Fatal(err)
		}
		read := mustOpen(t, write(t, "x", out.Bytes()), Options{Strict: true})
		if same(t, l, read); read.Digest != l.Digest {
			t.Errorf("%s: saved and opened it has another digest", e)
		}
		if l.Name != "120 queries drawn from c (seed 11, noise 0.25)" {
			t.Error(l.Name)
		}
	}
}

func TestSampleWithoutReplacement(t *testing.T) {
	a, b := counting(t, 70), counting(t, 9000)
	for i := range b.Rows {
		b.Float32(i)[0] += 1e6
	}
	deleted := engine.NewBitset(9100) // longer than the rows, as bitsets may be
	alive := map[float32]bool{}
	for i := range 9100 {
		switch {
		case i%7 == 0 || i > 4000 && i < 8500:
			deleted.Set(i)
		case i < 9000:
			alive[b.Float32(i)[0]] = true
		}
	}
	for i := range a.Rows {
		alive[a.Float32(i)[0]] = true
	}
	b.Float32(1)[2] = float32(math.NaN()) // never drawn, and noted
	delete(alive, b.Float32(1)[0])
	l := mustSample(t, []Source{{Vectors: a}, {}, {Vectors: b, Deleted: deleted}}, SampleOptions{
		Count: len(alive), Seed: 1,
	})
	seen := map[float32]int{}
	for i := range l.Vectors.Rows {
		first := l.Vectors.Float32(i)[0]
		if seen[first]++; !alive[first] {
			t.Fatalf("row %g was drawn", first)
		}
	}
	// The row that is not finite is noted and replaced by another one.
	if len(seen) < len(alive)-1 || len(l.Notes) == 0 || !strings.Contains(l.Notes[0], "source 1 row 1") {
		t.Errorf("%d of %d rows were drawn: %q", len(seen), len(alive), l.Notes)
	}
	l = mustSample(t, []Source{{Vectors: a}}, SampleOptions{Count: 175, Seed: 1})
	seen = map[float32]int{}
	for i := range l.Vectors.Rows {
		seen[l.Vectors.Float32(i)[0]]++
	}
	for first, n := range seen {
		if n != 2 && n != 3 {
			t.Errorf("row %g came %d times in 175 of 70", first, n)
		}
	}
	if len(seen) != 70 || !strings.Contains(strings.Join(l.Notes, ""), "rows repeat") {
		t.Errorf("%d rows, %q", len(seen), l.Notes)
	}
}

func TestNoiseSize(t *testing.T) {
	for _, e := range []dist.Element{dist.Float32, dist.Float16, dist.BFloat16, dist.Int8, dist.Bit} {
		v := randomVectors(t, e, 64, 400)
		plain := mustSample(t, []Source{{Vectors: v}}, SampleOptions{Count: 300, Seed: 4})
		if plain.Vectors.Rows != 300 ||
			!slices.ContainsFunc(rows(v), func(row []byte) bool { return bytes.Equal(row, plain.Vectors.Row(7)) }) {
			t.Errorf("%s: without noise a query is a row", e)
		}
		for _, noise := range []float64{0.1, 0.5} {
			noisy := mustSample(t, []Source{{Vectors: v}}, SampleOptions{Count: 300, Seed: 4, Noise: noise})
			got := 0.0
			for i := range 300 {
				for j := range 64 {
					if e == dist.Bit {
						got += float64((plain.Vectors.Row(i)[j/8] ^ noisy.Vectors.Row(i)[j/8]) >> (j % 8) & 1)
						continue
					}
					d := float64(value(noisy.Vectors.Row(i), e, j) - value(plain.Vectors.Row(i), e, j))
					got += d * d
				}
			}
			got /= 300 * 64
			want := noise
			if e != dist.Bit {
				got, want = math.Sqrt(got), 2*noise // components deviate by 2
			}
			slack := 0.08 * want
			if e == dist.Int8 {
				slack = 0.35 // values are rounded to integers
			}
			if math.Abs(got-want) > slack {
				t.Errorf("%s: noise %g: expected a deviation of %g, found %g", e, noise, want, got)
			}
		}
	}
}

func TestArrivals(t *testing.T) {
	v := counting(t, 10)
	even := mustSample(t, []Source{{Vectors: v}}, SampleOptions{Count: 5, Seed: 1, Rate: 4})
	for i, r := range even.Requests {
		if !r.Timed || r.At != time.Duration(i)*time.Second/4 {
			t.Errorf("request %d at %s", i, r.At)
		}
	}
	random := mustSample(t, []Source{{Vectors: v}}, SampleOptions{Count: 20_001, Seed: 1, Rate: 1000, Poisson: true})
	var gaps []float64
	for i := 1; i < len(random.Requests); i++ {
		gaps = append(gaps, (random.Requests[i].At-random.Requests[i-1].At).Seconds()*1000)
	}
	mean, square := 0.0, 0.0
	for _, g := range gaps {
		mean += g / float64(len(gaps))
		square += g * g / float64(len(gaps))
	}
	if random.Requests[0].At != 0 || math.Abs(mean-1) > 0.03 || math.Abs(square-2) > 0.15 {
		t.Errorf("gaps of mean %g and mean square %g; an exponential distribution has 1 and 2", mean, square)
	}
}

func TestSampleRefuses(t *testing.T) {
	v := counting(t, 3)
	all := engine.NewBitset(3)
	nan := counting(t, 1)
	nan.Float32(0)[0] = float32(math.NaN())
	for i := range 3 {
		all.Set(i)
	}
	for want, test := range map[string]struct {
		sources []Source
		o       SampleOptions
	}{
		"expected at least one":          {[]Source{{Vectors: v}}, SampleOptions{}},
		"at most":                        {[]Source{{Vectors: v}}, SampleOptions{Count: math.MaxInt, NQ: 2}},
		"no rows to draw from":           {[]Source{{Vectors: v, Deleted: all}, {}}, SampleOptions{Count: 1}},
		"finite numbers of 0 or more":    {[]Source{{Vectors: v}}, SampleOptions{Count: 1, Noise: math.NaN()}},
		"no row has only finite numbers": {[]Source{{Vectors: nan}}, SampleOptions{Count: 1}},
		"the maximum for binary vectors is 0.5": {
			[]Source{{Vectors: randomVectors(t, dist.Bit, 16, 2)}}, SampleOptions{Count: 1, Noise: 0.6},
		},
		"expected 4 dimensions of float32": {
			[]Source{{Vectors: v}, {Vectors: randomVectors(t, dist.Float32, 5, 2)}}, SampleOptions{Count: 1},
		},
	} {
		if _, err := Sample(context.Background(), test.sources, test.o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sample(ctx, []Source{{Vectors: v}}, SampleOptions{Count: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
