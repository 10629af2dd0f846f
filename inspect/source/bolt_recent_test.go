package source_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// saveSnapshot writes a snapshot of a server, as etcdctl snapshot save does, and returns its path.
func saveSnapshot(t *testing.T, server *sourcetest.Server) string {
	t.Helper()
	from, err := server.Client.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(t.TempDir(), "snapshot.db")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, from); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func recent(t *testing.T, path string) *model.EtcdActivity {
	t.Helper()
	src := open(t, path, source.Options{})
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return snap.Header().Recent
}

// TestRecentWritesOfAFile counts the writes of a real etcd between timestamp reservations, one every three
// seconds.
func TestRecentWritesOfAFile(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	put := func(key, value string) int64 {
		t.Helper()
		r, err := server.Client.Put(t.Context(), key, value)
		if err != nil {
			t.Fatal(err)
		}
		return r.Header.Revision
	}
	put("by-dev/meta/session/id", "1")
	start := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	reserve := func(i int) int64 {
		return put("by-dev/kv/gid/timestamp",
			string(binary.BigEndian.AppendUint64(nil, uint64(start.Add(time.Duration(i)*3*time.Second).UnixNano()))))
	}
	const hot = "by-dev/meta/channelwatch/9/by-dev-rootcoord-dml_6_470590612869480449v0"
	var before int64
	for i := range 41 { // two minutes
		before = reserve(i)
		if i < 20 { // before the last minute
			put("by-dev/meta/old", strconv.Itoa(i))
			continue
		}
		for j := range 4 {
			put(hot, fmt.Sprint(i, j))
		}
		// so that its version is not a count of writes
		if _, err := server.Client.Delete(t.Context(), hot); err != nil {
			t.Fatal(err)
		}
		put("other/root", "x")
	}
	path := saveSnapshot(t, server)
	a := recent(t, path)
	if a == nil {
		t.Fatal("nothing was counted")
	}
	// Writes from the last reservation on have no time.
	if a.Over != time.Minute {
		t.Errorf("counted over %s, want a minute", a.Over)
	}
	if a.Revisions != 20*7 || a.Writes != 20*6 {
		t.Errorf("%d revisions, %d writes under the root, want 140 and 120", a.Revisions, a.Writes)
	}
	if len(a.Hot) != 2 || a.Hot[0] != (model.KeyWrites{Key: hot, Writes: 100}) ||
		a.Hot[1] != (model.KeyWrites{Key: "by-dev/kv/gid/timestamp", Writes: 20}) {
		t.Errorf("hot keys: %v", a.Hot)
	}

	if _, err := server.Client.Compact(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if a := recent(t, saveSnapshot(t, server)); a != nil {
		t.Errorf("history is compacted up to the last reservation: %+v", a)
	}
	end := reserve(42)
	for i := range 5 {
		put(hot, fmt.Sprint("again", i))
	}
	reserve(44)
	if a := recent(t, saveSnapshot(t, server)); a == nil || a.Over != 6*time.Second || a.Revisions != 6 ||
		a.Writes != 6 {
		t.Errorf("two reservations since the compaction (%d): %+v", end, a)
	}
}

// TestRecentWritesOfCaptures checks that a healthy Milvus writes no key more than once in three seconds, and a
// Milvus in a livelock writes twelve keys more often.
func TestRecentWritesOfCaptures(t *testing.T) {
	captures, err := filepath.Glob("../../testdata/snapshots/*/etcd_snapshot.db.gz")
	if err != nil || len(captures) < 10 {
		t.Fatalf("captures: %d, %v", len(captures), err)
	}
	for _, path := range captures {
		a := recent(t, path)
		if a == nil || a.Over < 20*time.Second || a.Over > time.Minute {
			t.Errorf("%s: %+v", path, a)
			continue
		}
		t.Logf("%s: %d revisions in %s, most: %v", filepath.Base(filepath.Dir(path)), a.Revisions, a.Over, a.Hot[0])
		often, want := 0, 0
		if strings.Contains(path, "livelock") {
			want = 12
		}
		for _, k := range a.Hot {
			if float64(k.Writes) > 0.5*a.Over.Seconds() {
				often++
			}
		}
		if often != want {
			t.Errorf("%s: %d keys are written more often than every other second, want %d: %v", path, often, want,
				a.Hot)
		}
	}
}
