package replay

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"kitescope/replay/load"
)

// AskAll asks a target each request once, over so many sessions at once, and keeps the answers. failed is how many requests had an error
// of their own: they have no answer. The error is ctx's, or that no session could be opened, or the first request's if all of them failed.
func AskAll(ctx context.Context, t load.Target, requests []*load.Request, sessions int) (a *Answers, failed int, err error) {
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

// cmpErr is the first error of several.
func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
