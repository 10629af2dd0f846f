package usage

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Options configure a watch.
type Options struct {
	// Interval is the time between two readings of a process. Timeout is the deadline of a reading.
	Interval, Timeout time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Watch reads targets until ctx is done or all have ended. It reads each target independently, so one that
// hangs until its deadline does not delay the others.
func Watch(ctx context.Context, targets []Target, o Options) *Usage {
	u := &Usage{Interval: o.Interval, Begin: o.Now()}
	var readers sync.WaitGroup
	for _, t := range targets {
		s := NewSeries(t.Name())
		u.Series = append(u.Series, s)
		readers.Go(func() {
			follow(ctx, t, o, func(r Reading, err error) bool {
				if ended, ok := errors.AsType[*EndedError](err); ok {
					s.Ended = ended.What
					return false
				}
				if err != nil {
					s.Fail(o.Now(), err.Error())
				} else {
					s.Add(r)
				}
				return true
			})
		})
	}
	readers.Wait()
	u.End = o.Now()
	return u
}

// follow reads a target at each tick until take returns false. It skips ticks that pass during a reading.
func follow(ctx context.Context, t Target, o Options, take func(Reading, error) bool) {
	ticks := time.NewTicker(o.Interval)
	defer ticks.Stop()
	for {
		reading, cancel := context.WithTimeout(ctx, o.Timeout)
		r, err := t.Read(reading)
		cancel()
		if ctx.Err() != nil && err != nil || !take(r, err) { // interrupted by the end of the watch: not a gap
			return
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}
