package source_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/internal/hints"
)

// change is one revision that a test writes to a bbolt file, in the layout of etcd.
type change struct {
	key, value string
	deleted    bool
}

func revisionKey(main int64, deleted bool) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(main))
	b = binary.BigEndian.AppendUint64(append(b, '_'), 0)
	if deleted {
		b = append(b, 't')
	}
	return b
}

func keyValue(main int64, c change) []byte {
	b := bytesField(nil, 1, []byte(c.key))
	if c.deleted {
		return b
	}
	b = varintField(b, 3, uint64(main))
	return bytesField(b, 5, []byte(c.value))
}

// backend writes changes as revisions 2, 3, ... with the bbolt library. It writes several in a transaction, so
// that pages are replaced as in a live store.
func backend(t testing.TB, options *bolt.Options, changes []change) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(path, 0o600, options)
	if err != nil {
		t.Fatal(err)
	}
	db.NoSync = true
	const batch = 500
	for from := 0; from == 0 || from < len(changes); from += batch {
		err := db.Update(func(tx *bolt.Tx) error {
			for _, other := range []string{"alarm", "auth", "cluster", "lease", "members", "meta"} {
				b, err := tx.CreateBucketIfNotExists([]byte(other))
				if err != nil {
					return err
				}
				if err := b.Put([]byte("clusterVersion"), []byte("3.5.0")); err != nil {
					return err
				}
			}
			b, err := tx.CreateBucketIfNotExists([]byte("key"))
			if err != nil {
				return err
			}
			b.FillPercent = 0.9
			for i := from; i < min(from+batch, len(changes)); i++ {
				main := int64(i + 2)
				if err := b.Put(revisionKey(main, changes[i].deleted), keyValue(main, changes[i])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// history returns n creations, changes and deletions, with values of various sizes, and the resulting live
// keys.
func history(n int) (changes []change, live map[string]string) {
	live = map[string]string{}
	for i := range n {
		key := fmt.Sprintf("by-dev/meta/root-coord/%04d", (i*7919)%(n/2+1))
		c := change{key: key, value: strings.Repeat("v", i%300) + strconv.Itoa(i)}
		switch {
		case i%11 == 3:
			c = change{key: key, deleted: true}
		case i%97 == 5:
			c.value = strings.Repeat("large", 5000+i)
		}
		changes = append(changes, c)
		if live[key] = c.value; c.deleted {
			delete(live, key)
		}
	}
	return changes, live
}

func TestBoltFiles(t *testing.T) {
	cases := map[string]struct {
		options *bolt.Options
		changes int
	}{
		"usual":                {nil, 3000},
		"pages of 1 KiB":       {&bolt.Options{PageSize: 1024}, 3000},
		"pages of 16 KiB":      {&bolt.Options{PageSize: 16 << 10}, 3000},
		"pages of 64 KiB":      {&bolt.Options{PageSize: 64 << 10}, 1000},
		"no free list on disk": {&bolt.Options{NoFreelistSync: true}, 1000},
		"one change":           {nil, 1},
		"few, in one page":     {nil, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			changes, live := history(c.changes)
			src := open(t, backend(t, c.options, changes), source.Options{})
			defer func() { _ = src.Close() }()
			snap := pin(t, src)
			got, err := collect(t.Context(), snap)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(live) {
				t.Errorf("%d keys, want %d", len(got), len(live))
			}
			for key, value := range live {
				if got[key] != value {
					t.Errorf("key %s has %d bytes, want %d", key, len(got[key]), len(value))
				}
			}
			if rev := snap.Header().Revision; rev != int64(c.changes+1) {
				t.Errorf("revision %d, want %d", rev, c.changes+1)
			}
		})
	}
}

func TestBoltWithoutMilvus(t *testing.T) {
	for name, changes := range map[string][]change{
		"no keys": nil, "other keys": {{key: "registry/pods/x", value: "y"}},
		"deleted root": {{key: "by-dev/meta/session/id", value: "1"}, {key: "by-dev/meta/session/id", deleted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			expectHint(t, scanError(t, backend(t, nil, changes), source.Options{}), "no Milvus metadata", "milvus.yaml")
		})
	}
}

func TestDeletedRootIsNoSecondRoot(t *testing.T) {
	path := backend(t, nil, []change{
		{key: "old/meta/session/id", value: "1"},
		{key: "by-dev/meta/session/id", value: "1"},
		{key: "old/meta/session/id", deleted: true},
	})
	if err := scanError(t, path, source.Options{}); err != nil {
		t.Error(err)
	}
}

func TestBoltBadRecords(t *testing.T) {
	path := backend(t, nil, []change{
		{key: "by-dev/meta/session/id", value: "1"}, {key: "by-dev/meta/session/x", value: "2"},
	})
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("key"))
		if err := b.Put([]byte("short"), []byte("?")); err != nil {
			return err
		}
		return b.Put(revisionKey(9, false), []byte{0xff, 0xff, 0xff})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src := open(t, path, source.Options{})
	defer func() { _ = src.Close() }()
	snap := pin(t, src)
	got, err := collect(t.Context(), snap)
	if err != nil || len(got) != 2 {
		t.Errorf("%d keys, %v", len(got), err)
	}
	gaps := snap.Gaps()
	if len(gaps) != 1 || gaps[0].Count != 2 || !strings.Contains(gaps[0].Reason, "not key-values") {
		t.Errorf("gaps %v, want one of 2 records", gaps)
	}
}

func TestDamagedPages(t *testing.T) {
	changes, _ := history(300)
	good := readFile(t, backend(t, nil, changes))
	for at := 2 * 4096; at+4096 <= len(good); at += 4096 {
		for name, spoil := range map[string]func([]byte){
			"type":     func(p []byte) { binary.LittleEndian.PutUint16(p[8:], 4) },
			"count":    func(p []byte) { binary.LittleEndian.PutUint16(p[10:], 60000) },
			"overflow": func(p []byte) { binary.LittleEndian.PutUint32(p[12:], 1<<30) },
			"number":   func(p []byte) { binary.LittleEndian.PutUint64(p, 1<<50) },
			"offset":   func(p []byte) { binary.LittleEndian.PutUint32(p[16+4:], 1<<31) },
			"size":     func(p []byte) { binary.LittleEndian.PutUint32(p[16+8:], 1<<31) },
			"zeros":    func(p []byte) { clear(p) },
			"child":    func(p []byte) { binary.LittleEndian.PutUint64(p[16+8:], 3) },
		} {
			bad := bytes.Clone(good)
			spoil(bad[at : at+4096])
			// Damage to a free page may have no effect. Any other damage must be an error, without a panic.
			err := scanError(t, "-", source.Options{Stdin: bytes.NewReader(bad)})
			var h *hints.Error
			if err != nil && !errors.As(err, &h) {
				t.Errorf("page %d, %s: error without a hint: %v", at/4096, name, err)
			}
			if err := scanError(t, "-", source.Options{Stdin: bytes.NewReader(bad), Salvage: true}); err != nil {
				var root *source.RootError
				if !errors.As(err, &root) && !strings.Contains(err.Error(), "not etcd's") {
					t.Errorf("page %d, %s: not salvaged: %v", at/4096, name, err)
				}
			}
		}
	}
}

// TestMemberDatabaseInUse reads the database of an etcd while it is written.
func TestMemberDatabaseInUse(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5")).Keys)
	server.Etcd.Server.KV().Commit()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_, _ = server.Client.Put(t.Context(), fmt.Sprintf("by-dev/meta/root-coord/x%d", i%500),
				strings.Repeat("x", 1000))
		}
	}()
	defer func() { close(stop); <-done }()
	read := 0
	for range 20 {
		err := scanError(t, server.Dir, source.Options{})
		if err == nil {
			read++
			continue
		}
		// A failed read must report the reason.
		expectHint(t, err, "changed while it was read", "snapshot save")
	}
	if read == 0 {
		t.Error("not read once in 20 times")
	}
}

func TestFileThatChangesInPlace(t *testing.T) {
	changes, _ := history(1000)
	path := backend(t, nil, changes)
	later := func() time.Time { return time.Now().Add(time.Hour) }
	src := open(t, path, source.Options{Now: later})
	defer func() { _ = src.Close() }()
	snap := pin(t, src)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("alarm")).Put([]byte("a"), []byte("b"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = collect(t.Context(), snap)
	expectHint(t, err, "changed while it was read", "snapshot save")
}

// TestTakenComesFromTheFile compares the time of a snapshot with the capture time in the README of the
// fixtures, regardless of the date of the copy.
func TestTakenComesFromTheFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"standalone-2.1.0":  "2026-11-20T07:46:53Z",
		"standalone-2.2.16": "2026-11-20T07:52:43Z",
		"standalone-2.3.5":  "2026-11-20T07:56:24Z",
	} {
		captured, err := time.Parse(time.RFC3339, want)
		if err != nil {
			t.Fatal(err)
		}
		path := store(t, "copy.db", gunzip(t, readFile(t, filepath.Join(snapshots, name, "etcd_snapshot.db.gz"))))
		snap, err := open(t, path, source.Options{}).Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if h := snap.Header(); h.FileDate || h.Taken.Sub(captured).Abs() > 10*time.Second {
			t.Errorf("%s: taken %s (file date: %v), captured %s", name, h.Taken, h.FileDate, want)
		}
	}
}
