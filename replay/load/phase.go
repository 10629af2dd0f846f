package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// phase is a time in which sessions ask without a pause.
type phase struct {
	first int // the round that begins with it; -1 is the warm-up
	// ends are when its rounds end; none if the one round ends with its last request.
	ends  []time.Duration
	limit int64 // how many requests there are at most
	// arrivals says when each request should start; nil in a closed loop.
	arrivals *arrivals

	quit atomic.Bool
	// All sessions write here, and read what is above with each request: it has a cache line of its own.
	_     [64]byte
	taken atomic.Int64
	_     [64]byte
}

// take is the next request and when it should start, which in a closed loop is at once.
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

// end is when the last round of it ends; math.MaxInt64 if requests end it.
func (p *phase) end() time.Duration {
	if len(p.ends) == 0 {
		return math.MaxInt64
	}
	return p.ends[len(p.ends)-1]
}

// asked is how many requests were taken.
func (p *phase) asked() int64 {
	if p.arrivals != nil {
		return p.arrivals.count()
	}
	return min(p.taken.Load(), p.limit)
}

// run lets all workers ask until the phase is over.
func (d *driver) run(ctx context.Context, p *phase) {
	limited := false // by what is allowed in all
	if d.plan.Total > 0 {
		left := int64(d.plan.Total) - d.asked
		limited = left < p.limit
		p.limit = min(p.limit, left)
	}
	if p.limit > 0 {
		limited = d.ask(ctx, p) && limited
	}
	if limited && d.stopped == "" {
		d.stopped = fmt.Sprintf("request limit reached: %d sent", d.plan.Total)
	}
}

// ask is run without the bound of requests in all; it reports whether the phase's limit ended it.
func (d *driver) ask(ctx context.Context, p *phase) (exhausted bool) {
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
	exhausted = p.asked() >= p.limit
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
	d.asked += p.asked()
	if p.arrivals != nil && ended && !exhausted && p.first+len(p.ends) == d.plan.Rounds {
		d.unsent = p.arrivals.left(p.end())
	}
	return exhausted
}

// wait returns when all workers are back, and the phase is over, which is ended, or the context.
func (d *driver) wait(ctx context.Context, p *phase, back <-chan struct{}) (ended bool) {
	busy := len(d.workers)
	ends := p.ends
	clock := time.NewTimer(0)
	defer clock.Stop()
	<-clock.C
	for {
		if busy == 0 && (len(ends) == 0 || p.asked() >= p.limit) {
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

// reason is why a context is over.
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
