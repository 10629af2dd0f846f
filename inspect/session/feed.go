package session

import (
	"context"
	"errors"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Feed tells of a cluster as it changes: it follows a source that is live, and reads one that is not once. It may be used once.
type Feed struct {
	Open func(context.Context) (source.Source, error)
	// Interval is the shortest time between two clusters of which the metadata is new.
	Interval time.Duration
	// Kept adds what a file, or a recording beside it, keeps of the processes; nil adds nothing.
	Kept func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)
	// Ask asks the processes of a live cluster; nil leaves them alone.
	Ask Asker
	// Every is the time between two rounds of questions to them; 0 is 5 s. After a slow round it is as much again as the
	// round took.
	Every time.Duration
	// Quiet leaves etcd's health alone: what is shown has none of it.
	Quiet bool
	// Steps hands on what the source keeps of the past, for as long as Follow goes on: a file stays open until then.
	Steps bool
	// At is the moment that is told of first, where Steps is set; zero: the newest.
	At At

	failed error
}

// Err is why nothing was ever told of, nil if something was. It is known once Follow has returned.
func (f *Feed) Err() error { return f.failed }

// Asker asks processes what they serve, again and again: a live.Client.
type Asker interface {
	Ask(ctx context.Context, c *model.Cluster) (*model.Runtime, error)
}

// askInterval is Feed.Every where nothing else is said.
const askInterval = 5 * time.Second

// retryAfter is how long the feed waits before it opens a source again that did not open.
const retryAfter = 3 * time.Second

// Follow calls emit for each new state until ctx ends or there will be no more, and not after it has returned. A live source
// that does not open is tried again. emit may be called by any goroutine, and may block for a moment.
func (f *Feed) Follow(ctx context.Context, emit func(history.Update)) {
	want := meta.Want{Parts: model.PartAll, Records: true}
	for {
		emit(history.Update{Progress: "opening"})
		src, err := f.Open(ctx)
		live := false // opening does not connect yet: what fails there fails again
		if err == nil {
			_, live = src.(source.Watcher)
			err = f.follow(ctx, src, want, emit)
			_ = src.Close() // it was only read
		}
		if ctx.Err() != nil || err == nil {
			return
		}
		if own, ok := errors.AsType[*momentError](err); ok { // it was never there, or is gone
			err, live = own.error, false
		}
		f.failed = err
		emit(history.Update{Err: err, Live: live})
		if !live { // neither does a file get better, and a pipe is empty the second time
			return
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return
		}
	}
}

// follow tells of a source that is open. Where its past is handed on, it stays open until ctx ends.
func (f *Feed) follow(ctx context.Context, src source.Source, want meta.Want, emit func(history.Update)) error {
	past, err := f.pastOf(src, want)
	if err != nil {
		return err
	}
	if past == nil {
		return f.followNewest(ctx, src, want, emit)
	}
	last, unsaid := emit, past
	emit = func(u history.Update) {
		if u.Cluster != nil && unsaid != nil {
			u.Past, unsaid = unsaid, nil
		}
		last(u)
	}
	_, isLive := src.(source.Watcher)
	if !f.At.IsZero() {
		c, err := f.first(ctx, past)
		if err != nil {
			return &momentError{err}
		}
		f.failed = nil
		emit(history.Update{Cluster: c, Then: true, Live: isLive})
	}
	if isLive || f.At.IsZero() {
		if err := f.followNewest(ctx, src, want, emit); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *Feed) followNewest(ctx context.Context, src source.Source, want meta.Want, emit func(history.Update)) error {
	if w, ok := src.(source.Watcher); ok {
		return f.FollowLive(ctx, w, want, emit)
	}
	pinned, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	snapshot := told(pinned, emit)
	c, err := meta.Load(ctx, snapshot, want)
	_ = snapshot.Close() // it was only read
	if err != nil {
		return err
	}
	if f.Kept != nil {
		if c, err = f.Kept(ctx, src, c); err != nil {
			return err
		}
	}
	f.failed = nil
	emit(history.Update{Cluster: c})
	return nil
}
