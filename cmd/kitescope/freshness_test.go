package main

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/tui"
)

// talkative is processes that answer at once, whatever etcd does.
type talkative struct {
	mu     sync.Mutex
	silent map[string]bool
}

// Ask implements asker.
func (a *talkative) Ask(_ context.Context, c *model.Cluster) (*model.Runtime, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := model.RuntimeParts{Kind: "live", To: time.Now()}
	for _, s := range c.Sessions {
		n := &model.LiveNode{Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered}
		if a.silent[n.Name()] {
			n.Outcome = model.TimedOut
		}
		parts.Nodes = append(parts.Nodes, n)
	}
	return model.BuildRuntime(parts), nil
}

// listener follows a feed and keeps its last live update.
type listener struct {
	mu   sync.Mutex
	last tui.Update
	all  []tui.Update
}

func (l *listener) take(u tui.Update) {
	if u.Progress != "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = u
	l.all = append(l.all, u)
}

// wait waits until an update is as wanted.
func (l *listener) wait(t *testing.T, what string, patience time.Duration, want func(u tui.Update) bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		ok := want(l.last)
		l.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatalf("%s: not within %s", what, patience)
}

// since are the updates that came after a number of them.
func (l *listener) since(n int) []tui.Update {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all[n:])
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// followed starts a feed on an address.
func followed(t *testing.T, address string, ask asker) *listener {
	t.Helper()
	l := &listener{}
	ctx, stop := context.WithCancel(t.Context())
	feed := &sourceFeed{interval: 50 * time.Millisecond, ask: ask, every: 200 * time.Millisecond, open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, "etcd://"+address, source.Options{})
	}}
	done := make(chan struct{})
	go func() {
		feed.Follow(ctx, l.take)
		close(done)
	}()
	t.Cleanup(func() { stop(); <-done })
	l.wait(t, "a cluster with its processes", 30*time.Second, func(u tui.Update) bool {
		return u.Cluster != nil && u.Cluster.Runtime != nil && u.Err == nil
	})
	return l
}

func lostSince(u tui.Update) bool { return u.Err != nil && !u.Since.IsZero() }

// TestHungEtcdStaysLost: answers of processes are no news of an etcd that stands still, and it is live again when it goes on.
func TestHungEtcdStaysLost(t *testing.T) {
	t.Parallel() // it waits
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, capture("standalone-2.3.5")).Keys)
	proxy := sourcetest.StartProxy(t, server.Address)
	l := followed(t, proxy.Address, &talkative{})
	for range 2 {
		proxy.Freeze()
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
		proxy.Thaw()
		l.wait(t, "etcd goes on and is live", 10*time.Second, func(u tui.Update) bool { return u.Err == nil })
	}
}

// TestDeadEtcdStaysLost: the same for an etcd that is gone, until it is started again; then its changes come again.
func TestDeadEtcdStaysLost(t *testing.T) {
	t.Parallel() // it waits
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, capture("standalone-2.3.5")).Keys)
	l := followed(t, server.Address, &talkative{})
	server.Stop()
	l.wait(t, "etcd is gone and lost", 6*time.Second, lostSince)
	from := l.count()
	time.Sleep(4 * time.Second)
	for _, u := range l.since(from) {
		if !lostSince(u) {
			t.Fatalf("an update says that etcd is live: %+v", u)
		}
	}
	again := sourcetest.StartEtcd(t, func(c *embed.Config) {
		c.Dir = server.Dir
		at := []url.URL{{Scheme: "http", Host: server.Address}}
		c.ListenClientUrls, c.AdvertiseClientUrls = at, at
	})
	l.wait(t, "etcd is back", 20*time.Second, func(u tui.Update) bool { return u.Err == nil })
	if _, err := again.Client.Delete(t.Context(), "by-dev/meta/session/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "a change after it came back", 20*time.Second, func(u tui.Update) bool { return u.Cluster != nil && len(u.Cluster.Sessions) == 0 })
}

// TestSilentProcessIsLost: what a process said before grows old by itself, while etcd and the others are live.
func TestSilentProcessIsLost(t *testing.T) {
	t.Parallel() // it waits
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, capture("standalone-2.3.5")).Keys)
	nodes := &talkative{silent: map[string]bool{"never-1": true}}
	l := followed(t, server.Address, nodes)
	var name string
	l.wait(t, "answers of all", 5*time.Second, func(u tui.Update) bool {
		if u.Cluster == nil || len(u.Lost) > 0 {
			return false
		}
		name = u.Cluster.Runtime.Nodes[0].Name()
		return true
	})
	nodes.mu.Lock()
	nodes.silent[name] = true
	nodes.mu.Unlock()
	l.wait(t, name+" is lost", 5*time.Second, func(u tui.Update) bool {
		return u.Err == nil && len(u.Lost) == 1 && u.Lost[0].Name == name && !u.Lost[0].Since.IsZero()
	})
	nodes.mu.Lock()
	delete(nodes.silent, name)
	nodes.mu.Unlock()
	l.wait(t, name+" is back", 5*time.Second, func(u tui.Update) bool { return len(u.Lost) == 0 })
}

// TestLossIsToldAgain: a watch says when a source is lost, again with how long, and when it is back.
func TestLossIsToldAgain(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	teller := newLossTeller(&app{streams: &streams{err: &out}})
	teller.clock = func() time.Time { return now }
	gone := tui.Update{Live: true, Err: context.DeadlineExceeded, Since: now.Add(-3 * time.Second)}
	teller.take(tui.Update{Live: true})
	for range 200 {
		teller.take(gone)
		teller.take(tui.Update{Progress: "reading"})
		now = now.Add(time.Second)
	}
	teller.take(tui.Update{Live: true, Lost: []tui.Lost{{Name: "querynode-7", Since: now}}})
	teller.take(tui.Update{Live: true})
	want := "kitescope: context deadline exceeded; last heard of at 08:29:57, stale for 3s\n" +
		"kitescope: context deadline exceeded; last heard of at 08:29:57, stale for 10s\n" +
		"kitescope: context deadline exceeded; last heard of at 08:29:57, stale for 30s\n" +
		"kitescope: context deadline exceeded; last heard of at 08:29:57, stale for 1m30s\n"
	if !strings.HasPrefix(out.String(), want) || strings.Count(out.String(), "\n") > 9 {
		t.Errorf("said was:\n%s", &out)
	}
	for _, text := range []string{"etcd is back after 3m23s", "querynode-7 does not answer", "querynode-7 is back after 0s"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is missing in:\n%s", text, &out)
		}
	}
}
