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

// Feed emits updates of a cluster. It follows a live source and reads other sources once. A Feed must not be
// reused.
type Feed struct {
	Open func(context.Context) (source.Source, error)
	// Interval is the minimum time between two clusters with new metadata.
	Interval time.Duration
	// AddStored adds the process state stored in a file or in separate recordings. If it is nil, nothing is added.
	AddStored func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)
	// Ask queries the processes of a live cluster. If it is nil, they are not queried.
	Ask Asker
	// Every is the time between two rounds of queries; 0 means 5 s. After a slower round, the pause is as long as
	// the round took.
	Every time.Duration
	// SkipHealth disables queries of etcd's health, for callers that do not show it.
	SkipHealth bool
	// WithHistory adds the history of the source to an update. The source, even a file, stays open until Follow
	// returns.
	WithHistory bool
	// At is the moment of the first update if WithHistory is set. Zero means the newest.
	At At

	failed error
}

// Err returns the last error if no cluster was emitted after it, and nil otherwise. Call it after Follow has
// returned.
func (f *Feed) Err() error { return f.failed }

// Asker queries processes repeatedly for their state. It is implemented by live.Client.
type Asker interface {
	Ask(ctx context.Context, c *model.Cluster) (*model.Runtime, error)
}

// askInterval is the default of Feed.Every.
const askInterval = 5 * time.Second

// retryAfter is the time before the feed opens a failed source again.
const retryAfter = 3 * time.Second

// Follow calls emit for each new state until ctx ends or no more updates are possible, and never after it has
// returned. It retries a live source that fails. emit may be called from any goroutine and may block briefly.
func (f *Feed) Follow(ctx context.Context, emit func(history.Update)) {
	want := meta.Want{Parts: model.PartAll, Records: true}
	for {
		emit(history.Update{Progress: "opening"})
		src, err := f.Open(ctx)
		live := false // opening does not connect yet, so errors of Open are permanent
		if err == nil {
			_, live = src.(source.Watcher)
			err = f.follow(ctx, src, want, emit)
			_ = src.Close() // it was only read
		}
		if ctx.Err() != nil || err == nil {
			return
		}
		if own, ok := errors.AsType[*momentError](err); ok { // the moment never existed or is compacted
			err, live = own.error, false
		}
		f.failed = err
		emit(history.Update{Err: err, Live: live})
		if !live { // retrying a file does not help, and a pipe is empty the second time
			return
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return
		}
	}
}

// follow emits the updates of an open source. If its past is included, it returns only after ctx has ended or on an
// error.
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
		emit(history.Update{Cluster: c, Historical: true, Live: isLive})
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
	snapshot := reportReading(pinned, emit)
	c, err := meta.Load(ctx, snapshot, want)
	_ = snapshot.Close() // it was only read
	if err != nil {
		return err
	}
	if f.AddStored != nil {
		if c, err = f.AddStored(ctx, src, c); err != nil {
			return err
		}
	}
	f.failed = nil
	emit(history.Update{Cluster: c})
	return nil
}
