package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// phase is a period in which sessions send requests without a pause.
type phase struct {
	first int // first round of the phase; -1 is the warm-up
	// ends holds the end of each round; empty if the only round ends with its last request.
	ends  []time.Duration
	limit int64 // maximum number of requests
	// arrivals holds the start times of requests; nil in a closed loop.
	arrivals *arrivals

	quit atomic.Bool
	// All sessions write taken, and read the fields above with each request, so it has its own cache line.
	_     [64]byte
	taken atomic.Int64
	_     [64]byte
}

// take returns the next request and its start time, which is immediate in a closed loop.
func (p *phase) take() (n int64, at time.Duration, ok bool) {
	if p.quit.Load() {
		return 0, 0, false
	}
	if p.arrivals != nil {
		return p.arrivals.take(p.limit, p.end())
	}
	n = p.taken.Add(1) - 1
	return n, 0, n < p.limit
}

// end returns the end of the last round of the phase; math.MaxInt64 if requests end it.
func (p *phase) end() time.Duration {
	if len(p.ends) == 0 {
		return math.MaxInt64
	}
	return p.ends[len(p.ends)-1]
}

// count returns the number of requests that were taken.
func (p *phase) count() int64 {
	if p.arrivals != nil {
		return p.arrivals.count()
	}
	return min(p.taken.Load(), p.limit)
}

// run lets all workers send requests until the phase ends.
func (d *driver) run(ctx context.Context, p *phase) {
	limited := false // by the total request limit
	if d.plan.Total > 0 {
		left := int64(d.plan.Total) - d.asked
		limited = left < p.limit
		p.limit = min(p.limit, left)
	}
	if p.limit > 0 {
		limited = d.runPhase(ctx, p) && limited
	}
	if limited && d.stopped == "" {
		d.stopped = fmt.Sprintf("request limit reached: %d sent", d.plan.Total)
	}
}

// runPhase runs a phase without the total request limit. It reports whether the phase's limit ended it.
func (d *driver) runPhase(ctx context.Context, p *phase) (exhausted bool) {
	began := d.elapsed()
	for i := range p.ends {
		p.ends[i] += began
	}
	p.arrivals = newArrivals(d.plan, d.requests, began, p.first)
	d.begin(p, p.first, began)
	back := make(chan struct{}, len(d.workers))
	for _, w := range d.workers {
		w.enter(p)
		go func() {
			w.work(ctx, p)
			back <- struct{}{}
		}()
	}
	ended := d.wait(ctx, p, back)
	exhausted = p.count() >= p.limit
	if !ended {
		d.stopped = reason(ctx)
	}
	if d.spanOpen {
		d.finish(d.elapsed())
		d.cut = !ended || len(p.ends) > 0 || p.limit < int64(d.plan.Requests)
	}
	for _, w := range d.workers {
		w.mu.Lock()
		w.flush()
		w.mu.Unlock()
	}
	d.asked += p.count()
	if p.arrivals != nil && ended && !exhausted && p.first+len(p.ends) == d.plan.Rounds {
		d.unsent = p.arrivals.unsent(p.end())
	}
	return exhausted
}

// wait waits until all workers have returned and the phase is over, and reports true, or until the context ends, and
// reports false.
func (d *driver) wait(ctx context.Context, p *phase, back <-chan struct{}) (ended bool) {
	busy := len(d.workers)
	ends := p.ends
	clock := time.NewTimer(0)
	defer clock.Stop()
	<-clock.C
	for {
		if busy == 0 && (len(ends) == 0 || p.count() >= p.limit) {
			return true
		}
		if len(ends) > 0 {
			clock.Reset(ends[0] - d.elapsed())
		}
		select {
		case <-back:
			busy--
		case <-clock.C:
			d.finish(ends[0])
			if len(ends) > 1 {
				d.begin(p, p.first+len(p.ends)-len(ends)+1, ends[0])
			}
			ends = ends[1:]
		case <-ctx.Done():
			p.quit.Store(true)
			for range busy { // their calls end with the context
				<-back
			}
			return false
		}
	}
}

// reason returns the reason why a context ended.
func reason(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.Canceled):
		return "interrupted"
	case errors.Is(cause, context.DeadlineExceeded):
		return "time is up"
	default:
		return cause.Error()
	}
}
