package load

import (
	"context"
	"time"
)

// call is the context of one request after the other: one of its own for each would cost a microsecond and some memory. It is
// over when the deadline of the request under way is, and then it is not used again.
//
// That it holds a context is what it is: its children hang on that one's Done.
type call struct {
	context.Context
	worker *worker
}

// Deadline is that of the request under way.
func (c *call) Deadline() (time.Time, bool) {
	due := c.worker.due.Load()
	if due == 0 || c.worker.driver.plan.Deadline == 0 {
		return c.Context.Deadline()
	}
	at := c.worker.driver.began.Add(time.Duration(due))
	if outer, ok := c.Context.Deadline(); ok && outer.Before(at) {
		return outer, true
	}
	return at, true
}

// call makes the context for the requests to come.
func (w *worker) call(ctx context.Context) context.Context {
	if w.driver.plan.Deadline == 0 {
		return ctx
	}
	inner, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	w.cancel = func() { cancel(context.DeadlineExceeded) }
	w.mu.Unlock()
	return &call{inner, w}
}

// watch has deadlines looked at, or no more. There is one timer for all requests: it is set again only when it fires, to the
// deadline of what is under way then.
func (w *worker) watch(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = !on
	deadline := w.driver.plan.Deadline
	switch {
	case deadline == 0:
	case w.expiry == nil:
		w.expiry = time.AfterFunc(deadline, w.expire)
	case on:
		w.expiry.Reset(deadline)
	default:
		w.expiry.Stop()
		w.cancel()
	}
}

// expire tells a call whose deadline is over to end, and gives up one that was told and does not.
func (w *worker) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle || w.gone {
		return
	}
	due, now := time.Duration(w.due.Load()), w.driver.elapsed()
	switch {
	case due == 0:
		w.expiry.Reset(w.driver.plan.Deadline)
	case now < due:
		w.expiry.Reset(due - now)
	case !w.told:
		w.told = true
		w.cancel()
		w.expiry.Reset(grace)
	default:
		w.gone = true
		w.took, w.err = now-w.at, w.driver.expired()
		w.counted = w.count(nil, w.err, now)
		w.back <- event{worker: w, lost: true}
	}
}

// leave closes the session, without waiting for it.
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
	w.session, w.pause = s, 0
	return nil
}

// The pauses between attempts to open a session.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// rest waits after a session could not be opened, each time longer.
func (w *worker) rest(ctx context.Context) {
	w.pause = min(max(firstPause, 2*w.pause), lastPause)
	w.sleep(ctx, w.driver.elapsed()+w.pause)
}

// close closes all sessions, and waits for that within reason.
func (d *driver) close() {
	for _, w := range d.workers {
		w.mu.Lock()
		gone := w.gone
		w.mu.Unlock()
		if !gone { // else it may be asking, and closes when it comes back
			w.leave()
		}
	}
	closed := make(chan struct{})
	go func() {
		d.closing.Wait()
		close(closed)
	}()
	clock := time.NewTimer(grace)
	defer clock.Stop()
	select {
	case <-closed:
	case <-clock.C:
	}
}
