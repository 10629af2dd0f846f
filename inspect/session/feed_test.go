package session_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestFeedNoticesADeadEtcd checks that the feed reports an etcd that stops, so that the UI does not show stale data
// as live.
func TestFeedNoticesADeadEtcd(t *testing.T) {
	t.Parallel() // it sleeps
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, filepath.Join("..", "..", "testdata", "snapshots", "standalone-2.3.5")).Keys)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	feed := &session.Feed{Interval: 100 * time.Millisecond, Open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, "etcd://"+server.Address, source.Options{
			DialTimeout: time.Second, RequestTimeout: 5 * time.Second,
		})
	}}
	updates := make(chan history.Update, 1000)
	done := make(chan struct{})
	go func() {
		feed.Follow(ctx, func(u history.Update) { updates <- u })
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
	server.Stop()
	for gone := false; !gone; {
		select {
		case u := <-updates:
			gone = u.Err != nil
		case <-ctx.Done():
			t.Fatal("nobody noticed that etcd is gone")
		}
	}
	stop()
	<-done
	if err := feed.Err(); err != nil {
		t.Errorf("data was shown, and yet the feed counts as failed: %v", err)
	}
}
