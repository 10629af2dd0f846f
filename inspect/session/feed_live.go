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

// Whether etcd is there is asked every beatInterval; what it answers to a beat must come within beatPatience, so that one
// that stands still is lost after three seconds.
const (
	beatInterval = time.Second
	beatPatience = 2 * time.Second
	// healthInterval is the time between two questions to etcd about its health.
	healthInterval = 5 * time.Second
)

// ActivityWindow is how long etcd and the processes' counters are watched where nothing else is said, for rates.
const ActivityWindow = 1500 * time.Millisecond

// FollowLive is Follow on a source that is open and live, with the parts of it that are wanted. It joins what changes in etcd
// with how etcd itself is and with what the processes say, and tells with every update how fresh each of them is.
func (f *Feed) FollowLive(ctx context.Context, src source.Watcher, want meta.Want, emit func(history.Update)) error {
	ctx, stop := context.WithCancel(ctx)
	l := &liveFeed{
		emit: emit, first: make(chan struct{}), fresh: make(chan struct{}, 1), hasten: make(chan chan struct{}), every: cmp.Or(f.Every, askInterval),
		answered: map[string]time.Time{},
	}
	var polling sync.WaitGroup
	defer polling.Wait()
	defer stop()
	if etcd, ok := src.(source.Live); ok {
		polling.Go(func() { l.beat(ctx, etcd) })
	}
	if !f.Quiet {
		polling.Go(func() { l.poll(ctx, func() *model.Etcd { return liveEtcd(ctx, src) }) })
	}
	if f.Kept != nil {
		l.lay = func(c *model.Cluster) (*model.Cluster, error) { return f.Kept(ctx, src, c) }
	} else if f.Ask != nil {
		polling.Go(func() {
			if etcd, ok := src.(source.Live); ok {
				l.lookBack(ctx, etcd)
			}
			l.askNodes(ctx, f.Ask)
		})
	}
	follower := &meta.Follower{Source: readingWatcher{src, emit}, Want: want, Interval: f.Interval, Hasten: l.hasten, Emit: func(c *model.Cluster, err error) {
		if c != nil {
			f.failed = nil
		}
		l.followed(c, err)
	}}
	return follower.Run(ctx)
}

// liveFeed joins what the watch, the processes and the polls of etcd's health report.
type liveFeed struct {
	mu     sync.Mutex // emit is called by one at a time
	emit   func(history.Update)
	first  chan struct{} // closed when there is a cluster
	last   *model.Cluster
	health *model.Etcd
	// looped is when something was last written of which each window counts.
	looped time.Time
	// asked is the cluster of when the processes had answered last; fresh is told when the metadata that says whom
	// to ask has changed. lay lays a recording over each cluster instead, nil if there is none.
	asked *model.Cluster
	fresh chan struct{}
	// changes are those of the dynamic configuration of late.
	changes []model.ConfigChange
	// starts are those of processes in model.StartsPast.
	starts []model.Start
	// hasten asks for the metadata of now.
	hasten chan chan struct{}
	every  time.Duration // between two rounds of questions
	lay    func(*model.Cluster) (*model.Cluster, error)
	// broken is why the watch brings nothing, silent why etcd does not answer, which a watch on a member that died does
	// not say. heard is when etcd was last heard of.
	broken, silent error
	heard          time.Time
	// answered is when each process did so last, lost which of them do not any more.
	answered map[string]time.Time
	lost     []history.Lost
}

// tell emits a cluster, nil if there is no new one, with how fresh its sources are.
func (l *liveFeed) tell(c *model.Cluster) {
	u := history.Update{Cluster: c, Live: true, Err: l.broken, Lost: l.lost}
	if u.Err == nil {
		u.Err = l.silent
	}
	if u.Err != nil {
		u.Since = l.heard
	}
	l.emit(u)
}

// followed takes a new cluster, or why there is none.
func (l *liveFeed) followed(c *model.Cluster, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	if c == nil {
		l.tell(nil)
		return
	}
	l.hear()
	if l.last == nil {
		defer close(l.first)
	}
	l.changed(l.last, c)
	l.show(c)
}

func (l *liveFeed) show(c *model.Cluster) {
	changed := l.last != nil && !slices.Equal(l.last.Sessions, c.Sessions)
	l.last = c.WithEtcd(l.health).WithConfigChanges(l.changes).WithStarts(l.starts)
	switch {
	case l.lay != nil:
		if laid, err := l.lay(l.last); err == nil {
			l.last = laid
		}
	case l.asked != nil: // they answered for the metadata of then
		l.last = l.last.WithAnswersOf(l.asked)
	}
	l.tell(l.last)
	if changed { // a node came or went: ask again at once
		select {
		case l.fresh <- struct{}{}:
		default:
		}
	}
}

// beat asks etcd whether it is there until ctx ends.
func (l *liveFeed) beat(ctx context.Context, etcd source.Live) {
	select {
	case <-l.first: // data first
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, beatPatience)
		err := etcd.Alive(asked)
		cancel()
		if ctx.Err() != nil {
			return
		}
		l.heardOf(err)
		if err != nil { // one that is only slow reports its status all the same
			asked, cancel = context.WithTimeout(ctx, beatPatience)
			if h := EtcdHealth(asked, etcd); h.Silent() && ctx.Err() == nil {
				l.examined(h)
			}
			cancel()
		}
		select {
		case <-time.After(beatInterval):
		case <-ctx.Done():
		}
	}
}

// heardOf takes whether etcd answers. As long as it does not, that is told with every beat.
func (l *liveFeed) heardOf(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.silent == nil:
		l.heard = time.Now()
	case err == nil:
		l.hear()
		l.show(l.last)
	default:
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("etcd does not answer")
		}
		if l.silent == nil {
			l.silent = err
		}
		l.tell(nil)
	}
}

// hear records that etcd responds.
func (l *liveFeed) hear() {
	if l.silent, l.heard = nil, time.Now(); l.health.Silent() {
		l.health = nil // the next poll has it
	}
}

// poll asks etcd how it is until ctx ends.
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
		l.examined(h)
		select {
		case <-time.After(max(healthInterval, l.every)): // who asks processes seldom asks etcd as seldom
		case <-ctx.Done():
		}
	}
}

// examined takes news of etcd's health.
func (l *liveFeed) examined(now *model.Etcd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.Silent():
		if l.silent != nil { // the beat finds whether etcd is there; the reason is known here
			l.silent, l.health = Silence(now), now
			l.show(l.last)
		}
	case !sameHealth(l.health, now) || l.counts(now):
		l.health = now
		l.show(l.last)
	default: // time has passed, which may be news
		l.tell(nil)
	}
}

// counts reports whether each window that etcd was watched for matters.
func (l *liveFeed) counts(e *model.Etcd) bool {
	if e == nil {
		return false
	}
	if loops(e.Activity) {
		l.looped = time.Now()
	}
	return time.Since(l.looped) < loopPatience
}

// liveEtcd is EtcdState for a feed, and nil for sources that are no etcd.
func liveEtcd(ctx context.Context, src source.Source) *model.Etcd {
	etcd, ok := src.(source.Live)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ActivityWindow+maxDial)
	defer cancel()
	return EtcdState(ctx, etcd, ActivityWindow)
}
