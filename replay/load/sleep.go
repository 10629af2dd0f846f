package load

import (
	"context"
	"time"
)

// timerSlack is the maximum delay of a Go timer: the runtime waits in epoll, whose unit is the millisecond.
const timerSlack time.Duration = 1200 * time.Microsecond

// sleep waits until a time of the run. It reports whether that time was reached before the context ended. The
// kernel waits for the last part, because at a thousand requests a second the delay of Go's timers would dominate
// the latency of a short query.
func (w *worker) sleep(ctx context.Context, until time.Duration) bool {
	d := w.driver
	early := timerSlack
	if w.bubble {
		early = 0
	}
	if wait := until - d.elapsed() - early; wait > 0 && !w.timerSleep(ctx, wait) {
		return false
	}
	for {
		before := d.elapsed()
		if before >= until {
			return ctx.Err() == nil
		}
		nap(until - before)
		if d.elapsed() == before {
			w.bubble = true
			if !w.timerSleep(ctx, until-before) {
				return false
			}
		}
	}
}

// timerSleep waits with a Go timer.
func (w *worker) timerSleep(ctx context.Context, wait time.Duration) bool {
	if w.timer == nil {
		w.timer = time.NewTimer(wait)
	} else {
		w.timer.Reset(wait)
	}
	select {
	case <-w.timer.C:
		return true
	case <-ctx.Done():
		w.timer.Stop()
		return false
	}
}
