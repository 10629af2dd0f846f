package log

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"kitescope/engine"
	"kitescope/internal/hints"
)

// Dress puts the times and sizes of one log's requests on what those of another ask: a request of the shape gets the
// vectors, the filter and, where the shape does not say, the parameters of a request of the other, which are taken in an
// order drawn from seed, each once before any is taken again. A request of unknown size asks for one vector; one that asks
// for more vectors than the other log's request gets those that follow it in that log.
func Dress(shape, vectors *Log, seed uint64) (*Log, error) {
	if len(shape.Requests) == 0 {
		return nil, fmt.Errorf("dress %s: it has no requests", shape.Name)
	}
	if vectors.Vectors == nil || len(vectors.Requests) == 0 {
		return nil, hints.Errorf("draw some: kitescope replay sample", "dress %s: %s has no vectors", shape.Name, vectors.Name)
	}
	l := *vectors
	l.free = nil
	l.Format, l.Start = "dressed", shape.Start
	l.Name = shape.Name + " with " + vectors.Name
	l.Notes = append(append([]string{fmt.Sprintf("times are those of %s, vectors those of %s, seed %d", shape.Name, vectors.Name, seed)},
		shape.Notes...), vectors.Notes...)
	most, unknown := 1, 0
	for i := range shape.Requests {
		most = max(most, shape.Requests[i].NQ)
		if shape.Requests[i].NQ == 0 {
			unknown++
		}
	}
	if unknown > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d requests of unknown size: assuming one vector each", unknown))
	}
	if most > 1 && !l.whole() {
		gathered, err := vectors.gathered()
		if err != nil {
			return nil, fmt.Errorf("dress %s: %w", shape.Name, err)
		}
		l.Vectors, l.Truth, l.free, vectors = gathered.Vectors, gathered.Truth, gathered.free, gathered
	}
	if err := l.enough(most); err != nil {
		l.Close()
		return nil, fmt.Errorf("dress %s: %w", shape.Name, err)
	}
	order := permutation{rng: rand.NewPCG(seed, 4), n: len(vectors.Requests)}
	l.Requests = make([]Request, len(shape.Requests))
	for i, s := range shape.Requests {
		v := vectors.Requests[order.next()]
		s.NQ = max(s.NQ, 1)
		s.First = min(v.First, l.Vectors.Rows-s.NQ)
		s.Filter = v.Filter
		s.K = cmp.Or(s.K, v.K)
		if s.SearchParams == (engine.SearchParams{}) {
			s.SearchParams = v.SearchParams
		}
		l.Requests[i] = s
	}
	l.Digest = l.digest()
	return &l, nil
}

// maxDressed bounds how many vectors one request of a shape may ask for.
const maxDressed = 1 << 20

// enough repeats the vectors until a request can ask for so many at once.
func (l *Log) enough(most int) error {
	from := l.Vectors
	if most <= from.Rows {
		return nil
	}
	if most > maxDressed {
		return fmt.Errorf("a request has %d vectors", most)
	}
	v, err := picked(from, most, func(i int) int { return i % from.Rows })
	if err != nil {
		return err
	}
	if l.Truth != nil {
		truth := slices.Clone(l.Truth)
		for len(truth) < most {
			truth = append(truth, truth[len(truth)%from.Rows])
		}
		l.Truth = truth
	}
	l.Notes = append(l.Notes, fmt.Sprintf("a request has %d vectors, but only %d exist: some repeat within it", most, from.Rows))
	if l.free != nil {
		l.free()
	}
	l.Vectors, l.free = v, v.Release
	return nil
}

// whole reports whether every vector may be asked for: those that were left out are still in a mapped file.
func (l *Log) whole() bool {
	for i := range l.Vectors.Rows {
		if !finite(l.Vectors.Row(i), l.Vectors.Element) {
			return false
		}
	}
	return true
}

// gathered is the log with the vectors of its requests alone, one after the other as they are asked.
func (l *Log) gathered() (*Log, error) {
	var rows []int
	for i := range l.Requests {
		for j := range l.Requests[i].NQ {
			rows = append(rows, l.Requests[i].First+j)
		}
	}
	all, err := picked(l.Vectors, len(rows), func(i int) int { return rows[i] })
	if err != nil {
		return nil, err
	}
	out := *l
	out.Vectors, out.free, out.before, out.Truth = all, all.Release, 0, nil
	out.Requests = slices.Clone(l.Requests)
	to := 0
	for i := range out.Requests {
		r := &out.Requests[i]
		if l.Truth != nil {
			out.Truth = append(out.Truth, l.Truth[r.First:r.First+r.NQ]...)
		}
		r.First = to
		to += r.NQ
	}
	return &out, nil
}

// digest is the SHA-256 of all vectors and of what the requests say, filters aside, which the digests of their logs cover.
func (l *Log) digest() string {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, l.Digest, l.Vectors.Element, l.Vectors.Dim, l.Start.UnixNano())
	for i := range l.Vectors.Rows {
		sum.Write(l.Vectors.Row(i))
	}
	for i := range l.Requests {
		r := &l.Requests[i]
		_, _ = fmt.Fprintln(sum, r.First, r.NQ, r.K, r.EF, r.NProbe, int64(r.At), r.Timed, r.Collection)
		rest := r.SearchParams
		rest.EF, rest.NProbe = 0, 0
		for f, x := range rest.Given() {
			_, _ = fmt.Fprintln(sum, f.Key, f.Number(x))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
