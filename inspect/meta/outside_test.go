package meta

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// outsideKeys returns the keys that a real Woodpecker wrote.
func outsideKeys(t *testing.T) []source.KV {
	t.Helper()
	list, err := scanOutside(t.Context(), pinFile(t, "../../testdata/woodpecker/etcd_snapshot.db.gz"))
	if err != nil || len(list) < 10 {
		t.Fatalf("%d keys, %v", len(list), err)
	}
	return list
}

// TestFollowOutsideRoot checks that a Follower of 2.6 sees keys that Woodpecker writes or removes later, and that
// a Follower of 2.5 does not read such keys.
func TestFollowOutsideRoot(t *testing.T) {
	keys := outsideKeys(t)
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, metatest.Cluster("2.6"))
	server.Load(t, keys[:3])
	src, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	clusters := make(chan *model.Cluster, 100)
	f := &Follower{
		Source: src.(source.Watcher), Want: Want{Parts: model.PartAll}, Interval: 10 * time.Millisecond,
		outsideInterval: 50 * time.Millisecond,
		Emit: func(c *model.Cluster, err error) {
			if err != nil {
				t.Error(err)
			}
			clusters <- c
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	wait := func(what string, is func(*model.Woodpecker) bool) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		for {
			select {
			case c := <-clusters:
				if c.Woodpecker != nil && is(c.Woodpecker) {
					return
				}
			case <-deadline:
				t.Fatalf("%s was not seen", what)
			}
		}
	}
	wait("what was there", func(*model.Woodpecker) bool { return true })
	server.Load(t, keys)
	wait("what was written", func(w *model.Woodpecker) bool { return len(w.Logs) == 2 && len(w.Logs[0].Segments) > 3 })
	for _, kv := range keys {
		if bytes.Contains(kv.Key, []byte("/segments/")) {
			if _, err := server.Client.Delete(t.Context(), string(kv.Key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	wait("what was removed", func(w *model.Woodpecker) bool { return len(w.Logs) == 2 && len(w.Logs[0].Segments) == 0 })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// countingSnapshot is a live store that counts the scans of keys outside the root.
type countingSnapshot struct {
	source.Snapshot
	outside int
}

func (s *countingSnapshot) Seekable() bool { return true }

func (s *countingSnapshot) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	for _, r := range ranges {
		if r == source.OutsideRoot()[0] {
			s.outside++
		}
	}
	return s.Snapshot.Scan(ctx, ranges, yield)
}

// TestNoOutsideReadBefore26 checks that Load does not read keys outside the root of a live Milvus before 2.6.
func TestNoOutsideReadBefore26(t *testing.T) {
	for version, want := range map[string]int{"2.4": 0, "2.5": 0, "2.6": 1, "3.0": 1} {
		snap := &countingSnapshot{Snapshot: newMemory(metatest.Cluster(version))}
		if _, err := Load(t.Context(), snap, Want{Parts: model.PartAll}); err != nil {
			t.Fatal(err)
		}
		if snap.outside != want {
			t.Errorf("%s: asked %d times, want %d", version, snap.outside, want)
		}
	}
}
