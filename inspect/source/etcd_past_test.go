package source_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestPastOfAnEtcd compares the past revisions of a live etcd with the responses of the etcd client. It also
// uses accounts that may read only a part.
//
//nolint:tparallel // its parts take turns at one server
func TestPastOfAnEtcd(t *testing.T) {
	t.Parallel()
	s := newScenario(t, 100)
	src := open(t, "etcd://"+s.server.Address, source.Options{})
	defer src.Close()
	testPast(t, src, s)

	authorize(t, s.server, map[string][]grant{
		"root-of-it": {prefix("by-dev/")}, "beginning": {prefix("by-dev")},
		"parts": {prefix("by-dev/meta/"), prefix("by-dev/kv/")}, "clock": {prefix("by-dev/kv/")},
	})
	for _, user := range []string{"root-of-it", "beginning"} {
		t.Run(user, func(t *testing.T) {
			src := open(t, "etcd://"+s.server.Address, source.Options{Username: user, Password: "secret"})
			defer src.Close()
			past, err := source.PastOf(src)
			if err != nil {
				t.Fatal(err)
			}
			h := pin(t, src).Header()
			oldest, err := past.Oldest(t.Context(), h)
			if err != nil || oldest != s.compacted {
				t.Errorf("the oldest revision is %d, want %d: %v", oldest, s.compacted, err)
			}
			for _, from := range []int64{oldest, (oldest + s.newest) / 2, s.newest - 1} {
				compareEvents(t, fmt.Sprintf("changes since %d", from), s.since(from, s.newest),
					changes(t, past, h, from, s.newest))
			}
			checkRefused(t, past, h, oldest, s.newest)
		})
	}
	t.Run("parts", func(t *testing.T) {
		src := open(t, "etcd://"+s.server.Address, source.Options{Username: "parts", Password: "secret"})
		defer src.Close()
		past, err := source.PastOf(src)
		if err != nil {
			t.Fatal(err)
		}
		err = past.Changes(t.Context(), pin(t, src).Header(), s.compacted, s.newest, func(int64, []source.Event) error {
			return nil
		})
		expectHint(t, err, "only 2 parts of it", "one prefix")
	})
}

// TestPastOfAnEtcdNeverCompacted checks that the oldest state is the empty store.
func TestPastOfAnEtcdNeverCompacted(t *testing.T) {
	server, dump, src := liveStore(t)
	h := pin(t, src).Header()
	if oldest, err := src.Oldest(t.Context(), h); err != nil || oldest != 1 {
		t.Fatalf("oldest %d, %v", oldest, err)
	}
	if got, want := len(changes(t, src, h, 1, h.Revision)), len(dump.WithPrefix("by-dev/")); got != want {
		t.Errorf("%d changes, want %d", got, want)
	}
	if got := state(t, src, h, 1); len(got) != 0 {
		t.Errorf("%d keys before the first", len(got))
	}
	// Writes during the read are not part of the past.
	last := put(t, server, "by-dev/meta/later", "1")
	put(t, server, "by-dev/meta/later", "2")
	got := changes(t, src, h, h.Revision, last)
	if len(got) != 1 || !strings.Contains(got[0].line, `later="1"`) {
		t.Errorf("changes up to %d: %v", last, got)
	}
}

// TestPastOfAHangingEtcd checks that Changes does not wait forever for announced revisions.
func TestPastOfAHangingEtcd(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	put(t, server, "by-dev/meta/session/id", "1")
	last := put(t, server, "by-dev/meta/session/id", "2")
	header := &pb.ResponseHeader{Revision: last}
	event := &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte("by-dev/meta/session/id"), ModRevision: last - 1}}
	h := sourcetest.StartHostile(t, server.Address,
		watchResponses(&pb.WatchResponse{Header: header, Events: []*mvccpb.Event{event}}))
	src := open(t, "etcd://"+h.Address, source.Options{RequestTimeout: 2 * time.Second})
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	seen := 0
	err = past.Changes(ctx, pin(t, src).Header(), 1, last, func(int64, []source.Event) error { seen++; return nil })
	expectHint(t, err, "no response within 2s", "--timeout")
	if seen != 1 || ctx.Err() != nil {
		t.Errorf("%d changes, %v", seen, ctx.Err())
	}
}
