package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// worker is a session and the goroutine that asks with it. It counts for itself, so that sessions do not wait for each other: its
// lock is free but when progress is looked at, or a deadline is over.
type worker struct {
	driver  *driver
	index   int
	session Session // nil: it has to be opened
	pause   time.Duration
	timer   *time.Timer // for waiting
	// bubble is that the clock stood still while the kernel slept: it is that of testing/synctest, which only Go's timers move.
	bubble bool

	// due is when the call under way has to be back, 0 if there is none; what is below it was written before it was.
	due     atomic.Int64
	request *Request
	at      time.Duration // when it should start
	sent    time.Duration

	mu     sync.Mutex
	back   chan<- event
	expiry *time.Timer
	cancel context.CancelFunc
	// told is that the call under way was told to end, gone that nobody waits for the worker any more, idle that it does
	// not work.
	told, gone, idle bool
	tally            tally
	round            int             // that tally is of
	until            time.Duration   // its end
	ends             []time.Duration // of the rounds after it
	// What is left of a call that never came back.
	took    time.Duration
	err     error
	counted bool
}

func newWorker(d *driver, index int, s Session) *worker {
	return &worker{driver: d, index: index, session: s}
}

// enter prepares for a phase.
func (w *worker) enter(p *phase, back chan<- event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.back = back
	w.round, w.until, w.ends = p.first, math.MaxInt64, nil
	if len(p.ends) > 0 {
		w.until, w.ends = p.ends[0], p.ends[1:]
	}
}

// work asks until the phase is over.
func (w *worker) work(ctx context.Context, p *phase) {
	w.watch(true)
	call := w.call(ctx)
	for {
		opening := w.reopen(ctx)
		r, ok := w.next(ctx, p)
		if !ok {
			break
		}
		w.begin()
		var a *Answer
		err := opening
		if err == nil {
			a, err = w.session.Ask(call, r)
			if a == nil && err == nil {
				err = errors.New("the session returned no answer and no error")
			}
		}
		ended := w.driver.elapsed()
		if err != nil {
			a = nil
		}
		dropped := err != nil && ctx.Err() != nil
		counts, told, gone := w.record(a, &err, ended, dropped)
		if gone {
			_ = w.session.Close() // nobody waits for this goroutine any more
			return
		}
		if dropped {
			break
		}
		w.sink(r, a, ended-w.at, err, counts)
		if told {
			call = w.call(ctx)
			if err != nil {
				w.leave()
			}
		}
		if opening != nil {
			w.rest(ctx)
		}
	}
	w.watch(false)
	w.back <- event{worker: w}
}

// next waits for the next request's start.
func (w *worker) next(ctx context.Context, p *phase) (r *Request, ok bool) {
	d := w.driver
	w.sent = d.elapsed()
	if w.sent >= p.end() {
		return nil, false
	}
	n, at, ok := p.take()
	if !ok {
		return nil, false
	}
	if p.arrivals == nil {
		w.at = w.sent
		w.request = d.requests[int(n%int64(len(d.requests)))]
		return w.request, true
	}
	w.at = at
	if w.sent < at {
		if !w.sleep(ctx, at) {
			return nil, false
		}
		w.sent = d.elapsed()
	} else if w.sent > at+lateness {
		w.mu.Lock()
		w.tally.late++
		w.mu.Unlock()
	}
	w.request = p.arrivals.request(d.requests, n)
	return w.request, true
}

// lateness is what a session's own work may hold up the next start for: more means that no session was free.
const lateness = time.Millisecond

// begin starts the deadline of the request.
func (w *worker) begin() {
	w.due.Store(int64(w.sent + max(1, w.driver.plan.Deadline)))
}

// record counts what came back, in the round in which it did. It reports whether the request counts, whether the call was
// told to end, and whether nobody waits for it any more.
func (w *worker) record(a *Answer, err *error, ended time.Duration, dropped bool) (counts, told, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return false, false, true
	}
	w.due.Store(0)
	told, w.told = w.told, false
	if dropped {
		return false, false, false
	}
	if told && *err != nil {
		*err = w.driver.expired()
	}
	return w.count(a, *err, ended), told, false
}

// count is record for whoever has the lock.
func (w *worker) count(a *Answer, err error, ended time.Duration) (counts bool) {
	for ended > w.until && len(w.ends) > 0 {
		w.flush()
		w.round, w.until, w.ends = w.round+1, w.ends[0], w.ends[1:]
	}
	t := &w.tally
	t.asked++
	tail := ended > w.until
	if tail {
		t.tail++
	}
	if w.driver.plan.open() {
		t.waited.Record(w.sent - w.at)
	}
	if err != nil {
		t.failed++
		t.fails.Record(ended - w.at)
		if w.round >= 0 {
			w.driver.fails.add(err)
		}
		return w.round >= 0
	}
	if !tail {
		t.queries += w.request.queries()
	}
	t.answered += w.request.queries()
	t.latency.Record(ended - w.at)
	if a.Server > 0 {
		t.server.Record(a.Server)
		t.wire.Record(ended - w.sent - a.Server)
	}
	t.queued.Record(a.Queued)
	t.distances += int64(a.Distances)
	return w.round >= 0
}

// flush hands over what was counted of a round.
func (w *worker) flush() {
	d := w.driver
	if w.round >= 0 && w.tally.any() {
		d.mu.Lock()
		d.rounds[w.round].merge(&w.tally)
		d.mu.Unlock()
	}
	w.tally.reset()
}

func (w *worker) sink(r *Request, a *Answer, took time.Duration, err error, counts bool) {
	if p := &w.driver.plan; p.Sink != nil && (counts || p.SinkWarmup) {
		p.Sink(w.index, r, a, took, err)
	}
}

// expired is the error of a request whose deadline was over.
func (d *driver) expired() error { return fmt.Errorf("no answer within %v", d.plan.Deadline) }
