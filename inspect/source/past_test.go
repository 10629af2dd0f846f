package source_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// eventText is an event as text, because comparing this number of structs with a library takes seconds.
type eventText struct {
	revision int64
	line     string
}

func line(kv source.KV) string {
	return fmt.Sprintf("%s=%q created %d modified %d version %d lease %d", kv.Key, kv.Value, kv.CreateRevision,
		kv.ModRevision, kv.Version, kv.Lease)
}

func eventLine(e source.Event) eventText {
	text := line(e.KV)
	if e.Deleted {
		text = "deleted: " + text
	}
	return eventText{e.ModRevision, text}
}

// compareEvents fails if two lists differ.
func compareEvents(t *testing.T, what string, want, got []eventText) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	t.Errorf("%s: %d events of etcd, %d of the past; from event %d on etcd has\n%.500v\nthe past\n%.500v", what,
		len(want), len(got), n, want[n:], got[n:])
}

// scenario is a server with past revisions, and the events that a watch received while they were written.
type scenario struct {
	server *sourcetest.Server
	random *rand.Rand
	// compacted is the revision of the last compaction, newest the last revision.
	compacted, newest int64
	leases            []clientv3.LeaseID
	watched           []eventText
}

// newScenario makes random puts, deletes, transactions, leases and compactions, while a watch of the etcd client
// records them.
func newScenario(t *testing.T, steps int) *scenario {
	t.Helper()
	s := &scenario{server: sourcetest.StartEtcd(t, nil), random: rand.New(rand.NewPCG(7, 11)), compacted: 1}
	watch := s.server.Client.Watch(t.Context(), "by-dev/", clientv3.WithPrefix(), clientv3.WithRev(2))
	s.do(t, clientv3.OpPut("by-dev/meta/session/id", "1"))
	for i := range steps {
		s.step(t)
		if i == steps/3 || i == steps*2/3 {
			s.compact(t, s.newest-int64(s.random.IntN(steps/8)))
		}
	}
	var many []clientv3.Op
	for i := range 600 { // changes of a revision that need more than one read
		many = append(many, clientv3.OpPut(fmt.Sprintf("by-dev/meta/many/%03d", i), strings.Repeat("m", 1000)))
	}
	for part := range slices.Chunk(many, 100) {
		s.do(t, part...)
	}
	s.do(t, clientv3.OpDelete("by-dev/meta/many/", clientv3.WithPrefix()))
	s.endLeases(t)
	s.do(t, clientv3.OpPut("by-dev/meta/last", "end"))
	for len(s.watched) == 0 || s.watched[len(s.watched)-1].revision < s.newest {
		answer := <-watch
		if err := answer.Err(); err != nil {
			t.Fatal(err)
		}
		for _, e := range answer.Events {
			s.addEvent(e)
		}
	}
	return s
}

func (s *scenario) addEvent(e *clientv3.Event) {
	s.watched = append(s.watched,
		eventLine(source.Event{KV: ofClient(e.Kv), Deleted: e.Type == clientv3.EventTypeDelete}))
}

func ofClient(kv *mvccpb.KeyValue) source.KV {
	return source.KV{
		Key: kv.Key, Value: kv.Value, Lease: kv.Lease, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision,
		Version: kv.Version,
	}
}

func (s *scenario) do(t *testing.T, ops ...clientv3.Op) {
	t.Helper()
	r, err := s.server.Client.Txn(t.Context()).Then(ops...).Commit()
	if err != nil {
		t.Fatal(err)
	}
	s.newest = r.Header.Revision
}

// leaseSeconds is longer than any test.
const leaseSeconds = 1000

// put returns a put of a key with a random value, and sometimes with a lease.
func (s *scenario) put(t *testing.T, key string) clientv3.Op {
	t.Helper()
	var options []clientv3.OpOption
	if s.random.IntN(6) == 0 {
		lease, err := s.server.Client.Grant(t.Context(), leaseSeconds)
		if err != nil {
			t.Fatal(err)
		}
		s.leases = append(s.leases, lease.ID)
		options = append(options, clientv3.WithLease(lease.ID))
	}
	return clientv3.OpPut(key, strings.Repeat("v", s.random.IntN(400)), options...)
}

func (s *scenario) key() string {
	root := "by-dev/meta/"
	if s.random.IntN(5) == 0 {
		root = "by-device/x/" // has a prefix in common
	}
	return fmt.Sprintf("%s%02d", root, s.random.IntN(40))
}

func (s *scenario) step(t *testing.T) {
	t.Helper()
	switch s.random.IntN(6) {
	case 0:
		s.do(t, clientv3.OpDelete(s.key()))
	case 1:
		var ops []clientv3.Op
		for _, i := range s.random.Perm(40)[:2+s.random.IntN(20)] {
			key := fmt.Sprintf("by-dev/meta/%02d", i)
			if op := s.put(t, key); s.random.IntN(3) > 0 {
				ops = append(ops, op)
			} else {
				ops = append(ops, clientv3.OpDelete(key))
			}
		}
		s.do(t, ops...)
	case 2:
		s.do(t, clientv3.OpDelete("by-dev/meta/1", clientv3.WithPrefix()))
	default:
		s.do(t, s.put(t, s.key()))
	}
}

func (s *scenario) compact(t *testing.T, revision int64) {
	t.Helper()
	if _, err := s.server.Client.Compact(t.Context(), revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	s.compacted = revision
}

// endLeases revokes every second lease, which deletes its keys.
func (s *scenario) endLeases(t *testing.T) {
	t.Helper()
	lease, err := s.server.Client.Grant(t.Context(), leaseSeconds)
	if err != nil {
		t.Fatal(err)
	}
	s.do(t, clientv3.OpPut("by-dev/meta/session/node-1", "{}", clientv3.WithLease(lease.ID)),
		clientv3.OpPut("by-dev/meta/session/node-2", "{}", clientv3.WithLease(lease.ID)))
	for i, id := range append(s.leases, lease.ID) {
		if i%2 == 0 || id == lease.ID {
			if _, err := s.server.Client.Revoke(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// since returns the events of the watch in revisions (from, to].
func (s *scenario) since(from, to int64) []eventText {
	var part []eventText
	for _, w := range s.watched {
		if w.revision > from && w.revision <= to {
			part = append(part, w)
		}
	}
	return part
}

// at returns the store below the root at a revision, as read by the etcd client.
func (s *scenario) at(t *testing.T, revision int64) map[string]string {
	t.Helper()
	r, err := s.server.Client.Get(t.Context(), "by-dev/", clientv3.WithPrefix(), clientv3.WithRev(revision))
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]string{}
	for _, kv := range r.Kvs {
		state[string(kv.Key)] = line(ofClient(kv))
	}
	return state
}

// changes returns the changes of a Past.
func changes(t *testing.T, past source.Past, h source.Header, from, to int64) []eventText {
	t.Helper()
	var got []eventText
	err := past.Changes(t.Context(), h, from, to, func(revision int64, events []source.Event) error {
		for _, e := range events {
			if e.ModRevision != revision {
				t.Errorf("revision %d has a change of %d", revision, e.ModRevision)
			}
			got = append(got, eventLine(e))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("changes of (%d, %d]: %v", from, to, err)
	}
	return got
}

// state returns the keys of a Past at a revision, below its root.
func state(t *testing.T, past source.Past, h source.Header, revision int64) map[string]string {
	t.Helper()
	snap, err := past.PinAt(t.Context(), h, revision)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if got := snap.Header().Revision; got != revision {
		t.Fatalf("pinned at %d, want %d", got, revision)
	}
	got := map[string]string{}
	err = snap.Scan(t.Context(), []source.Range{source.Prefix("by-dev/")}, func(kv source.KV) error {
		got[string(kv.Key)] = line(kv)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// testPast compares a Past with the responses of the server for the same revisions.
func testPast(t *testing.T, src source.Source, s *scenario) {
	t.Helper()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	h := pin(t, src).Header()
	oldest, err := past.Oldest(t.Context(), h)
	if err != nil || oldest != s.compacted {
		t.Fatalf("the oldest revision is %d, want %d: %v", oldest, s.compacted, err)
	}
	compareEvents(t, "all changes", s.since(oldest, s.newest), changes(t, past, h, oldest, s.newest))
	for range 10 {
		from := oldest + s.random.Int64N(s.newest-oldest+1)
		to := from + s.random.Int64N(s.newest-from+1)
		compareEvents(t, fmt.Sprintf("changes of (%d, %d]", from, to), s.since(from, to), changes(t, past, h, from, to))
	}
	for revision := oldest; revision <= s.newest; revision += 1 + s.random.Int64N(6) {
		want := s.at(t, revision)
		if got := state(t, past, h, revision); !maps.Equal(want, got) {
			t.Errorf("at revision %d (-etcd +past):\n%s", revision, cmp.Diff(want, got))
		}
		for range s.random.IntN(3) {
			key := fmt.Sprintf("by-dev/meta/%02d", s.random.IntN(50)) // some never existed
			got, err := past.GetAt(t.Context(), h, revision, key)
			if kv, ok := want[key]; err != nil || ok != (got != nil) || ok && kv != line(*got) {
				t.Errorf("%s at revision %d is %v, want %s: %v", key, revision, got, kv, err)
			}
		}
	}
	checkRefused(t, past, h, oldest, s.newest)
}

// checkRefused checks the errors for revisions that do not exist.
func checkRefused(t *testing.T, past source.Past, h source.Header, oldest, newest int64) {
	t.Helper()
	never := func(int64, []source.Event) error { t.Error("a change that is not there"); return nil }
	for _, wanted := range []int64{0, oldest - 1, newest + 1} {
		_, pinned := past.PinAt(t.Context(), h, wanted)
		from, to := min(wanted, newest), max(wanted, oldest)
		if wanted > newest {
			from = newest
		}
		changed := past.Changes(t.Context(), h, from, to, never)
		_, asked := past.GetAt(t.Context(), h, wanted, "by-dev/meta/session/id")
		for _, err := range []error{pinned, changed, asked} {
			got, ok := errors.AsType[*source.RevisionError](err)
			if !ok || got.Wanted != wanted || got.Oldest != oldest || got.Newest != newest ||
				errors.Is(err, source.ErrCompacted) != (wanted < oldest) {
				t.Errorf("revision %d of %d to %d: %v", wanted, oldest, newest, err)
			}
		}
	}
	if err := past.Changes(t.Context(), h, newest, newest-1, never); err == nil {
		t.Error("changes backwards")
	}
	if err := past.Changes(t.Context(), h, newest, newest, never); err != nil {
		t.Errorf("no changes: %v", err)
	}
}

// TestPastOfAFile compares a snapshot with its etcd, for revisions since the compaction.
func TestPastOfAFile(t *testing.T) {
	t.Parallel()
	s := newScenario(t, 120)
	src := open(t, saveSnapshot(t, s.server), source.Options{})
	defer src.Close()
	testPast(t, src, s)
}
