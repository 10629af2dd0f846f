package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Batch searches all queries with at most threads goroutines and returns the hits of each query, in the order of
// queries. If threads is 0, it uses one goroutine per CPU. Each goroutine calls searcher once and searches with the
// function that it returns. A goroutine stops at its first error. Batch returns the joined errors of all
// goroutines.
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
