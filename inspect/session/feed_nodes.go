package session

import (
	"context"
	"slices"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// askNodes queries the processes in rounds until ctx ends.
func (l *liveFeed) askNodes(ctx context.Context, nodes Asker) {
	select {
	case <-l.first:
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		l.mu.Lock()
		c := l.last
		l.mu.Unlock()
		start := time.Now()
		late := time.AfterFunc(roundTimeout, l.onNoAnswers)
		r, err := nodes.Ask(ctx, c)
		late.Stop()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.onNoAnswers()
		default:
			l.catchUp(ctx)
			l.onAnswers(r, c)
		}
		select {
		case <-time.After(max(l.every, time.Since(start))):
		case <-l.sessionsChanged:
		case <-ctx.Done():
		}
	}
}

// watchDelay is the assumed maximum delay of the watch behind etcd. watchTimeout is the maximum wait for its
// changes.
const (
	watchDelay   = 100 * time.Millisecond
	watchTimeout = time.Second
)

// catchUp waits until the metadata has all changes made while the processes were queried. It waits for at most
// watchDelay plus watchTimeout, because a broken watch delivers nothing.
func (l *liveFeed) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, watchDelay+watchTimeout)
	defer cancel()
	done := make(chan struct{})
	select {
	case <-time.After(watchDelay):
	case <-ctx.Done():
	}
	select {
	case l.flush <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// onAnswers handles the answers of processes that were queried with the metadata of before.
func (l *liveFeed) onAnswers(r *model.Runtime, before *model.Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withAnswers = l.last.WithAnswers(r, before)
	l.findLost(r)
	l.emitCluster(l.last)
}

// roundTimeout is the time after which the processes of an unfinished round count as not responding.
const roundTimeout = 20 * time.Second

// onNoAnswers reports all processes as lost after a round without answers.
func (l *liveFeed) onNoAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.withAnswers != nil {
		l.findLost(nil)
		l.emitUpdate(nil)
	}
}

// findLost updates the list of processes that answered before and do not answer now. r is nil if no process
// answered. A process that never answered is not listed, because it has no data that could become stale. It is a
// finding instead.
func (l *liveFeed) findLost(r *model.Runtime) {
	now, known := time.Now(), map[string]time.Time{}
	l.lost = nil
	for _, n := range l.withAnswers.Runtime.Nodes {
		name := n.Name()
		at, ever := l.lastAnswer[name]
		switch {
		case r != nil && n.Outcome == model.Answered:
			at, ever = now, true
		case ever:
			l.lost = append(l.lost, history.Lost{Name: name, Since: at})
		}
		if ever {
			known[name] = at
		}
	}
	l.lastAnswer = known
	slices.SortStableFunc(l.lost, func(a, b history.Lost) int { return a.Since.Compare(b.Since) })
}

// readPast reads the past revisions once, for changes of the dynamic configuration and starts of processes just
// before the first cluster.
func (l *liveFeed) readPast(ctx context.Context, src source.Live) {
	select {
	case <-l.first:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	l.mu.Lock()
	c := l.last
	l.mu.Unlock()
	header := source.Header{
		Root: c.Origin.Root, MetaPath: c.Origin.MetaPath, Revision: c.Origin.Revision, Taken: c.Origin.Taken,
	}
	changes := ConfigSince(ctx, src, header, model.ConfigChangeWindow, c.Config)
	var starts []model.Start
	if past, err := source.PastOf(src); err == nil {
		starts, _ = startsOf(ctx, past, header, header.Revision) // unreadable starts stay unknown
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = slices.Concat(l.changes, changes)
	l.starts = append(starts, l.starts...)
	if len(changes)+len(starts) > 0 {
		l.emitCluster(l.last)
	}
}

// recordChanges records the changed dynamic keys and the started processes between two clusters, and drops old ones.
func (l *liveFeed) recordChanges(before, after *model.Cluster) {
	now := time.Now()
	var kept []model.ConfigChange
	for _, x := range l.changes {
		if now.Sub(x.At) < changeRetention {
			kept = append(kept, x)
		}
	}
	l.starts = slices.DeleteFunc(slices.Clone(l.starts), func(x model.Start) bool {
		return !x.At.IsZero() && now.Sub(x.At) > model.StartsWindow
	})
	if before != nil {
		for _, s := range after.Sessions {
			if !slices.ContainsFunc(before.Sessions, func(x *model.Session) bool {
				return x.Role == s.Role && x.Node == s.Node
			}) {
				l.starts = model.AddStart(l.starts, s, now)
			}
		}
		kept = append(kept, model.ConfigChanges(before.Config, after.Config, now)...)
	}
	l.changes = kept
}

// changeRetention is the time for which a change of a dynamic key is kept. It is long enough to query processes some
// time after the change.
const changeRetention = 2 * time.Minute
