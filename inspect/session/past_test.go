package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// followPast follows a source with its past. It returns the first update with a cluster, or the error if there is
// none.
func followPast(t *testing.T, from, at string) (first history.Update, updates <-chan history.Update, err error) {
	t.Helper()
	feed := &session.Feed{
		WithHistory: true, SkipHealth: true, Interval: 50 * time.Millisecond,
		Open: func(ctx context.Context) (source.Source, error) {
			return source.Open(ctx, from, source.Options{DialTimeout: time.Second, RequestTimeout: time.Minute})
		},
	}
	if at != "" {
		if err := feed.At.Set(at); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	told, done := make(chan history.Update, 1000), make(chan struct{})
	go func() {
		defer close(done)
		feed.Follow(ctx, func(u history.Update) { told <- u })
	}()
	t.Cleanup(func() { stop(); <-done })
	for {
		select {
		case u := <-told:
			if u.Cluster != nil || u.Err != nil {
				return u, told, u.Err
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing is told")
		}
	}
}

// at returns the cluster at a revision.
func at(t *testing.T, past history.Past, revision int64) (*model.Cluster, error) {
	t.Helper()
	list, err := past.At(t.Context(), revision)
	if err != nil || len(list) != 1 {
		return nil, err
	}
	return list[0], nil
}

// TestPastOfAFile checks that the clusters at a file's revisions equal those that --at loads, and that the file
// stays open.
func TestPastOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t5", "etcd_snapshot.db.gz")
	u, _, err := followPast(t, file, "")
	if err != nil || u.Past == nil || u.Historical {
		t.Fatalf("%+v, %v", u, err)
	}
	h, err := u.Past.History(t.Context())
	if err != nil || h.Len() < 200 || h.To != u.Cluster.Origin.Revision {
		t.Fatalf("%d events up to %d: %v", h.Len(), h.To, err)
	}
	if again, err := u.Past.History(t.Context()); err != nil || again != h {
		t.Errorf("a file has another history the second time: %v", err)
	}
	loader := &session.Loader{Now: time.Now, Timeout: time.Minute}
	for _, revision := range []int64{h.From, 1419, 1420, 1600, 700, h.To} {
		got, err := at(t, u.Past, revision)
		if err != nil {
			t.Fatal(err)
		}
		spec := &session.Spec{From: file, Want: meta.Want{Parts: model.PartAll, Records: true}}
		if err := spec.At.Set("rev:" + model.SegmentID(revision).String()); err != nil {
			t.Fatal(err)
		}
		want, err := loader.Load(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if got.Origin.Revision != revision || !got.Origin.Taken.Equal(want.Origin.Taken) ||
			got.Origin.Kind != source.KindEtcdSnapshot {
			t.Errorf("revision %d: %+v, want %+v", revision, got.Origin, want.Origin)
		}
		if got.Keys != want.Keys || len(got.Segments) != len(want.Segments) ||
			len(got.Sessions) != len(want.Sessions) || got.Totals() != want.Totals() ||
			got.Keyspace.Len() != want.Keyspace.Len() {
			t.Errorf("revision %d: %d keys and %d segments, want %d and %d", revision, got.Keys, len(got.Segments),
				want.Keys, len(want.Segments))
		}
	}
	if r, err := u.Past.Find(t.Context(), "08:04:10"); err != nil || r != 1419 {
		t.Errorf("08:04:10 is revision %d: %v", r, err)
	}
	if _, err := u.Past.Find(t.Context(), "tomorrow"); err == nil {
		t.Error("tomorrow is a time")
	}
	var gone *source.RevisionError
	if _, err := at(t, u.Past, h.From-1); !errors.As(err, &gone) {
		t.Errorf("before the oldest: %v", err)
	}
}

// TestFeedAtAMoment checks that the requested moment is emitted first, and that an unavailable one ends the feed.
func TestFeedAtAMoment(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t5", "etcd_snapshot.db.gz")
	u, _, err := followPast(t, file, "rev:1419")
	if err != nil || !u.Historical || u.Past == nil || u.Cluster.Origin.Revision != 1419 {
		t.Fatalf("%+v, %v", u, err)
	}
	if _, _, err = followPast(t, file, "07:00"); err == nil || !strings.Contains(err.Error(), "is before the oldest") {
		t.Errorf("07:00: %v", err)
	}
	backup := filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t7", "birdwatcher_backup.bak.gz")
	if u, _, err := followPast(t, backup, ""); err != nil || u.Past != nil {
		t.Errorf("a backup: %+v, %v", u, err)
	}
	if _, _, err := followPast(t, backup, "-5m"); !errors.Is(err, source.ErrNoHistory) {
		t.Errorf("a backup at a moment: %v", err)
	}
}

// TestPastOfALiveEtcd checks that the past of a live etcd grows with writes, and has the revisions that etcd still
// has.
func TestPastOfALiveEtcd(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, filepath.Join("..", "..", "testdata", "snapshots", "standalone-2.3.5")).Keys)
	u, updates, err := followPast(t, "etcd://"+server.Address, "")
	if err != nil || u.Past == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	h, err := u.Past.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, loaded := h.Len(), h.To
	for _, value := range []string{"false", "true"} {
		if _, err := server.Client.Put(t.Context(), "by-dev/config/queryCoord/autoBalance", value); err != nil {
			t.Fatal(err)
		}
	}
	for u := range updates { // the feed continues concurrently
		if u.Cluster != nil && u.Cluster.Origin.Revision == loaded+2 {
			break
		}
	}
	grown, err := u.Past.History(t.Context())
	if err != nil || grown.Len() != before+2 || h.Len() != before || grown.To != loaded+2 {
		t.Fatalf("%d events, then %d up to %d: %v", before, grown.Len(), grown.To, err)
	}
	for revision, want := range map[int64]string{loaded: "", loaded + 1: "false", loaded + 2: "true"} {
		c, err := at(t, u.Past, revision)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range c.Config {
			if e.Name == "queryCoord/autoBalance" {
				got = e.Value
			}
		}
		if got != want {
			t.Errorf("revision %d: autoBalance is %q, want %q", revision, got, want)
		}
	}
	if _, err := server.Client.Compact(t.Context(), loaded+1, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if again, err := u.Past.History(t.Context()); err != nil || again.Len() != grown.Len() {
		t.Errorf("after a compaction: %v", err)
	}
	var gone *source.RevisionError
	if _, err := at(t, u.Past, loaded); !errors.Is(err, source.ErrCompacted) && !errors.As(err, &gone) {
		t.Errorf("after a compaction: %v", err)
	}
	list, err := u.Past.At(t.Context(), loaded+1, loaded+2)
	if err != nil || len(list) != 2 || list[0].Origin.Revision != loaded+1 || list[1].Origin.Revision != loaded+2 {
		t.Errorf("two moments: %v, %v", list, err)
	}
}

// TestPastOfABundle checks that the process state of a bundle belongs to its end, not to earlier moments.
func TestPastOfABundle(t *testing.T) {
	t.Parallel()
	bundle := filepath.Join("demo", "demo.kite")
	u, _, err := followPast(t, bundle, "")
	if err != nil || u.Past == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	before, err := at(t, u.Past, 1000)
	if err != nil || before.Runtime != nil || len(before.Sessions) == 0 {
		t.Errorf("a moment before has answers, or nothing: %v", err)
	}
	if u, _, err = followPast(t, bundle, "rev:1000"); err != nil || u.Cluster.Runtime != nil {
		t.Errorf("opened at a moment it has answers: %v", err)
	}
}
