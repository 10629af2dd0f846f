package source_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestOverlappingPages checks leaves that claim their neighbors, so that each page would be read as a part of
// many others.
func TestOverlappingPages(t *testing.T) {
	changes, _ := history(3000)
	db := readFile(t, backend(t, nil, changes))
	const page = 4096
	for at := 2 * page; at < len(db)/2; at += page {
		if leaf := db[at+8] == 2; leaf && binary.LittleEndian.Uint64(db[at:]) == uint64(at/page) {
			binary.LittleEndian.PutUint32(db[at+12:], 5)
		}
	}
	err := scanError(t, store(t, "db", db), source.Options{})
	expectHint(t, err, "is inside another page", "--salvage")
}

// TestRootPrefersTheDefaultSubPath checks that "by-dev" selects the same root in an etcd and in a file where
// by-dev/other was written last.
func TestRootPrefersTheDefaultSubPath(t *testing.T) {
	keys := []string{"by-dev/meta/session/id", "by-dev/other/session/id"}
	var changes []change
	server := sourcetest.StartEtcd(t, nil)
	for _, key := range keys {
		changes = append(changes, change{key: key, value: "1"})
		server.Load(t, []source.KV{{Key: []byte(key), Value: []byte("1")}})
	}
	for _, from := range []string{backend(t, nil, changes), "etcd://" + server.Address} {
		for root, want := range map[string]string{
			"by-dev": "meta", "by-dev/": "meta", "by-dev/other": "other", "by-dev/meta": "meta",
		} {
			src := open(t, from, source.Options{Root: root})
			snap, err := src.Pin(t.Context())
			if err != nil {
				t.Fatalf("%s %s: %v", from, root, err)
			}
			if got := snap.Header().MetaPath; got != want {
				t.Errorf("%s: root %q is %s, want %s", from, root, got, want)
			}
			_ = src.Close()
		}
	}
}

// TestNothingRunsOn checks that interrupted reads and watches leave no goroutines.
func TestNothingRunsOn(t *testing.T) {
	server, _, _ := liveStore(t)
	file := filepath.Join(snapshots, "standalone-2.3.5", "etcd_snapshot.db.gz")
	before := goleak.IgnoreCurrent()
	for _, from := range []string{
		"etcd://" + server.Address, file, filepath.Join(snapshots, "standalone-2.3.5", "birdwatcher_backup.bak.gz"),
	} {
		src := open(t, from, source.Options{})
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, stop := range []error{nil, errors.New("enough")} {
			ctx, cancel := context.WithCancel(t.Context())
			seen := 0
			err := snap.Scan(ctx, []source.Range{{}}, func(source.KV) error {
				if seen++; seen == 5 {
					cancel()
					return stop
				}
				return nil
			})
			if err == nil {
				t.Logf("%s: was at its end when it was canceled", from)
			}
			cancel()
		}
		if w, ok := src.(source.Watcher); ok {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if err := w.Watch(ctx, snap.Header(), func(int64, []source.Event) error { return nil }); !errors.Is(err,
				context.DeadlineExceeded) {
				t.Errorf("watch ended with %v", err)
			}
			cancel()
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, before)
}

// TestFileAddress checks file:// addresses as written by file managers.
func TestFileAddress(t *testing.T) {
	changes, _ := history(10)
	path := store(t, "a b%.db", readFile(t, backend(t, nil, changes)))
	for _, from := range []string{"file://" + path, (&url.URL{Scheme: "file", Path: path}).String()} {
		if err := scanError(t, from, source.Options{}); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// TestLoginCanBeCanceled uses an etcd that accepts connections without responding.
func TestLoginCanBeCanceled(t *testing.T) {
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	before := goleak.IgnoreCurrent()
	src := open(t, "etcd://"+silent.Addr().String(), source.Options{
		Username: "u", Password: "p", DialTimeout: time.Minute,
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := src.Pin(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("Pin ended after %s with %v", time.Since(start), err)
	}
	_ = src.Close()
	goleak.VerifyNone(t, before)
}
