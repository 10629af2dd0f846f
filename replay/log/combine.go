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
	"kitescope/internal/words"
)

// Combine combines the times and sizes of one log's requests with the vectors of another. Each request of shape gets
// the vectors, the filter and any parameters that shape lacks from a request of vectors. The requests of vectors
// are drawn in a random order from seed, each once before any repeats. A request of unknown size gets one vector.
// A request with more vectors than the drawn one also gets the vectors that follow in that log.
func Combine(shape, vectors *Log, seed uint64) (*Log, error) {
	if len(shape.Requests) == 0 {
		return nil, fmt.Errorf("dress %s: it has no requests", shape.Name)
	}
	if vectors.Vectors == nil || len(vectors.Requests) == 0 {
		return nil,
			hints.Errorf("draw some: kitescope replay sample", "dress %s: %s has no vectors", shape.Name, vectors.Name)
	}
	l := *vectors
	l.free = nil
	l.Format, l.Start = "dressed", shape.Start
	l.Name = shape.Name + " with " + vectors.Name
	l.Notes = append(append([]string{fmt.Sprintf("times from %s, vectors from %s, seed %d",
		shape.Name, vectors.Name, seed)},
		shape.Notes...), vectors.Notes...)
	unknown, cut := 0, 0
	if !l.allFinite() {
		gathered, err := vectors.compact()
		if err != nil {
			return nil, fmt.Errorf("dress %s: %w", shape.Name, err)
		}
		l.Vectors, l.Truth, l.free, vectors = gathered.Vectors, gathered.Truth, gathered.free, gathered
	}
	order := permutation{rng: rand.New(rand.NewPCG(seed, 4)), n: len(vectors.Requests)}
	l.Requests = make([]Request, len(shape.Requests))
	for i, s := range shape.Requests {
		v := vectors.Requests[order.next()]
		if s.NQ == 0 {
			unknown++
		}
		if s.NQ > l.Vectors.Rows {
			cut++
		}
		s.NQ = min(max(s.NQ, 1), l.Vectors.Rows)
		s.First = min(v.First, l.Vectors.Rows-s.NQ)
		s.Filter = v.Filter
		s.K = cmp.Or(s.K, v.K)
		if s.SearchParams == (engine.SearchParams{}) {
			s.SearchParams = v.SearchParams
		}
		l.Requests[i] = s
	}
	if unknown > 0 {
		l.Notes = append(l.Notes, words.Plural(unknown, "request")+" of unknown size: assuming one vector each")
	}
	if cut > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%s had more vectors than the %d available: cut",
			words.Plural(cut, "request"), l.Vectors.Rows))
	}
	sum := sha256.Sum256(fmt.Append(nil, shape.Digest, vectors.Digest, seed))
	l.Digest = hex.EncodeToString(sum[:])
	return &l, nil
}

// allFinite reports whether every vector is finite and can be searched. Vectors of skipped requests are still in a
// mapped file.
func (l *Log) allFinite() bool {
	for i := range l.Vectors.Rows {
		if !finite(l.Vectors.Row(i), l.Vectors.Element) {
			return false
		}
	}
	return true
}

// compact returns the log with only the vectors of its requests, in the order of the requests.
func (l *Log) compact() (*Log, error) {
	var rows []int
	for i := range l.Requests {
		for j := range l.Requests[i].NQ {
			rows = append(rows, l.Requests[i].First+j)
		}
	}
	all, err := selectRows(l.Vectors, len(rows), func(i int) int { return rows[i] })
	if err != nil {
		return nil, err
	}
	out := *l
	out.Vectors, out.free, out.skipped, out.Truth = all, all.Release, 0, nil
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
