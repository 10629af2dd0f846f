package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/tui"
)

// sourceFeed feeds the UI from a source: followed where it is live, read once where not.
type sourceFeed struct {
	open     func(context.Context) (source.Source, error)
	interval time.Duration
	// kept adds what a file, or a recording beside it, keeps of the processes; nil adds nothing.
	kept func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)
	// ask asks the processes of a live cluster; nil leaves them alone. every is the time between
	// two rounds; 0 is askInterval.
	ask   asker
	every time.Duration
	// quiet leaves etcd's health alone: what is shown has none of it.
	quiet bool
	// failed is why nothing was ever shown; read it after the UI has ended.
	failed error
}

// asker asks processes what they serve, again and again.
type asker interface {
	Ask(ctx context.Context, c *model.Cluster) (*model.Runtime, error)
}

// askInterval is the time between two rounds of questions to processes; after a slow round
// it is as much again as the round took.
const askInterval = 5 * time.Second

// retryAfter is how long the feed waits before it opens a source again that did not open.
const retryAfter = 3 * time.Second

// Follow implements tui.Feed.
func (f *sourceFeed) Follow(ctx context.Context, emit func(tui.Update)) {
	want := meta.Want{Parts: model.PartAll, Records: true}
	for {
		emit(tui.Update{Progress: "opening"})
		src, err := f.open(ctx)
		live := false // opening does not connect yet: what fails there fails again
		if err == nil {
			_, live = src.(source.Watcher)
			err = f.follow(ctx, src, want, emit)
			_ = src.Close() // it was only read
		}
		if ctx.Err() != nil || err == nil {
			return
		}
		f.failed = err
		emit(tui.Update{Err: err})
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

func (f *sourceFeed) follow(ctx context.Context, src source.Source, want meta.Want, emit func(tui.Update)) error {
	if w, ok := src.(source.Watcher); ok {
		return f.followLive(ctx, w, want, emit)
	}
	pinned, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	snapshot := newReading(pinned, emit)
	c, err := meta.Load(ctx, snapshot, want)
	_ = snapshot.Close() // it was only read
	if err != nil {
		return err
	}
	if f.kept != nil {
		if c, err = f.kept(ctx, src, c); err != nil {
			return err
		}
	}
	f.failed = nil
	emit(tui.Update{Cluster: c})
	return nil
}

// readingInterval is the time between two reports of how far reading is.
const readingInterval = 250 * time.Millisecond

// reading is a snapshot that reports how far it is read, until it is closed.
type reading struct {
	*progress
	stop func()
}

func newReading(s source.Snapshot, emit func(tui.Update)) *reading {
	p := &progress{Snapshot: s}
	done := make(chan struct{})
	var report sync.WaitGroup
	report.Go(func() {
		tick := time.NewTicker(readingInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				emit(tui.Update{Progress: fmt.Sprintf("reading: %d keys, %d MiB", p.keys.Load(), p.bytes.Load()>>20)})
			case <-done:
				return
			}
		}
	})
	return &reading{p, sync.OnceFunc(func() { close(done); report.Wait() })}
}

// Close ends the reports, then the snapshot.
func (r *reading) Close() error {
	r.stop()
	return r.progress.Close()
}

// readingWatcher is a source of readings.
type readingWatcher struct {
	source.Watcher
	emit func(tui.Update)
}

// Pin implements source.Source.
func (w readingWatcher) Pin(ctx context.Context) (source.Snapshot, error) {
	s, err := w.Watcher.Pin(ctx)
	if err != nil {
		return nil, err
	}
	return newReading(s, w.emit), nil
}
