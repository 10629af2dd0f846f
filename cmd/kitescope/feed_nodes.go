package main

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// askNodes asks the processes until ctx ends.
func (l *liveFeed) askNodes(ctx context.Context, nodes asker) {
	select {
	case <-l.first:
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		l.mu.Lock()
		c := l.last
		l.mu.Unlock()
		start := time.Now()
		r, err := nodes.Ask(ctx, c)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			l.catchUp(ctx)
			l.answeredBy(r, c)
		}
		select {
		case <-time.After(max(l.every, time.Since(start))):
		case <-l.fresh:
		case <-ctx.Done():
		}
	}
}

// How long the watch may be behind etcd, and how long its changes are waited for.
const (
	watchDelay    = 100 * time.Millisecond
	watchPatience = time.Second
)

// catchUp waits until the metadata has all that changed while the processes were asked. A watch that is broken
// has nothing to tell.
func (l *liveFeed) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, watchDelay+watchPatience)
	defer cancel()
	done := make(chan struct{})
	select {
	case <-time.After(watchDelay):
	case <-ctx.Done():
	}
	select {
	case l.hasten <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// answeredBy takes what processes said who were asked by earlier metadata.
func (l *liveFeed) answeredBy(r *model.Runtime, before *model.Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = l.last.WithAnswers(r, before)
	l.show(l.last)
}

// readAgain reads what is small once more after the processes have answered: what is not as it was before has changed while
// they were asked. Where etcd has gone in the meantime, nothing is known of that.
func (a *app) readAgain(ctx context.Context, src source.Source, c *model.Cluster) *model.Cluster {
	ctx, cancel := context.WithTimeout(ctx, a.nodes.timeout)
	defer cancel()
	snap, err := src.Pin(ctx)
	if err != nil {
		return c
	}
	defer snap.Close()
	later, err := meta.Load(ctx, snap, meta.Want{Parts: model.PartCatalog})
	if err != nil {
		return c
	}
	return c.ReadAgain(later)
}
