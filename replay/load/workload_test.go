package load_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kitescope/replay/load"
)

// workload is a target with calls of a given duration.
type workload struct {
	// serve returns the duration and the result of call n, counted from 0 over all sessions.
	serve func(n int64, r *load.Request) (time.Duration, *load.Answer, error)
	open  func(n int64) error

	calls, opened, closed atomic.Int64
	mu                    sync.Mutex
	asked                 []int // numbers of requests in the order of arrival
}

func (w *workload) Name() string { return "workload" }

func (w *workload) Session(context.Context) (load.Session, error) {
	n := w.opened.Add(1) - 1
	if w.open != nil {
		if err := w.open(n); err != nil {
			w.closed.Add(1) // nothing to close
			return nil, err
		}
	}
	return &client{w: w}, nil
}

type client struct {
	w      *workload
	closed bool
}

func (c *client) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if c.closed {
		return nil, errors.New("asked after Close")
	}
	n := c.w.calls.Add(1) - 1
	c.w.mu.Lock()
	c.w.asked = append(c.w.asked, r.Number)
	c.w.mu.Unlock()
	took, a, err := c.w.serve(n, r)
	select {
	case <-time.After(took):
		return a, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *client) Close() error {
	c.closed = true
	c.w.closed.Add(1)
	return nil
}

// steady returns a workload that answers each call after a fixed time.
func steady(took time.Duration) *workload {
	return &workload{serve: func(int64, *load.Request) (time.Duration, *load.Answer, error) {
		return took, &load.Answer{}, nil
	}}
}

// requests returns requests numbered from 0, with a gap between their times.
func requests(n int, gap time.Duration) []*load.Request {
	all := make([]*load.Request, n)
	for i := range all {
		all[i] = &load.Request{Number: i, At: time.Duration(i) * gap}
	}
	return all
}

func run(t *testing.T, target *workload, all []*load.Request, plan load.Plan) *load.Point {
	t.Helper()
	p, err := load.Run(t.Context(), target, all, plan)
	if err != nil {
		t.Fatal(err)
	}
	if target.opened.Load() != target.closed.Load() {
		t.Errorf("%d sessions opened, %d closed", target.opened.Load(), target.closed.Load())
	}
	return p
}

// almostEqual reports whether a histogram value is accurate to 1 in 1000.
func almostEqual(got, want time.Duration) bool {
	return got >= want-want/1000 && got <= want+want/1000
}
