package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Batch returns the hits of each query, in the order of queries, found by at most threads goroutines (0: one per CPU). Each of them searches with a
// function that searcher makes for it alone. Whoever fails stops; the error is of all who did.
func Batch(queries *Vectors, threads int, searcher func() func(query []byte) ([]Hit, error)) ([][]Hit, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	answers := make([][]Hit, queries.Rows)
	errs := make([]error, min(threads, queries.Rows))
	var next atomic.Int64
	var workers sync.WaitGroup
	for w := range errs {
		workers.Go(func() {
			search := searcher()
			for errs[w] == nil {
				i := int(next.Add(1) - 1)
				if i >= queries.Rows {
					return
				}
				answers[i], errs[w] = search(queries.Row(i))
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return answers, nil
}
