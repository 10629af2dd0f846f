package main

import (
	"context"
	"slices"
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
	// failed is why nothing was ever shown; read it after the UI has ended.
	failed error
}

// retryAfter is how long the feed waits before it opens a source again that did not open.
const retryAfter = 3 * time.Second

// healthInterval is the time between two questions to etcd about its health.
const healthInterval = 15 * time.Second

// Follow implements tui.Feed.
func (f *sourceFeed) Follow(ctx context.Context, emit func(tui.Update)) {
	want := meta.Want{Parts: model.PartAll, Records: true}
	for {
		emit(tui.Update{Progress: "opening"})
		src, err := f.open(ctx)
		if err == nil {
			err = f.follow(ctx, src, want, emit)
			_ = src.Close() // it was only read
		}
		if ctx.Err() != nil || err == nil {
			return
		}
		f.failed = err
		emit(tui.Update{Err: err})
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
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	c, err := meta.Load(ctx, snapshot, want)
	if err != nil {
		return err
	}
	f.failed = nil
	emit(tui.Update{Cluster: c})
	return nil
}

// followLive joins what changes in etcd with how etcd itself is.
func (f *sourceFeed) followLive(ctx context.Context, src source.Watcher, want meta.Want, emit func(tui.Update)) error {
	var (
		mu     sync.Mutex // emit is called by one at a time
		last   *model.Cluster
		health *model.Etcd
	)
	ctx, stop := context.WithCancel(ctx)
	var polling sync.WaitGroup
	defer polling.Wait()
	defer stop()
	first := make(chan struct{})
	polling.Go(func() {
		select {
		case <-first: // data first
		case <-ctx.Done():
		}
		for ctx.Err() == nil {
			now := etcdHealth(ctx, src)
			mu.Lock()
			if ctx.Err() == nil && !sameHealth(health, now) {
				health = now
				last = last.WithEtcd(now)
				emit(tui.Update{Cluster: last, Live: true})
			}
			mu.Unlock()
			select {
			case <-time.After(healthInterval):
			case <-ctx.Done():
			}
		}
	})
	return meta.Follow(ctx, src, want, f.interval, func(c *model.Cluster, err error) {
		mu.Lock()
		defer mu.Unlock()
		if c != nil {
			if last == nil {
				close(first)
			}
			f.failed = nil
			last = c.WithEtcd(health)
			emit(tui.Update{Cluster: last, Live: true})
		}
		if err != nil {
			emit(tui.Update{Err: err, Live: true})
		}
	})
}

// sameHealth ignores when etcd was asked and changes of size under a tenth, so that
// an idle cluster stays a still picture.
func sameHealth(a, b *model.Etcd) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Problem == b.Problem && slices.EqualFunc(a.Members, b.Members, func(x, y model.EtcdMember) bool {
		return x.Name == y.Name && x.Endpoint == y.Endpoint && x.Version == y.Version && x.Leader == y.Leader && x.Learner == y.Learner &&
			x.Problem == y.Problem && slices.Equal(x.Errors, y.Errors) && near(x.DBSize, y.DBSize) && near(x.DBInUse, y.DBInUse)
	})
}

func near(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/10 }
