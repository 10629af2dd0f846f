package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// worker is a session and the goroutine that sends its requests. It has its own counts so that sessions do not wait
// for each other. Its lock is contended only while progress is read.
type worker struct {
	driver  *driver
	index   int
	session Session // nil if it has to be opened
	backoff time.Duration
	timer   *time.Timer // for waiting
	// bubble is true if the clock did not advance while the kernel slept. It is then the clock of testing/synctest,
	// which only Go's timers advance.
	bubble bool

	request *Request
	at      time.Duration // intended start
	sent    time.Duration

	mu    sync.Mutex
	tally tally
	round int             // round of tally
	until time.Duration   // its end
	ends  []time.Duration // ends of the rounds after it
}

func newWorker(d *driver, index int, s Session) *worker {
	return &worker{driver: d, index: index, session: s}
}

// enter prepares for a phase.
func (w *worker) enter(p *phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.round, w.until, w.ends = p.first, math.MaxInt64, nil
	if len(p.ends) > 0 {
		w.until, w.ends = p.ends[0], p.ends[1:]
	}
}

// work sends requests until the phase ends.
func (w *worker) work(ctx context.Context, p *phase) {
	for {
		err := w.reopen(ctx)
		r, ok := w.next(ctx, p)
		if !ok {
			return
		}
		opened := err == nil
		var a *Answer
		if opened {
			a, err = w.ask(ctx, r)
		}
		if err != nil && ctx.Err() != nil {
			return
		}
		ended := w.driver.elapsed()
		w.sink(r, a, ended-w.at, err, w.record(a, err, ended))
		if !opened {
			w.waitBackoff(ctx)
		}
	}
}

// ask sends a request within the deadline. It closes the session if the deadline ended the call.
func (w *worker) ask(ctx context.Context, r *Request) (*Answer, error) {
	call := ctx
	if deadline := w.driver.plan.Deadline; deadline > 0 {
		var cancel context.CancelFunc
		call, cancel = context.WithTimeout(ctx, deadline)
		defer cancel()
	}
	a, err := w.session.Ask(call, r)
	switch {
	case a == nil && err == nil:
		return nil, errors.New("the session returned neither a response nor an error")
	case err != nil && call.Err() != nil && ctx.Err() == nil:
		w.leave()
		return nil, fmt.Errorf("no response within %v", w.driver.plan.Deadline)
	case err != nil:
		return nil, err
	}
	return a, nil
}

// next waits for the start of the next request.
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
	} else if w.sent > at+maxLateness {
		w.mu.Lock()
		w.tally.late++
		w.mu.Unlock()
	}
	w.request = p.arrivals.request(d.requests, n)
	return w.request, true
}

// maxLateness is the maximum delay of a start due to a session's own work. A longer delay means that no session was
// free.
const maxLateness = time.Millisecond

// record counts a response in the round in which it arrived. It reports whether the request counts.
func (w *worker) record(a *Answer, err error, ended time.Duration) (counts bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
		t.failedLatency.Record(ended - w.at)
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
	t.distances += int64(a.Distances)
	return w.round >= 0
}

// flush adds the counts of a round to the driver's counts.
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

// leave closes the session without waiting.
func (w *worker) leave() {
	s := w.session
	w.session = nil
	if s != nil {
		w.driver.closing.Go(func() { _ = s.Close() })
	}
}

// reopen opens the session if there is none.
func (w *worker) reopen(ctx context.Context) error {
	if w.session != nil {
		return nil
	}
	s, err := w.driver.session(ctx)
	if err != nil {
		return err
	}
	w.session, w.backoff = s, 0
	return nil
}

// The pauses between attempts to open a session.
const (
	minBackoff = 10 * time.Millisecond
	maxBackoff = time.Second
)

// waitBackoff waits after a failure to open a session. Each pause is twice the last one, up to maxBackoff.
func (w *worker) waitBackoff(ctx context.Context) {
	w.backoff = min(max(minBackoff, 2*w.backoff), maxBackoff)
	w.sleep(ctx, w.driver.elapsed()+w.backoff)
}

// tally holds the counts of a session, or of all sessions, in a round.
type tally struct {
	asked, failed, tail, late      int64
	queries, answered, distances   int64 // queries: answered within the round; answered: all
	latency, failedLatency, waited Histogram
}

func (t *tally) any() bool { return t.asked > 0 || t.late > 0 }

func (t *tally) histograms() [3]*Histogram {
	return [...]*Histogram{&t.latency, &t.failedLatency, &t.waited}
}

func (t *tally) counts() [7]*int64 {
	return [...]*int64{&t.asked, &t.failed, &t.tail, &t.late, &t.queries, &t.answered, &t.distances}
}

func (t *tally) merge(other *tally) {
	for i, n := range t.counts() {
		*n += *other.counts()[i]
	}
	for i, h := range t.histograms() {
		h.Merge(other.histograms()[i])
	}
}

func (t *tally) reset() {
	for _, n := range t.counts() {
		*n = 0
	}
	for _, h := range t.histograms() {
		h.Reset()
	}
}

// queries returns the number of vectors of a request, at least 1.
func (r *Request) queries() int64 {
	if r.Vectors == nil {
		return 1
	}
	return int64(max(1, r.Vectors.Rows))
}
