package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestTailOfARecording: what is written behind the end of a recording is told, with its past, and a chunk that comes.
func TestTailOfARecording(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	put := func(n int) int64 {
		r, err := server.Client.Put(t.Context(), "by-dev/meta/root-coord/database/db-info/1", strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		return r.Header.Revision
	}
	first := put(1)
	live, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	began := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	chunk := func(from, to int64) []byte {
		past, err := source.PastOf(live)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := live.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer newest.Close()
		snap, err := past.PinAt(t.Context(), newest.Header(), from)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		var out bytes.Buffer
		head := snap.Header()
		head.Taken = began
		w, err := source.NewBundleWriter(&out, head, source.BundleInfo{Kitescope: "test", History: &source.ManifestHistory{Oldest: from, Recorded: true}})
		if err == nil {
			err = w.Base(t.Context(), snap, nil, nil)
		}
		changes := w.Changes(from)
		if err == nil {
			err = past.Changes(t.Context(), newest.Header(), from, to, func(revision int64, events []source.Event) error {
				return changes.Add(began.Add(time.Duration(revision)*time.Second), revision, events)
			})
		}
		if err == nil {
			err = changes.Flush(began.Add(time.Duration(to) * time.Second))
		}
		if err == nil {
			err = w.Settle()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	dir := t.TempDir()
	write := func(n int, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, source.ChunkName(n, began)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := put(2)
	write(1, chunk(first, second))
	u, updates, err := stepping(t, dir, "")
	if err != nil || u.Past == nil || u.Cluster.Origin.Revision != second || u.Live {
		t.Fatalf("%+v, %v", u, err)
	}
	past := u.Past
	next := func(want int64) {
		t.Helper()
		deadline := time.After(time.Minute)
		for {
			select {
			case u = <-updates:
				if u.Err != nil || u.Past != nil {
					t.Fatalf("%+v", u)
				}
				if u.Cluster != nil && u.Cluster.Origin.Revision == want {
					return
				}
			case <-deadline:
				t.Fatalf("revision %d is not told", want)
			}
		}
	}
	third := put(3)
	write(1, chunk(first, third))
	next(third)
	c, err := at(t, past, second)
	if err != nil || c.Origin.Revision != second {
		t.Fatalf("the past: %v", err)
	}
	fourth := put(4)
	write(2, chunk(third, fourth))
	next(fourth)
	h, err := past.History(t.Context())
	if err != nil || h.To != fourth || h.From != first {
		t.Errorf("history %v", err)
	}
	if c, err := at(t, past, third); err != nil || c.Origin.Revision != third {
		t.Errorf("a moment between: %v", err)
	}
	select {
	case u = <-updates:
		t.Errorf("told without anything new: %+v", history.Update{Err: u.Err, Progress: u.Progress})
	case <-time.After(5 * time.Second):
	}
}
