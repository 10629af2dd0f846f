package session_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// instantAsker is a session.Asker whose processes answer at once, regardless of etcd. Those in timingOut time out.
type instantAsker struct {
	mu        sync.Mutex
	timingOut map[string]bool
}

// Ask implements session.Asker.
func (a *instantAsker) Ask(_ context.Context, c *model.Cluster) (*model.Runtime, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := model.RuntimeParts{Kind: "live", To: time.Now()}
	for _, s := range c.Sessions {
		n := &model.LiveNode{Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered}
		if a.timingOut[n.Name()] {
			n.Outcome = model.TimedOut
		}
		parts.Nodes = append(parts.Nodes, n)
	}
	return model.BuildRuntime(parts), nil
}

// listener collects the updates of a feed, except progress.
type listener struct {
	mu   sync.Mutex
	last history.Update
	all  []history.Update
}

func (l *listener) collect(u history.Update) {
	if u.Progress != "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = u
	l.all = append(l.all, u)
}

// wait waits until the last update satisfies want. It fails the test after timeout.
func (l *listener) wait(t *testing.T, what string, timeout time.Duration, want func(u history.Update) bool) {
	t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		ok := want(l.last)
		l.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatalf("%s: not within %s", what, timeout)
}

// since returns the updates after the first n.
func (l *listener) since(n int) []history.Update {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all[n:])
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// startFeed starts a feed on a source and waits for a cluster with processes.
func startFeed(t *testing.T, open func(context.Context) (source.Source, error), ask session.Asker) *listener {
	t.Helper()
	l := &listener{}
	ctx, stop := context.WithCancel(t.Context())
	feed := &session.Feed{Interval: 50 * time.Millisecond, Ask: ask, Every: 200 * time.Millisecond, Open: open}
	done := make(chan struct{})
	go func() {
		feed.Follow(ctx, l.collect)
		close(done)
	}()
	t.Cleanup(func() { stop(); <-done })
	l.wait(t, "a cluster with its processes", 30*time.Second, func(u history.Update) bool {
		return u.Cluster != nil && u.Cluster.Runtime != nil && u.Err == nil
	})
	return l
}

// flaky is the demo's source in a synctest bubble. It can be frozen.
type flaky struct {
	source.Live
	put    func(key string, value []byte)
	mu     sync.Mutex
	thawed chan struct{} // closed by thaw; nil unless frozen
}

// runInBubble starts the demo and runs f in a synctest bubble. The demo's servers are outside the bubble.
func runInBubble(t *testing.T, f func(t *testing.T, etcd *flaky)) {
	t.Helper()
	cluster, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	src, err := cluster.Source("")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		cluster.Put("by-dev/kv/begun", nil) // later watchers wait for events in the bubble
		f(t, &flaky{Live: src, put: cluster.Put})
	})
}

func (f *flaky) open(context.Context) (source.Source, error) { return f, nil }

func (f *flaky) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

func (f *flaky) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.thawed)
	f.thawed = nil
}

// waitThawed waits until the source is not frozen.
func (f *flaky) waitThawed(ctx context.Context) error {
	f.mu.Lock()
	thawed := f.thawed
	f.mu.Unlock()
	if thawed == nil {
		return ctx.Err()
	}
	select {
	case <-thawed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Alive implements source.Live.
func (f *flaky) Alive(ctx context.Context) error { return f.waitThawed(ctx) }

// Health implements source.Live.
func (f *flaky) Health(ctx context.Context) (*model.Etcd, error) {
	if err := f.waitThawed(ctx); err != nil {
		return nil, err
	}
	return f.Live.Health(ctx)
}

// Pin implements source.Source.
func (f *flaky) Pin(ctx context.Context) (source.Snapshot, error) {
	if err := f.waitThawed(ctx); err != nil {
		return nil, err
	}
	return f.Live.Pin(ctx)
}

// Watch implements source.Watcher.
func (f *flaky) Watch(ctx context.Context, header source.Header, yield func(int64, []source.Event) error) error {
	return f.Live.Watch(ctx, header, func(revision int64, events []source.Event) error {
		if err := f.waitThawed(ctx); err != nil {
			return err
		}
		return yield(revision, events)
	})
}

func lostSince(u history.Update) bool { return u.Err != nil && !u.Since.IsZero() }

// TestHungEtcdStaysLost checks that a hanging etcd stays reported as lost while processes answer, and is live again
// when it continues.
func TestHungEtcdStaysLost(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		l := startFeed(t, etcd.open, &instantAsker{})
		for range 2 {
			etcd.freeze()
			frozen := time.Now()
			l.wait(t, "etcd stands still and is lost", 6*time.Second, lostSince)
			if took := time.Since(frozen); took > 5*time.Second {
				t.Errorf("that etcd stands still was noticed after %s", took)
			}
			from := l.count()
			time.Sleep(3 * time.Second)
			rounds := 0
			for _, u := range l.since(from) {
				if !lostSince(u) {
					t.Fatalf("an update says that etcd is live: %+v", u)
				}
				if u.Since.After(frozen.Add(500 * time.Millisecond)) {
					t.Errorf("heard of at %s, stood still from %s on", u.Since, frozen)
				}
				if u.Cluster != nil {
					rounds++
				}
			}
			if rounds < 3 {
				t.Errorf("only %d rounds of questions to processes went on", rounds)
			}
			l.wait(t, "the cluster has an etcd that is not responding", 5*time.Second, etcdUnresponsive(true))
			etcd.thaw()
			l.wait(t, "etcd goes on and is live", 10*time.Second, func(u history.Update) bool { return u.Err == nil })
			l.wait(t, "the cluster has an etcd that answers", 10*time.Second, etcdUnresponsive(false))
		}
	})
}

// etcdUnresponsive returns a function that reports whether an update has a cluster whose etcd is silent or not, as
// wanted.
func etcdUnresponsive(want bool) func(history.Update) bool {
	return func(u history.Update) bool { return u.Cluster != nil && u.Cluster.Etcd.Unresponsive() == want }
}

// TestSingleStallIsResponsive checks that a single failed probe does not make etcd silent.
func TestSingleStallIsResponsive(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		l := startFeed(t, etcd.open, &instantAsker{})
		from := l.count()
		etcd.freeze()
		time.Sleep(3 * time.Second)
		etcd.thaw()
		time.Sleep(10 * time.Second)
		for _, u := range l.since(from) {
			if etcdUnresponsive(true)(u) {
				t.Fatalf("etcd is silent: %+v", u.Cluster.Etcd)
			}
		}
	})
}

// TestDeadEtcdStaysLost checks that a stopped etcd stays reported as lost until it is started again, and that its
// changes then arrive.
func TestDeadEtcdStaysLost(t *testing.T) {
	t.Parallel() // it sleeps
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, filepath.Join("..", "..", "testdata", "snapshots", "standalone-2.3.5")).Keys)
	l := startFeed(t, func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, "etcd://"+server.Address, source.Options{})
	}, &instantAsker{})
	server.Stop()
	l.wait(t, "etcd is gone and lost", 6*time.Second, lostSince)
	from := l.count()
	time.Sleep(4 * time.Second)
	for _, u := range l.since(from) {
		if !lostSince(u) {
			t.Fatalf("an update says that etcd is live: %+v", u)
		}
	}
	l.wait(t, "the cluster has an etcd that is not responding", 10*time.Second, etcdUnresponsive(true))
	again := sourcetest.StartEtcd(t, func(c *embed.Config) {
		c.Dir = server.Dir
		at := []url.URL{{Scheme: "http", Host: server.Address}}
		c.ListenClientUrls, c.AdvertiseClientUrls = at, at
	})
	l.wait(t, "etcd is back", 20*time.Second, func(u history.Update) bool { return u.Err == nil })
	if _, err := again.Client.Delete(t.Context(), "by-dev/meta/session/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "a change after it came back", 20*time.Second, func(u history.Update) bool {
		return u.Cluster != nil && len(u.Cluster.Sessions) == 0
	})
}

// TestUnresponsiveProcessLost checks that a process that stops responding is reported as lost while etcd and other
// processes are live.
func TestUnresponsiveProcessLost(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		nodes := &instantAsker{timingOut: map[string]bool{"never-1": true}}
		l := startFeed(t, etcd.open, nodes)
		var name string
		l.wait(t, "answers of all", 5*time.Second, func(u history.Update) bool {
			if u.Cluster == nil || len(u.Lost) > 0 {
				return false
			}
			name = u.Cluster.Runtime.Nodes[0].Name()
			return true
		})
		nodes.mu.Lock()
		nodes.timingOut[name] = true
		nodes.mu.Unlock()
		l.wait(t, name+" is lost", 5*time.Second, func(u history.Update) bool {
			return u.Err == nil && len(u.Lost) == 1 && u.Lost[0].Name == name && !u.Lost[0].Since.IsZero()
		})
		nodes.mu.Lock()
		delete(nodes.timingOut, name)
		nodes.mu.Unlock()
		l.wait(t, name+" is back", 5*time.Second, func(u history.Update) bool { return len(u.Lost) == 0 })
	})
}

// TestFeedOpensAgain checks that a live source that fails is reported and retried. After a cluster was emitted, Err
// returns nil.
func TestFeedOpensAgain(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		tries := 0
		etcd.freeze()
		feed := &session.Feed{Interval: time.Second, Open: func(context.Context) (source.Source, error) {
			tries++
			if tries == 2 {
				etcd.thaw()
			}
			return unreadable{etcd, tries == 1}, nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		began, failed, shown := time.Now(), 0, false
		feed.Follow(ctx, func(u history.Update) {
			if u.Err != nil {
				failed++
			}
			if u.Cluster != nil {
				shown = true
				stop()
			}
		})
		if tries != 2 || failed != 1 || !shown || feed.Err() != nil {
			t.Errorf("%d tries, %d failures told, shown: %v, error: %v", tries, failed, shown, feed.Err())
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("tried again after %s", took)
		}
	})
}

// unreadable is a live source that cannot be pinned if broken is set.
type unreadable struct {
	*flaky
	broken bool
}

// Pin implements source.Source.
func (u unreadable) Pin(ctx context.Context) (source.Snapshot, error) {
	if u.broken {
		return nil, errors.New("no such cluster")
	}
	return u.flaky.Pin(ctx)
}

// TestFeedOfAFile checks that a file is emitted once with its stored process state, and that errors are not
// retried.
func TestFeedOfAFile(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "broken", "healthy-idle.kite")
	kept := 0
	for _, test := range []struct{ open, keep error }{
		{}, {open: errors.New("no file")}, {keep: errors.New("a broken recording")},
	} {
		feed := &session.Feed{Open: func(ctx context.Context) (source.Source, error) {
			if test.open != nil {
				return nil, test.open
			}
			return source.Open(ctx, path, source.Options{})
		}, AddStored: func(_ context.Context, _ source.Source, c *model.Cluster) (*model.Cluster, error) {
			kept++
			return c, test.keep
		}}
		var last history.Update
		feed.Follow(t.Context(), func(u history.Update) { last = u })
		want := errors.Join(test.open, test.keep)
		switch {
		case want == nil && (last.Cluster == nil || last.Live || feed.Err() != nil):
			t.Errorf("told: %+v, error %v", last, feed.Err())
		case want != nil && (!errors.Is(want, last.Err) && !errors.Is(want, feed.Err())):
			t.Errorf("told: %+v, error %v; want %v", last, feed.Err(), want)
		}
	}
	if kept != 2 {
		t.Errorf("what is kept was asked for %d times", kept)
	}
}

// TestNoUpdateAfterFollow checks that a feed emits no updates after it has returned.
func TestNoUpdateAfterFollow(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		feed := &session.Feed{Interval: time.Second, Every: time.Second, Ask: &instantAsker{}}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var mu sync.Mutex
		told := 0
		err := feed.FollowLive(ctx, etcd, meta.Want{Parts: model.PartCatalog}, func(history.Update) {
			mu.Lock()
			defer mu.Unlock()
			told++
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		before := told
		time.Sleep(time.Minute)
		if before == 0 || told != before {
			t.Errorf("%d updates, then %d", before, told)
		}
	})
}
