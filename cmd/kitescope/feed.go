package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Questions to etcd about its health: the time between two, the same while there is no
// answer, and how long an answer may take before that is said.
const (
	healthInterval  = 5 * time.Second
	silenceInterval = 2 * time.Second
	healthPatience  = 4 * time.Second
)

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

// followLive joins what changes in etcd with how etcd itself is.
func (f *sourceFeed) followLive(ctx context.Context, src source.Watcher, want meta.Want, emit func(tui.Update)) error {
	ctx, stop := context.WithCancel(ctx)
	l := &liveFeed{emit: emit, first: make(chan struct{}), fresh: make(chan struct{}, 1), hasten: make(chan chan struct{}), every: cmp.Or(f.every, askInterval)}
	var polling sync.WaitGroup
	defer polling.Wait()
	defer stop()
	polling.Go(func() { l.poll(ctx, func() *model.Etcd { return liveEtcd(ctx, src) }) })
	if f.kept != nil {
		l.lay = func(c *model.Cluster) (*model.Cluster, error) { return f.kept(ctx, src, c) }
	} else if f.ask != nil {
		polling.Go(func() { l.askNodes(ctx, f.ask) })
	}
	follower := &meta.Follower{Source: readingWatcher{src, emit}, Want: want, Interval: f.interval, Hasten: l.hasten, Emit: func(c *model.Cluster, err error) {
		if c != nil {
			f.failed = nil
		}
		l.followed(c, err)
	}}
	return follower.Run(ctx)
}

// liveFeed joins what the watch and the polls of etcd's health report.
type liveFeed struct {
	mu     sync.Mutex // emit is called by one at a time
	emit   func(tui.Update)
	first  chan struct{} // closed when there is a cluster
	last   *model.Cluster
	health *model.Etcd
	// asked is the cluster of when the processes had answered last; fresh is told when the metadata that says whom
	// to ask has changed. lay lays a recording over each cluster instead, nil if there is none.
	asked *model.Cluster
	fresh chan struct{}
	// hasten asks for the metadata of now.
	hasten chan chan struct{}
	every  time.Duration // between two rounds of questions
	lay    func(*model.Cluster) (*model.Cluster, error)
	// broken is why the watch brings nothing. silent is why etcd does not answer the
	// polls: a watch on a member that died goes on waiting without a word.
	broken, silent error
}

// followed takes a new cluster, or why there is none.
func (l *liveFeed) followed(c *model.Cluster, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	if c != nil {
		if l.last == nil {
			close(l.first)
		}
		l.silent = nil
		l.show(c)
	}
	if err != nil {
		l.emit(tui.Update{Err: err, Live: true})
	}
}

func (l *liveFeed) show(c *model.Cluster) {
	changed := l.last != nil && !slices.Equal(l.last.Sessions, c.Sessions)
	l.last = c.WithEtcd(l.health)
	switch {
	case l.lay != nil:
		if laid, err := l.lay(l.last); err == nil {
			l.last = laid
		}
	case l.asked != nil: // they answered for the metadata of then
		l.last = l.last.WithAnswersOf(l.asked)
	}
	l.emit(tui.Update{Cluster: l.last, Live: true})
	if changed { // a node came or went: ask again at once
		select {
		case l.fresh <- struct{}{}:
		default:
		}
	}
}

// poll asks etcd how it is until ctx ends, and is the one to notice that it is gone.
func (l *liveFeed) poll(ctx context.Context, ask func() *model.Etcd) {
	select {
	case <-l.first: // data first
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		wait := healthInterval
		if l.question(ctx, ask) != nil {
			wait = silenceInterval
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// question asks once, and says so when the answer takes long. It returns why there is no answer.
func (l *liveFeed) question(ctx context.Context, ask func() *model.Etcd) error {
	answer := make(chan *model.Etcd, 1)
	go func() { answer <- ask() }()
	slow := time.NewTimer(healthPatience)
	defer slow.Stop()
	var h *model.Etcd
	late := false
	select {
	case h = <-answer:
	case <-slow.C:
		late = true
		// Why there is none is known in the end.
		_ = l.noAnswer(fmt.Errorf("etcd has not answered for %s", healthPatience))
		h = <-answer // ask ends with ctx
	}
	if ctx.Err() != nil {
		return nil
	}
	switch {
	case isSilent(h):
		return l.noAnswer(silence(h))
	case late && h != nil && h.Problem != "": // without a quorum members answer, but nothing can be read
		return l.noAnswer(errors.New("etcd: " + h.Problem))
	}
	l.answered(h)
	return nil
}

// noAnswer says once that etcd is silent, and returns why.
func (l *liveFeed) noAnswer(why error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent == nil {
		l.emit(tui.Update{Err: why, Live: true})
	}
	l.silent = why
	return why
}

// answered takes news of etcd's health, or takes back that it was silent.
func (l *liveFeed) answered(now *model.Etcd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	silent, same := l.silent != nil, sameHealth(l.health, now)
	l.silent = nil
	switch {
	case !same:
		l.health = now
		l.show(l.last)
		if l.broken != nil {
			l.emit(tui.Update{Err: l.broken, Live: true})
		}
	case silent:
		l.emit(tui.Update{Err: l.broken, Live: true})
	}
}

// isSilent reports whether no member could be reached. A refusal is an answer.
func isSilent(e *model.Etcd) bool {
	return e != nil && !slices.ContainsFunc(e.Members, func(m model.EtcdMember) bool {
		return m.Problem == "" || strings.Contains(m.Problem, "etcdserver:") || strings.Contains(m.Problem, "denied")
	})
}

// silence says that etcd does not answer, and why as far as that is known.
func silence(e *model.Etcd) error {
	for _, m := range e.Members {
		if _, why, ok := strings.Cut(m.Problem, ": "); ok {
			return fmt.Errorf("etcd does not answer: %s", oneLine(why))
		}
	}
	return errors.New("etcd does not answer")
}

// sameHealth ignores when etcd was asked and changes of size under a tenth, so that
// an idle cluster stays a still picture.
func sameHealth(a, b *model.Etcd) bool {
	if a == nil || b == nil {
		return a == b
	}
	if busy(a.Activity) || busy(b.Activity) || (a.Activity == nil) != (b.Activity == nil) {
		return false
	}
	return a.Problem == b.Problem && slices.EqualFunc(a.Members, b.Members, func(x, y model.EtcdMember) bool {
		return x.Name == y.Name && x.Endpoint == y.Endpoint && x.Version == y.Version && x.Leader == y.Leader && x.Learner == y.Learner &&
			x.Problem == y.Problem && slices.Equal(x.Errors, y.Errors) && near(x.DBSize, y.DBSize) && near(x.DBInUse, y.DBInUse)
	})
}

// busy reports whether etcd is written to more often than an idle or normally working cluster
// does: what is written is worth a look then.
func busy(a *model.EtcdActivity) bool {
	const perSecond = 20
	return a != nil && a.Over > 0 && float64(a.Revisions)/a.Over.Seconds() > perSecond
}

func near(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/10 }
