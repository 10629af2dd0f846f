package target

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/index"
)

// Answers holds the answers to queries, in their order.
type Answers struct {
	K    int
	Hits [][]engine.Hit // nearest first
	Cost []index.Cost
	Took time.Duration // total
}

// Search answers queries on at most threads goroutines. The answers do not depend on threads. An error names the
// query that failed.
func (t *Target) Search(
	ctx context.Context, queries *engine.Vectors, p index.Params, o Options, threads int,
) (*Answers, error) {
	if err := t.fits(queries, &p); err != nil {
		return nil, err
	}
	a := &Answers{K: p.K, Hits: make([][]engine.Hit, queries.Rows), Cost: make([]index.Cost, queries.Rows)}
	began := time.Now()
	first, err := t.searcher(o)
	if err != nil {
		return nil, err
	}
	if s, ok := first.(index.BatchSearcher); ok {
		if err := a.batches(ctx, s, queries, p, threads); err != nil {
			return nil, err
		}
		a.Took = time.Since(began)
		return a, nil
	}
	all, err := t.clones(first, min(threads, queries.Rows))
	if err != nil {
		return nil, err
	}
	err = each(ctx, all, queries.Rows, func(s index.Searcher, i int) error {
		hits, cost, err := s.Search(queries.Row(i), p, nil)
		if err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
		a.Hits[i], a.Cost[i] = hits, cost
		return nil
	})
	a.Took = time.Since(began)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// batchQueries is the number of queries in a batch. The context is checked between batches.
const batchQueries = 256

// batches answers queries in batches, which is faster than one by one and gives the same answers.
func (a *Answers) batches(
	ctx context.Context, s index.BatchSearcher, queries *engine.Vectors, p index.Params, threads int,
) error {
	for first := 0; first < queries.Rows; first += batchQueries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		part, err := queries.Slice(first, min(first+batchQueries, queries.Rows))
		if err != nil {
			return err
		}
		hits, cost, err := s.SearchBatch(part, p, threads)
		if err != nil {
			return fmt.Errorf("queries %d to %d: %w", first, first+part.Rows-1, err)
		}
		copy(a.Hits[first:], hits)
		for i := range hits {
			a.Cost[first+i] = cost
		}
	}
	return nil
}

// fits returns an error if queries and parameters do not fit the target.
func (t *Target) fits(queries *engine.Vectors, p *index.Params) error {
	v := t.File
	if queries.Rows == 0 {
		return errors.New("no queries")
	}
	if e := v.Element(); queries.Dim != v.Dim && (e != dist.Sparse || queries.Element != dist.Sparse) {
		return fmt.Errorf("queries have %d dimensions, %s has %d", queries.Dim, v.Name, v.Dim)
	}
	if e := v.Element(); queries.Element != e {
		return fmt.Errorf("queries are %s, the vectors of %s are %s: write them as %s", queries.Element, v.Name, e,
			typeOf(e))
	}
	if p.K <= 0 {
		return fmt.Errorf("k is %d, not 1 or more", p.K)
	}
	return nil
}

// typeOf returns the name of an element type in files of vectors.
func typeOf(e dist.Element) string {
	if e == dist.Bit {
		return "uint8, eight bits to a value"
	}
	return e.String()
}

func (t *Target) searcher(o Options) (index.Searcher, error) {
	s, err := t.File.NewSearcher(index.Options{Library: t.library(o.Library), BM25: o.BM25})
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", t.File.Name, err)
	}
	return s, nil
}

// clones returns n searchers: first and n-1 clones, which share data computed from the rows, e.g. norms.
func (t *Target) clones(first index.Searcher, n int) ([]index.Searcher, error) {
	list := []index.Searcher{first}
	for len(list) < n {
		s, err := first.Clone()
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", t.File.Name, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// each calls f for the numbers below n, in order if there is one searcher. It stops at the first error or when ctx
// is done.
func each(ctx context.Context, searchers []index.Searcher, n int, f func(s index.Searcher, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	for _, s := range searchers {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(s, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// Recall holds the shares of true neighbors that were found.
type Recall struct {
	Queries int
	// Mean is the mean share of the true neighbors among the first k hits. Worst is the share of the worst query,
	// number WorstQuery.
	Mean, Worst float64
	WorstQuery  int
	// Incomplete is the number of queries with fewer than k true neighbors. Their shares are of the existing ones.
	Incomplete int
}

// RecallOf compares answers with true neighbors, nearest first, one row for each query. A hit counts if its id is
// among the first k of the truth. A row that ties with the last true neighbour counts only if it is in the truth,
// whereas ann-benchmarks counts all such rows. The id -1 is ignored, because faiss pads with it.
func RecallOf(a *Answers, truth [][]int64) (*Recall, error) {
	if len(truth) < len(a.Hits) {
		return nil, fmt.Errorf("%d queries, true neighbours of %d", len(a.Hits), len(truth))
	}
	r := &Recall{Queries: len(a.Hits), Worst: 2}
	sum := 0.0
	for i, hits := range a.Hits {
		neighbours := make(map[int64]bool, a.K)
		for _, id := range truth[i][:min(len(truth[i]), a.K)] {
			if id != -1 {
				neighbours[id] = true
			}
		}
		all := len(neighbours)
		if all < a.K {
			r.Incomplete++
		}
		for _, h := range hits {
			delete(neighbours, h.ID)
		}
		share := 1.0
		if all > 0 {
			share = float64(all-len(neighbours)) / float64(all)
		}
		sum += share
		if share < r.Worst {
			r.Worst, r.WorstQuery = share, i
		}
	}
	r.Mean = sum / float64(max(1, r.Queries))
	return r, nil
}
