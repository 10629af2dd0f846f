package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// stepRecorder is a recorder of an etcd whose steps are called by the test.
type stepRecorder struct {
	*Recorder
	t     *testing.T
	etcd  *sourcetest.Server
	src   source.Live
	lines []string
	now   time.Time
}

func newSteps(t *testing.T) *stepRecorder {
	t.Helper()
	named := func(c *embed.Config) { c.InitialClusterToken = t.TempDir() } // otherwise all clusters have the same id
	s := &stepRecorder{t: t, etcd: sourcetest.StartEtcd(t, named), now: time.Now()}
	if _, err := s.etcd.Client.Put(t.Context(), "by-dev/meta/session/id", "1"); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(t.Context(), "etcd://"+s.etcd.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	s.src = src.(source.Live)
	s.Recorder, err = Open(t.Context(), Options{
		Dir: t.TempDir(), Every: time.Second, Kitescope: "test",
		Now: func() time.Time { return s.now }, Log: func(line string) { s.lines = append(s.lines, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.lock.release)
	return s
}

// put makes n revisions and returns the last.
func (s *stepRecorder) put(n int) (revision int64) {
	s.t.Helper()
	for i := range n {
		r, err := s.etcd.Client.Put(s.t.Context(), fmt.Sprintf("by-dev/meta/test/%02d", i), "v")
		if err != nil {
			s.t.Fatal(err)
		}
		revision = r.Header.Revision
	}
	return revision
}

// pin pins the source and passes the snapshot to the recorder.
func (s *stepRecorder) pin(ctx context.Context) {
	s.t.Helper()
	snap, err := s.src.Pin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer snap.Close()
	s.onPin(ctx, s.src, snap)
}

// begin pins the source, then makes and records 5 revisions.
func (s *stepRecorder) begin() {
	s.t.Helper()
	s.pin(s.t.Context())
	s.receive(s.chunk.header.Revision, s.put(5))
	s.syncOrRotate(s.t.Context())
}

// receive passes the changes between two revisions to the recorder.
func (s *stepRecorder) receive(from, to int64) {
	s.t.Helper()
	past, err := source.PastOf(s.src)
	if err != nil {
		s.t.Fatal(err)
	}
	snap, err := s.src.Pin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer snap.Close()
	err = past.Changes(s.t.Context(), snap.Header(), from, to, func(revision int64, events []source.Event) error {
		s.onChanges(revision, events)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// rotate ends a chunk while etcd has changes that the recorder has not received, and checks that the next begins.
func (s *stepRecorder) rotate() {
	s.t.Helper()
	before := s.number
	s.put(5)
	s.o.ChunkAge = 0
	s.syncOrRotate(s.t.Context())
	s.o.ChunkAge = time.Hour
	if s.chunk == nil || s.number != before+1 {
		s.t.Fatalf("chunk %d is written, want %d: %v", s.number, before+1, s.lines)
	}
}

// changesOf returns the revisions of the recorded changes.
func (s *stepRecorder) changesOf(from, to int64) (revisions []int64) {
	s.t.Helper()
	src, err := source.Open(s.t.Context(), s.o.Dir, source.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer src.Close()
	err = src.(source.Past).Changes(s.t.Context(), source.Header{Root: "by-dev"}, from, to,
		func(revision int64, events []source.Event) error {
			for range events {
				revisions = append(revisions, revision)
			}
			return nil
		})
	if err != nil {
		s.t.Fatal(err)
	}
	return revisions
}

// checkStates compares the recording with etcd at each revision.
func (s *stepRecorder) checkStates(from, to int64) {
	s.t.Helper()
	src, err := source.Open(s.t.Context(), s.o.Dir, source.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer src.Close()
	for revision := from; revision <= to; revision++ {
		snap, err := src.(source.Past).PinAt(s.t.Context(), source.Header{}, revision)
		if err != nil {
			s.t.Fatalf("revision %d of %d to %d: %v", revision, from, to, err)
		}
		var got, want []string
		err = snap.Scan(s.t.Context(), []source.Range{{}}, func(kv source.KV) error {
			got = append(got, fmt.Sprintf("%s %d", kv.Key, kv.ModRevision))
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
		_ = snap.Close()
		all, err := s.etcd.Client.Get(s.t.Context(), "by-dev/", clientv3.WithPrefix(), clientv3.WithRev(revision))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, kv := range all.Kvs {
			want = append(want, fmt.Sprintf("%s %d", kv.Key, kv.ModRevision))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			s.t.Errorf("revision %d: %v, etcd has %v", revision, got, want)
		}
	}
}

func (s *stepRecorder) reported(part string) bool {
	return slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, part) })
}

// TestReconnectDuringRotation checks that no change is lost or repeated if the connection breaks before the
// recorder has received all changes included in the next chunk's base keys.
func TestReconnectDuringRotation(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.begin()
	first := s.chunk.header.Revision
	s.rotate()
	from := s.put(3)
	s.pin(t.Context()) // fetches the missed changes
	last := s.put(3)
	s.receive(from, last)
	s.syncOrRotate(t.Context())
	if s.chunk == nil || len(s.lines) > 0 {
		t.Errorf("it says %v", s.lines)
	}
	s.checkStates(first, last)
	from = s.chunk.changes.Revision()
	s.rotate()
	s.receive(from, s.put(3)) // the chunk already has the first ones
	s.syncOrRotate(t.Context())
	last = s.put(3)
	s.receive(s.chunk.changes.Revision(), last)
	s.syncOrRotate(t.Context())
	s.checkStates(first, last)
	if told := s.changesOf(first, last); !slices.IsSorted(told) || int64(len(slices.Compact(told))) != last-first {
		t.Errorf("changes of revisions %v, want one of each of %d to %d", told, first+1, last)
	}
}

// TestEndedMeanwhile checks that a recorder that ends while it fetches missed changes or base keys reports no
// error, and that the next start fetches them.
func TestEndedMeanwhile(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	s := newSteps(t)
	s.pin(ended)
	if s.chunk != nil || len(s.lines) > 0 {
		t.Errorf("during the first keys it says %v", s.lines)
	}
	s.begin()
	first, last := s.chunk.header.Revision, s.put(5)
	s.pin(ended)
	if len(s.lines) > 0 {
		t.Errorf("it says %v", s.lines)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), s.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.lock.release)
	s.Recorder = again
	s.pin(t.Context())
	s.checkStates(first, last)
}

// TestEtcdThatIsDown checks that an outage of etcd is recorded: as a gap at its revision, and as silent health in
// the round.
func TestEtcdThatIsDown(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.begin()
	fine := &model.Etcd{At: s.now, Members: []model.EtcdMember{{Name: "one", Leader: true}}}
	s.onUpdate(t.Context(), history.Update{Cluster: model.Build(model.Parts{}).WithEtcd(fine)})
	s.round(nil, 0)
	before := s.put(1)
	s.receive(s.chunk.changes.Revision(), before)
	s.onUpdate(t.Context(), history.Update{Err: errors.New("connection refused")})
	s.round(nil, 0)
	s.onUpdate(t.Context(), history.Update{})
	last := s.put(1)
	s.receive(before, last)
	s.round(nil, 0)

	src, err := source.Open(t.Context(), s.o.Dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for revision, want := range map[int64]bool{before - 1: false, before: true, last: false} {
		snap, err := src.(source.Past).PinAt(t.Context(), source.Header{}, revision)
		if err == nil {
			err = snap.Scan(t.Context(), []source.Range{{}}, func(source.KV) error { return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		gaps := snap.Gaps()
		if got := len(gaps) == 1 && strings.Contains(gaps[0].Reason, "connection refused") && gaps[0].Unrecorded; got !=
			want || !got && len(gaps) > 0 {
			t.Errorf("revision %d has gaps %+v", revision, gaps)
		}
	}
	chunks, err := src.(*source.Recording).Chunks(t.Context(), last, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var silent []bool
	err = chunks[len(chunks)-1].History(t.Context(), func(m source.HistoryMember) error {
		if m.Kind != session.RoundMember {
			return nil
		}
		var head struct{ Etcd *model.Etcd }
		line, _, _ := bytes.Cut(m.Content, []byte("\n"))
		err := json.Unmarshal(line, &head)
		silent = append(silent, head.Etcd.Unresponsive())
		return err
	})
	if err != nil || !slices.Equal(silent, []bool{false, true, false}) {
		t.Errorf("etcd is silent in its rounds: %v, %v", silent, err)
	}
}

// TestAnotherCluster checks that a different etcd with the same root and later revisions is not joined to the
// recording, by a running recorder or after a restart.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		s := newSteps(t)
		s.begin()
		other := newSteps(t)
		first := other.put(30)
		s.etcd, s.src = other.etcd, other.src
		if restarts {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := Open(t.Context(), s.o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(again.lock.release)
			s.Recorder = again
		}
		s.pin(t.Context())
		s.syncOrRotate(t.Context())
		s.checkStates(first, first)
		src, err := source.Open(t.Context(), s.o.Dir, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if oldest, err := src.(source.Past).Oldest(t.Context(), source.Header{}); err != nil || oldest != first {
			t.Errorf("the recording begins at revision %d, want %d: %v", oldest, first, err)
		}
	}
}

// TestKeysLargerThanAChunk checks that base keys larger than ChunkSize do not fill a chunk, and that a MaxSize too
// small for a history is reported.
func TestKeysLargerThanAChunk(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 20 {
		noise := make([]byte, 1000)
		for j := range noise {
			noise[j] = byte('a' + random.IntN(26))
		}
		if _, err := s.etcd.Client.Put(t.Context(), fmt.Sprintf("by-dev/meta/large/%02d", i), string(noise)); err !=
			nil {
			t.Fatal(err)
		}
	}
	s.o.ChunkSize, s.o.MaxSize = 2000, 16_000
	s.begin()
	for range 3 {
		s.syncOrRotate(t.Context())
		s.receive(s.chunk.changes.Revision(), s.put(2))
	}
	if names, err := source.ChunkNames(s.o.Dir); err != nil || len(names) != 1 {
		t.Errorf("%v of a few changes: %v", names, err)
	}
	if len(s.lines) != 1 || !s.reported("--max-size") {
		t.Errorf("it says %q", s.lines)
	}
}
