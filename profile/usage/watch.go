package usage

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Options say how processes are watched.
type Options struct {
	// Interval is how often each is read; 0 is a second.
	Interval time.Duration
	// Timeout is the deadline of one reading; 0 is the interval, or a second if that is shorter.
	Timeout time.Duration
	// AtOnce is how many are read at the same moment, at most; 0 is 64.
	AtOnce int
	// Points is how many points each Series keeps; 0 is MaxPoints.
	Points int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (o *Options) defaults() {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = max(o.Interval, time.Second)
	}
	if o.AtOnce <= 0 {
		o.AtOnce = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Sample is one point of one process, as it comes.
type Sample struct {
	Series *Series
	Point
}

// answer is what came of reading a target once.
type answer struct {
	target int
	at     time.Time
	Reading
	err error
}

// Watch reads targets until ctx is done or all of them have ended, and calls each, from one goroutine, with
// every point. Each target is read by itself: one that hangs until its deadline delays no other. Before it returns it
// reads each that still answers once more, so that totals reach to the end.
func Watch(ctx context.Context, targets []Target, o Options, each func(Sample)) *Usage {
	o.defaults()
	u := &Usage{Interval: o.Interval, Begin: o.Now()}
	for _, t := range targets {
		u.Series = append(u.Series, NewSeries(t.Name(), o.Points))
	}
	w := &watch{o: o, answers: make(chan answer), room: make(chan struct{}, o.AtOnce)}
	var readers sync.WaitGroup
	for i, t := range targets {
		readers.Go(func() { w.follow(ctx, i, t) })
	}
	go func() {
		readers.Wait()
		close(w.answers)
	}()
	for a := range w.answers {
		s := u.Series[a.target]
		var ended *EndedError
		var p Point
		switch {
		case errors.As(a.err, &ended):
			s.Ended = ended.What
			continue
		case a.err != nil:
			p = s.Fail(a.at, a.err.Error())
		default:
			p = s.Add(a.Reading)
		}
		if each != nil {
			each(Sample{s, p})
		}
	}
	u.End = o.Now()
	for _, s := range u.Series {
		s.Flush()
	}
	return u
}

type watch struct {
	o       Options
	answers chan answer
	room    chan struct{}
}

// follow reads one target at each tick. Ticks that pass while it is being read are left out.
func (w *watch) follow(ctx context.Context, i int, t Target) {
	ticks := time.NewTicker(w.o.Interval)
	defer ticks.Stop()
	answered := false
	for {
		a, ok := w.read(ctx, i, t, w.o.Timeout)
		if ctx.Err() != nil {
			break // what was cut off by the end says nothing about the process
		}
		if ok {
			w.answers <- a
			if _, ended := errors.AsType[*EndedError](a.err); ended {
				return
			}
			answered = a.err == nil
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	if !answered {
		return
	}
	if a, ok := w.read(context.WithoutCancel(ctx), i, t, min(w.o.Timeout, farewell)); ok && a.err == nil {
		w.answers <- a
	}
}

// farewell is how long the last reading may take: somebody waits for the report.
const farewell = time.Second

func (w *watch) read(ctx context.Context, i int, t Target, patience time.Duration) (a answer, ok bool) {
	select {
	case w.room <- struct{}{}:
		defer func() { <-w.room }()
	case <-ctx.Done():
		return answer{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := t.Read(ctx)
	a = answer{target: i, at: w.o.Now(), Reading: r, err: err}
	if err == nil && r.At.IsZero() {
		a.Reading.At = a.at
	}
	return a, true
}
