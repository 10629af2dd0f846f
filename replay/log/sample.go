package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Source holds rows to draw queries from, e.g. the rows of a segment.
type Source struct {
	Vectors *engine.Vectors
	Deleted *engine.Bitset // rows to exclude; nil for none
}

// SampleOptions selects how queries are drawn.
type SampleOptions struct {
	// From is the source of the vectors for the log's name: a collection or a file.
	From string
	// Count is the number of requests, each with NQ vectors (0 means 1). Seed makes the draw reproducible.
	Count, NQ int
	Seed      uint64
	// Noise is the relative distance of a query from the row it was drawn from. Each component gets Gaussian noise,
	// whose standard deviation is Noise times the deviation of the components: the root mean square difference of a
	// component from its mean over rows, computed from at most 10,000 rows. With 0, queries are the rows themselves.
	// With 1, a query differs from its row as much as a row differs from the mean. Each bit of a binary vector is
	// flipped with probability Noise, at most 0.5. Noise does not preserve normalization.
	Noise float64
	// K and SearchParams are the parameters of each request. The run sets parameters that are unset here.
	K int
	engine.SearchParams
	Collection string
	// Rate sets the times of arrival, in requests per second: evenly spaced, or random with Poisson.
	Rate    float64
	Poisson bool
}

// maxSample is the maximum number of drawn vectors.
const maxSample = 1 << 28

// Sample draws queries from the rows of sources, each row once before any repeats. Equal options and rows give an
// equal log. Rows with values that are not finite are skipped and noted.
func Sample(ctx context.Context, sources []Source, o SampleOptions) (*Log, error) {
	s, err := newSampler(sources, o)
	if err != nil {
		return nil, fmt.Errorf("draw queries: %w", err)
	}
	l := &Log{Format: "sample", Name: s.name()}
	if s.element != dist.Sparse {
		if l.Vectors, err = engine.NewVectors(s.element, s.dim, o.Count*s.nq); err != nil {
			return nil, fmt.Errorf("draw queries: %w", err)
		}
		l.free = l.Vectors.Release
	}
	if err := s.fill(ctx, l); err != nil {
		l.Close()
		return nil, err
	}
	s.requests(l)
	if l.Digest, err = digestOf(l); err != nil {
		l.Close()
		return nil, fmt.Errorf("draw queries: %w", err)
	}
	return l, nil
}

type sampler struct {
	o        SampleOptions
	sources  []Source
	nq       int
	dim      int
	element  dist.Element
	liveRows [][]uint32 // rows of each source that are not deleted; nil means all
	before   []int      // number of rows that are not deleted, in the sources before each
	live     int
}

func newSampler(sources []Source, o SampleOptions) (*sampler, error) {
	s := &sampler{o: o, nq: max(o.NQ, 1)}
	if o.Count < 1 || o.NQ < 0 || o.Count > maxSample/s.nq {
		return nil,
			fmt.Errorf("%d requests of %d vectors: expected at least one, and at most %d vectors", o.Count, s.nq,
				maxSample)
	}
	if !(o.Noise >= 0) || math.IsInf(o.Noise, 0) || !(o.Rate >= 0) || math.IsInf(o.Rate, 0) {
		return nil, fmt.Errorf("noise %g, rate %g: expected finite numbers of 0 or more", o.Noise, o.Rate)
	}
	for i, src := range sources {
		v := src.Vectors
		if v == nil || v.Rows == 0 {
			continue
		}
		if len(s.sources) == 0 {
			s.dim, s.element = v.Dim, v.Element
		}
		if v.Dim != s.dim || v.Element != s.element {
			return nil,
				fmt.Errorf("source %d: expected %d dimensions of %s, found %d of %s", i, s.dim, s.element, v.Dim,
					v.Element)
		}
		var kept []uint32
		alive := v.Rows
		if src.Deleted.Words() != nil {
			kept = []uint32{}
			for row := range v.Rows {
				if !src.Deleted.Has(row) {
					kept = append(kept, uint32(row))
				}
			}
			alive = len(kept)
		}
		s.sources, s.liveRows, s.before = append(s.sources, src), append(s.liveRows, kept), append(s.before, s.live)
		s.live += alive
	}
	if s.live == 0 {
		return nil, errors.New("no rows to draw from")
	}
	if s.element == dist.Bit && o.Noise > 0.5 {
		return nil, fmt.Errorf("noise %g: the maximum for binary vectors is 0.5, pure noise", o.Noise)
	}
	return s, nil
}

func (s *sampler) name() string {
	from := s.o.From
	from = cmp.Or(from, "a collection")
	return fmt.Sprintf("%d queries drawn from %s (seed %d, noise %g)", s.o.Count*s.nq, from, s.o.Seed, s.o.Noise)
}

// fill draws the vectors.
func (s *sampler) fill(ctx context.Context, l *Log) error {
	var t tally
	order := permutation{rng: rand.New(rand.NewPCG(s.o.Seed, 1)), n: s.live}
	bad := 0
	var drawn [][]byte // sparse vectors, whose space is allocated later
	n := s.o.Count * s.nq
	for i := 0; i < n; {
		if (i+bad)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		src, row := s.find(order.next())
		from := s.sources[src].Vectors.Row(row)
		if finite(from, s.element) {
			if i++; s.element == dist.Sparse {
				drawn = append(drawn, from)
			} else {
				copy(l.Vectors.Row(i-1), from)
			}
			continue
		}
		t.add("rows with a value that is not a finite number, replaced by others",
			fmt.Sprintf("source %d row %d", src, row))
		if bad++; bad >= s.live && i == 0 {
			return errors.New("draw queries: no row has only finite numbers")
		}
	}
	if s.element == dist.Sparse {
		var err error
		if l.Vectors, err = engine.JoinSparse(drawn); err != nil {
			return fmt.Errorf("draw queries: %w", err)
		}
		l.free = l.Vectors.Release
	}
	l.Notes = append(l.Notes, t.notes()...)
	if n > s.live {
		l.Notes = append(l.Notes, fmt.Sprintf("%d vectors drawn from %d rows: rows repeat", n, s.live))
	}
	if s.o.Noise > 0 {
		return s.addNoise(ctx, l.Vectors)
	}
	return nil
}

// addNoise adds noise to drawn vectors.
func (s *sampler) addNoise(ctx context.Context, v *engine.Vectors) error {
	rng := rand.New(rand.NewPCG(s.o.Seed, 2))
	if s.element == dist.Sparse {
		return s.addSparseNoise(rng, v)
	}
	deviation := 0.0
	if s.element != dist.Bit {
		deviation = float64(s.o.Noise * deviationOf(v))
	}
	for i := range v.Rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := v.Row(i)
		if s.element == dist.Bit {
			for j := range v.Dim {
				if rng.Float64() < s.o.Noise {
					row[j>>3] ^= 1 << (j & 7)
				}
			}
			continue
		}
		for j := range v.Dim {
			was := value(row, s.element, j)
			setValue(row, s.element, j, float32(float64(was)+float64(deviation*rng.NormFloat64())))
		}
		if !finite(row, s.element) {
			return fmt.Errorf("draw queries: noise %g makes a number that does not fit %s", s.o.Noise, s.element)
		}
	}
	return nil
}

// deviationOf returns the root mean square difference of components from their means over rows. If all rows are
// equal, it returns the root mean square of the components.
func deviationOf(v *engine.Vectors) float64 {
	rows := min(v.Rows, 10_000)
	sums := make([]float64, v.Dim)
	squares := 0.0
	for i := range rows {
		for j := range sums {
			sums[j] += float64(value(v.Row(i), v.Element, j))
		}
	}
	plain := 0.0
	for i := range rows {
		for j := range sums {
			x := float64(value(v.Row(i), v.Element, j))
			d := x - float64(sums[j]/float64(rows))
			squares += float64(d * d)
			plain += float64(x * x)
		}
	}
	n := float64(rows) * float64(v.Dim)
	if squares == 0 {
		return math.Sqrt(plain / n)
	}
	return math.Sqrt(squares / n)
}

// requests divides the drawn vectors into requests.
func (s *sampler) requests(l *Log) {
	rng := rand.New(rand.NewPCG(s.o.Seed, 3))
	l.Requests = make([]Request, s.o.Count)
	at := 0.0 // in units of the mean gap
	for i := range l.Requests {
		l.Requests[i] = Request{
			First: i * s.nq, NQ: s.nq, K: s.o.K, SearchParams: s.o.SearchParams, Collection: s.o.Collection,
		}
		if s.o.Rate == 0 {
			continue
		}
		l.Requests[i].Timed = true
		seconds := min(float64(at/s.o.Rate), maxSpan.Seconds())
		l.Requests[i].At = time.Duration(float64(seconds * 1e9))
		if s.o.Poisson {
			at += rng.ExpFloat64()
		} else {
			at = float64(i + 1)
		}
	}
}

// maxSpan is the maximum time of arrival.
const maxSpan = 100 * 365 * 24 * time.Hour

// find returns the source and the row of the n-th row that is not deleted, over all sources.
func (s *sampler) find(n int) (src, row int) {
	src = sort.Search(len(s.before), func(i int) bool { return s.before[i] > n }) - 1
	n -= s.before[src]
	if s.liveRows[src] != nil {
		n = int(s.liveRows[src][n])
	}
	return src, n
}

// permutation draws numbers below n in random order, each once before the next order begins.
type permutation struct {
	rng  *rand.Rand
	n    int
	left []int
}

func (p *permutation) next() int {
	if len(p.left) == 0 {
		p.left = p.rng.Perm(p.n)
	}
	v := p.left[0]
	p.left = p.left[1:]
	return v
}
