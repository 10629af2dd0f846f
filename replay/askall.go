package replay

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"kitescope/replay/load"
)

// AskAll sends each request once to a target, over at most the given number of concurrent sessions, and returns the
// answers. failed is the number of requests that failed; they have no answer. AskAll returns ctx's error, the
// errors of sessions that could not be opened or closed, or, if all requests failed, the first error of each
// session.
func AskAll(
	ctx context.Context, t load.Target, requests []*load.Request, sessions int,
) (a *Answers, failed int, err error) {
	list := make([][][]load.Hit, len(requests))
	var next, fails atomic.Int64
	errs := make([]error, max(1, min(sessions, len(requests))))
	open := make([]error, len(errs))
	var asking sync.WaitGroup
	for w := range errs {
		asking.Go(func() {
			s, err := t.Session(ctx)
			if err != nil {
				open[w] = err
				return
			}
			defer func() { open[w] = s.Close() }()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(requests) {
					return
				}
				answer, err := s.Ask(ctx, requests[i])
				if err != nil {
					fails.Add(1)
					if errs[w] == nil {
						errs[w] = err
					}
					continue
				}
				list[i] = copyHits(answer.Hits)
			}
		})
	}
	asking.Wait()
	if err := cmpErr(ctx.Err(), errors.Join(open...)); err != nil {
		return nil, 0, err
	}
	failed = int(fails.Load())
	if failed == len(requests) {
		return nil, failed, errors.Join(errs...)
	}
	a = &Answers{From: t.Name(), Hits: make(map[int][][]load.Hit, len(requests))}
	for i, hits := range list {
		if hits != nil {
			a.Hits[requests[i].Number] = hits
		}
	}
	return a, failed, nil
}

// cmpErr returns the first of several errors that is not nil.
func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
