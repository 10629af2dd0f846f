package main

import (
	"context"
	"testing"
	"time"

	"kitescope/inspect/source"
	"kitescope/tui"
)

// TestFeedNoticesADeadEtcd follows an etcd that goes away: the UI hears of it, and is
// not left with a picture that looks live.
func TestFeedNoticesADeadEtcd(t *testing.T) {
	t.Parallel() // it waits
	demo, err := startedDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			demo.stop()
		}
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	feed := &sourceFeed{interval: 100 * time.Millisecond, open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, demo.from(), source.Options{DialTimeout: time.Second, RequestTimeout: 5 * time.Second})
	}}
	updates := make(chan tui.Update, 1000)
	done := make(chan struct{})
	go func() {
		feed.Follow(ctx, func(u tui.Update) { updates <- u })
		close(done)
	}()
	health := false
	for !health {
		select {
		case u := <-updates:
			if u.Err != nil {
				t.Fatalf("before anything happened: %v", u.Err)
			}
			health = u.Cluster != nil && u.Cluster.Etcd != nil && len(u.Cluster.Etcd.Members) == 1
		case <-ctx.Done():
			t.Fatal("no cluster with the health of its etcd")
		}
	}
	demo.stop()
	stopped = true
	for gone := false; !gone; {
		select {
		case u := <-updates:
			gone = u.Err != nil
		case <-ctx.Done():
			t.Fatal("nobody noticed that etcd is gone")
		}
	}
	if feed.failed != nil {
		t.Errorf("data was shown, and yet the feed counts as failed: %v", feed.failed)
	}
	stop()
	<-done
}
