package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Timing of etcd probes. etcd is probed every probeInterval and must respond within probeTimeout, so an etcd that
// hangs is reported after at most three seconds.
const (
	probeInterval = time.Second
	probeTimeout  = 2 * time.Second
	// healthInterval is the time between two queries of etcd's health.
	healthInterval = 5 * time.Second
)

// ActivityWindow is the default time over which etcd and the processes' counters are watched for rates.
const ActivityWindow = 1500 * time.Millisecond

// FollowLive is like Follow for an open, live source and the wanted parts of its metadata. It joins the
// changes in etcd with the health of etcd and the state of the processes. Each update lists the sources that
// no longer respond.
func (f *Feed) FollowLive(ctx context.Context, src source.Watcher, want meta.Want, emit func(history.Update)) error {
	ctx, stop := context.WithCancel(ctx)
	l := &liveFeed{
		emit: emit, first: make(chan struct{}), sessionsChanged: make(chan struct{}, 1),
		flush: make(chan chan struct{}), every: cmp.Or(f.Every, askInterval),
		lastAnswer: map[string]time.Time{},
	}
	var polling sync.WaitGroup
	defer polling.Wait()
	defer stop()
	if etcd, ok := src.(source.Live); ok {
		polling.Go(func() { l.probeLoop(ctx, etcd) })
	}
	if !f.SkipHealth {
		polling.Go(func() { l.poll(ctx, func() *model.Etcd { return liveEtcd(ctx, src) }) })
	}
	if f.AddStored != nil {
		l.addRecorded = func(c *model.Cluster) (*model.Cluster, error) { return f.AddStored(ctx, src, c) }
	} else if f.Ask != nil {
		polling.Go(func() {
			if etcd, ok := src.(source.Live); ok {
				l.readPast(ctx, etcd)
			}
			l.askNodes(ctx, f.Ask)
		})
	}
	follower := &meta.Follower{
		Source: readingWatcher{src, emit}, Want: want, Interval: f.Interval, Flush: l.flush,
		Emit: func(c *model.Cluster, err error) {
			if c != nil {
				f.failed = nil
			}
			l.onCluster(c, err)
		},
	}
	return follower.Run(ctx)
}

// liveFeed joins the results of the watch, the process queries and the polls of etcd's health.
type liveFeed struct {
	mu     sync.Mutex // held during emit, so that calls of emit do not overlap
	emit   func(history.Update)
	first  chan struct{} // closed after the first cluster
	last   *model.Cluster
	health *model.Etcd
	// lastLoop is the time of the last window for which loops returned true.
	lastLoop time.Time
	// withAnswers is the cluster with the last answers of processes. sessionsChanged receives a value if the sessions
	// have changed, which starts the next round at once. addRecorded adds a recording to each cluster instead; it is
	// nil without recordings.
	withAnswers     *model.Cluster
	sessionsChanged chan struct{}
	// changes holds the recent changes of the dynamic configuration.
	changes []model.ConfigChange
	// starts holds the starts of processes within model.StartsWindow.
	starts []model.Start
	// flush requests the current metadata from the follower.
	flush       chan chan struct{}
	every       time.Duration // between two rounds of queries
	addRecorded func(*model.Cluster) (*model.Cluster, error)
	// broken is the error of the watch. unresponsive is the error if etcd does not respond, because a watch on a dead
	// member reports no error. lastResponse is the time of the last response of etcd.
	broken, unresponsive error
	lastResponse         time.Time
	// lastAnswer is the time of the last answer of each process by name. lost lists the processes that no longer
	// respond.
	lastAnswer map[string]time.Time
	lost       []history.Lost
}

// emitUpdate emits a cluster with the errors of its sources. c is nil if only the errors changed.
func (l *liveFeed) emitUpdate(c *model.Cluster) {
	u := history.Update{Cluster: c, Live: true, Err: l.broken, Lost: l.lost}
	if u.Err == nil {
		u.Err = l.unresponsive
	}
	if u.Err != nil {
		u.Since = l.lastResponse
	}
	l.emit(u)
}

// onCluster handles a new cluster from the follower, or its error.
func (l *liveFeed) onCluster(c *model.Cluster, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	if c == nil {
		l.emitUpdate(nil)
		return
	}
	l.markAlive()
	if l.last == nil {
		defer close(l.first)
	}
	l.recordChanges(l.last, c)
	l.emitCluster(c)
}

func (l *liveFeed) emitCluster(c *model.Cluster) {
	changed := l.last != nil && !slices.Equal(l.last.Sessions, c.Sessions)
	l.last = c.WithEtcd(l.health).WithConfigChanges(l.changes).WithStarts(l.starts)
	switch {
	case l.addRecorded != nil:
		if laid, err := l.addRecorded(l.last); err == nil {
			l.last = laid
		}
	case l.withAnswers != nil: // the answers belong to earlier metadata
		l.last = l.last.WithAnswersOf(l.withAnswers)
	}
	l.emitUpdate(l.last)
	if changed { // a node joined or left: query again at once
		select {
		case l.sessionsChanged <- struct{}{}:
		default:
		}
	}
}

// probeLoop probes etcd until ctx ends.
func (l *liveFeed) probeLoop(ctx context.Context, etcd source.Live) {
	select {
	case <-l.first: // data first
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, probeTimeout)
		err := etcd.Alive(asked)
		cancel()
		if ctx.Err() != nil {
			return
		}
		l.onProbe(err)
		if err != nil { // an etcd that is only slow still reports its status
			asked, cancel = context.WithTimeout(ctx, probeTimeout)
			if h := EtcdHealth(asked, etcd); h.Unresponsive() && ctx.Err() == nil {
				l.onHealth(h)
			}
			cancel()
		}
		select {
		case <-time.After(probeInterval):
		case <-ctx.Done():
		}
	}
}

// onProbe handles the result of a probe. It emits an update for each failed probe.
func (l *liveFeed) onProbe(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.unresponsive == nil:
		l.lastResponse = time.Now()
	case err == nil:
		l.markAlive()
		l.emitCluster(l.last)
	default:
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("etcd is not responding")
		}
		if l.unresponsive == nil {
			l.unresponsive = err
		}
		l.emitUpdate(nil)
	}
}

// markAlive records that etcd responds.
func (l *liveFeed) markAlive() {
	if l.unresponsive, l.lastResponse = nil, time.Now(); l.health.Unresponsive() {
		l.health = nil // the next poll has it
	}
}

// poll queries the health of etcd until ctx ends.
func (l *liveFeed) poll(ctx context.Context, ask func() *model.Etcd) {
	select {
	case <-l.first: // data first
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		h := ask() // ends with ctx
		if ctx.Err() != nil {
			return
		}
		l.onHealth(h)
		select {
		case <-time.After(max(healthInterval, l.every)): // query etcd no more often than the processes
		case <-ctx.Done():
		}
	}
}

// onHealth handles the result of a health query.
func (l *liveFeed) onHealth(now *model.Etcd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.Unresponsive():
		if l.unresponsive != nil { // beat detects an outage; its reason is known here
			l.unresponsive, l.health = UnresponsiveError(now), now
			l.emitCluster(l.last)
		}
	case !sameHealth(l.health, now) || l.inLoop(now):
		l.health = now
		l.emitCluster(l.last)
	default: // the passed time may matter
		l.emitUpdate(nil)
	}
}

// inLoop reports whether every watched window matters, because keys were written in a possible loop within
// loopWindow.
func (l *liveFeed) inLoop(e *model.Etcd) bool {
	if e == nil {
		return false
	}
	if loops(e.Activity) {
		l.lastLoop = time.Now()
	}
	return time.Since(l.lastLoop) < loopWindow
}

// liveEtcd returns EtcdState for a feed, or nil if src is not a live source.
func liveEtcd(ctx context.Context, src source.Source) *model.Etcd {
	etcd, ok := src.(source.Live)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ActivityWindow+maxDial)
	defer cancel()
	return EtcdState(ctx, etcd, ActivityWindow)
}
