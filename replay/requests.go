package replay

import (
	"cmp"
	"errors"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// RequestParams holds values for the parameters that the log does not set.
type RequestParams struct {
	K int
	engine.SearchParams
	// Force holds parameters that override the log's. A parameter of 0 overrides nothing.
	Force struct {
		K int
		engine.SearchParams
	}
}

// Requests returns the requests of a log with all parameters filled in. Number is the index in l.Requests. The
// vectors share the log's memory. It returns an error if the vectors do not match the collection, or if neither the
// log nor defaults sets k.
func Requests(l *log.Log, c *Collection, defaults RequestParams) ([]*load.Request, error) {
	switch {
	case l.Vectors == nil:
		return nil, fmt.Errorf("log %s has no vectors: only times and sizes of requests", l.Name)
	case len(l.Requests) == 0:
		return nil, fmt.Errorf("log %s has no requests", l.Name)
	case (c.Element == dist.Sparse) != (l.Vectors.Element == dist.Sparse):
		return nil,
			fmt.Errorf("log %s has vectors of %s, collection %s of %s", l.Name, l.Vectors.Element, c.Name, c.Element)
	case c.Dim > 0 && (l.Vectors.Dim != c.Dim || l.Vectors.Element != c.Element):
		return nil, fmt.Errorf("log %s has vectors of %d dimensions of %s, collection %s has %d of %s",
			l.Name, l.Vectors.Dim, l.Vectors.Element, c.Name, c.Dim, c.Element)
	}
	list := make([]*load.Request, len(l.Requests))
	all := make([]load.Request, len(l.Requests))
	for i := range l.Requests {
		q := &l.Requests[i]
		vectors, err := l.Vectors.Slice(q.First, q.First+q.NQ)
		if err != nil {
			return nil, fmt.Errorf("log %s: request %d: %w", l.Name, i, err)
		}
		all[i] = load.Request{
			Number: i, At: q.At, Vectors: vectors,
			K:            cmp.Or(defaults.Force.K, q.K, defaults.K),
			SearchParams: defaults.Force.SearchParams.Or(q.SearchParams.Or(defaults.SearchParams)),
		}
		switch k := all[i].K; {
		case k <= 0:
			return nil, fmt.Errorf("log %s: request %d has no k, and the run sets none", l.Name, i)
		case k > flat.MaxK:
			return nil, fmt.Errorf("log %s: request %d asks for %d hits; Milvus returns at most %d", l.Name, i, k,
				flat.MaxK)
		}
		restrict(&all[i], q.Filter)
		list[i] = &all[i]
	}
	return list, nil
}

// Singles returns at most limit requests with one vector each, evenly spaced over all vectors that
// the log's requests use, with their filters. Number is the index in the list. Other parameters are not filled in.
func Singles(l *log.Log, limit int) ([]*load.Request, error) {
	total := int64(0)
	for i := range l.Requests {
		total += int64(l.Requests[i].NQ)
	}
	n := min(int64(limit), total)
	list := make([]*load.Request, 0, n)
	before := int64(0) // vectors of the requests up to and including q
	for i := range l.Requests {
		q := &l.Requests[i]
		for before += int64(q.NQ); int64(len(list)) < n; {
			at := int64(len(list)) * total / n
			if at >= before {
				break
			}
			v := q.First + q.NQ - int(before-at)
			one, err := l.Vectors.Slice(v, v+1)
			if err != nil {
				return nil, fmt.Errorf("log %s: request %d: %w", l.Name, i, err)
			}
			r := &load.Request{Number: len(list), Vectors: one}
			restrict(r, q.Filter)
			list = append(list, r)
		}
	}
	return list, nil
}

// truth returns the true nearest keys that a log contains, by request number. They have no distances.
func truth(l *log.Log) (*Answers, error) {
	if l.Truth == nil {
		return nil, errors.New("log " + l.Name + " has no true neighbours")
	}
	a := &Answers{From: "the log's own", KeysOnly: true, Hits: make(map[int][][]load.Hit, len(l.Requests))}
	for i := range l.Requests {
		q := &l.Requests[i]
		if q.First < 0 || q.NQ < 0 || q.First+q.NQ > len(l.Truth) {
			return nil,
				fmt.Errorf("log %s: request %d has vectors %d to %d, but only %d have true neighbours", l.Name, i,
					q.First, q.First+q.NQ, len(l.Truth))
		}
		list := make([][]load.Hit, q.NQ)
		for j := range list {
			for _, k := range l.Truth[q.First+j] {
				list[j] = append(list[j], load.Hit{Key: k})
			}
		}
		a.Hits[i] = list
	}
	return a, nil
}
