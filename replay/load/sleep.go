package load

import (
	"context"
	"time"
)

// coarse is how late a Go timer may fire: the runtime waits in epoll, whose unit is the millisecond.
const coarse time.Duration = 1200 * time.Microsecond

// sleep waits until a time of the run; it reports whether that came before the context was over. The last bit is left to the
// kernel: at a thousand requests a second the lateness of Go's timers would be most of a short query's latency.
func (w *worker) sleep(ctx context.Context, until time.Duration) bool {
	d := w.driver
	early := coarse
	if w.bubble {
		early = 0
	}
	if wait := until - d.elapsed() - early; wait > 0 && !w.rough(ctx, wait) {
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
			if !w.rough(ctx, until-before) {
				return false
			}
		}
	}
}

// rough waits as Go's timers do.
func (w *worker) rough(ctx context.Context, wait time.Duration) bool {
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
