package source_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// scanError opens, pins and scans a whole file, and returns the error.
func scanError(t *testing.T, from string, opts source.Options) error {
	t.Helper()
	src, err := source.Open(t.Context(), from, opts)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		return err
	}
	_, err = collect(t.Context(), snap)
	return err
}

func TestBadFiles(t *testing.T) {
	folder := filepath.Join(snapshots, "standalone-2.3.5")
	packed := readFile(t, filepath.Join(folder, "etcd_snapshot.db.gz"))
	db := gunzip(t, packed)
	backup := readFile(t, filepath.Join(folder, "birdwatcher_backup.bak.gz"))
	plainBackup := gunzip(t, backup)
	bundle := bundleOf(t, open(t, store(t, "x.db", db), source.Options{}))
	noMeta := bytes.Clone(db)
	clear(noMeta[:2*4096])
	badMeta := bytes.Clone(db)
	badMeta[16+50]++
	badMeta[4096+16+50]++
	cases := []struct {
		name            string
		content         []byte
		inError, inHint string
	}{
		{"empty", nil, "empty (0 bytes)", "again"},
		{"random", noise(300 << 10), "not a file that holds Milvus metadata", "etcdctl snapshot save"},
		{"short random", noise(3), "not a file that holds", "birdwatcher"},
		{"zeros", make([]byte, 64<<10), "zero bytes", "etcdctl snapshot save"},
		{"JSON", []byte(`{"header":{"revision":12}}`), "JSON is not a snapshot", "etcdctl snapshot save"},
		{"text", []byte("root:x:0:0:root"), "not a file that holds", "bundle"},
		{"gzip of random", gzipBytes(t, noise(1000)), "not a file that holds", "bundle"},
		{"gzip of nothing", gzipBytes(t, nil), "cut off", "copy it again"},
		{"half a gzip of random", gzipBytes(t, noise(1000))[:8], "cut off", "copy it again"},
		{"gzip in gzip in gzip in gzip", gzipBytes(t, gzipBytes(t, gzipBytes(t, packed))), "more than 3 times", ""},
		{"db, first half", db[:len(db)/2], "truncated: has 114704 of 229376 bytes", "--salvage"},
		{"db, without the last byte", db[:len(db)-33], "truncated", "--salvage"},
		{"db, 3 pages", db[:3*4096], "truncated", "--salvage"},
		{"db.gz, first half", packed[:len(packed)/2], "compressed file is cut off", "--salvage"},
		{"db without meta pages", noMeta, "not a file that holds", "etcdctl"},
		{"db with damaged meta pages", badMeta, "checksum", "copy it again"},
		{"bbolt of something else", otherBolt(t), "not etcd's", `bucket "key"`},
		{"backup, first half", backup[:len(backup)/2], "cut off after record", "--salvage"},
		{"backup, plain, first half", plainBackup[:len(plainBackup)/2], "cut off after record", "--salvage"},
		{"backup without stopper", plainBackup[:len(plainBackup)-8], "has 432 of 432 keys", "--salvage"},
		{"backup, header only", plainBackup[:10], "cut off after record 1", "again"},
		{
			"backup of a later version", frame(nil, varintField(nil, 1, 3)),
			"unknown birdwatcher backup version 3", "newer kitescope",
		},
		{
			"backup with an endless record",
			append(bytes.Clone(plainBackup[:96]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "claims to have",
			"--salvage",
		},
		{"bundle, first half", bundle[:len(bundle)/2], "cut off", "--salvage"},
		{"bundle, last bytes gone", bundle[:len(bundle)-20], "", "--salvage"},
		{"zstd of something else", zstdOf(t, []byte("hello")), "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := scanError(t, store(t, "file", c.content), source.Options{})
			if c.inHint == "" {
				if err == nil || !strings.Contains(err.Error(), c.inError) {
					t.Errorf("error %v, want %q in it", err, c.inError)
				}
				return
			}
			expectHint(t, err, c.inError, c.inHint)
			piped := scanError(t, "-", source.Options{Stdin: bytes.NewReader(c.content)})
			expectHint(t, piped, c.inError, c.inHint)
		})
	}
}

// otherBolt returns a bbolt file that is not from etcd.
func otherBolt(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("settings"))
		if err != nil {
			return err
		}
		return b.Put([]byte("a"), []byte("b"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return readFile(t, path)
}

func TestBadPlaces(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := listener.Addr().String()
	t.Cleanup(func() { _ = listener.Close() })
	const closed, closedToo = "127.0.0.1:1", "127.0.0.1:2" // a free port may be taken by another process meanwhile
	cases := []struct{ from, inError, inHint string }{
		{"", "no source", "--from"},
		{"-", "no standard input", "pipe"},
		{"localhost:2379", "no such file", "did you mean etcd://localhost:2379?"},
		{"10.0.0.1:2379,10.0.0.2:2379", "no such file", "did you mean etcd://10.0.0.1:2379,10.0.0.2:2379?"},
		{"missing.db", "no such file", "etcd://host:port"},
		{t.TempDir(), "a directory without", "data directory"},
		{"http://h:2379", "not read over http", "did you mean etcd://h:2379?"},
		{"https://h:2379/by-dev", "not read over https", "did you mean etcds://h:2379/by-dev?"},
		{"ftp://h/x", `unknown scheme "ftp"`, "etcd://"},
		{"etcd://me:pass@h:1/by-dev", "password", "KITESCOPE_ETCD_PASSWORD"},
		{"etcd://h:99999", "port", "HOST:PORT"},
		{"etcd://", "missing host", "HOST:PORT"},
		{"etcd://h:2379/by-dev?x=y", "no ? or # part", "flags"},
		{"etcd://" + closed, "connection refused", "listens there"},
		{"etcd://" + closed + "," + closedToo, "none of 2 endpoints responds", "listens there"},
		{"etcds://" + closed, "connection refused", "listens there"},
		{"etcd://no-such-host.invalid", "no such host", "host name"},
		{"etcd://" + silent, "no response within", "firewall"},
	}
	for _, c := range cases {
		t.Run(c.from, func(t *testing.T) {
			start := time.Now()
			err := pinError(t, c.from, source.Options{DialTimeout: 2 * time.Second})
			expectHint(t, err, c.inError, c.inHint)
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("took %s", took)
			}
			if err != nil && strings.Contains(err.Error(), "pass@") {
				t.Errorf("the password is in the error %q", err)
			}
		})
	}
}

func TestWebServerIsNoEtcd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = c.Close()
		}
	}()
	expectHint(t, pinError(t, "etcd://"+l.Addr().String(), source.Options{}), "a web server responds there",
		"client port")
}

func TestMemoryLimit(t *testing.T) {
	packed := readFile(t, filepath.Join(snapshots, "standalone-2.3.5", "etcd_snapshot.db.gz"))
	opts := source.Options{MemoryLimit: 100 << 10}
	expectHint(t, scanError(t, store(t, "big.db.gz", packed), opts), "do not fit into memory", "unpack it")
	opts.Stdin = bytes.NewReader(gunzip(t, packed))
	expectHint(t, scanError(t, "-", opts), "do not fit into memory", "unpack it")
	if err := scanError(t, store(t, "big.db", gunzip(t, packed)), opts); err != nil {
		t.Errorf("a plain file is read in place, but: %v", err)
	}
}

func TestSalvage(t *testing.T) {
	folder := filepath.Join(snapshots, "standalone-2.3.5")
	dump := sourcetest.ReadDump(t, folder)
	packed := readFile(t, filepath.Join(folder, "etcd_snapshot.db.gz"))
	db := gunzip(t, packed)
	leaf := dataLeaf(t, db)
	spoiled := bytes.Clone(db)
	binary.LittleEndian.PutUint16(spoiled[leaf+8:], 0x77)
	badMeta := bytes.Clone(db)
	badMeta[16+50]++
	badMeta[4096+16+50]++
	backup := readFile(t, filepath.Join(folder, "birdwatcher_backup.bak.gz"))
	bundle := bundleOf(t, open(t, store(t, "x.db", db), source.Options{}))
	for name, content := range map[string][]byte{
		"db, two thirds": db[:len(db)*2/3], "db with a bad page": spoiled,
		"db with damaged meta pages": badMeta,
		"db.gz, nine tenths":         packed[:len(packed)*9/10],
		"backup, half":               backup[:len(backup)/2], "bundle, end gone": bundle[:len(bundle)-30],
	} {
		t.Run(name, func(t *testing.T) {
			path := store(t, "file", content)
			expectHint(t, scanError(t, path, source.Options{}), "", "--salvage")
			src := open(t, path, source.Options{Salvage: true})
			defer func() { _ = src.Close() }()
			snap, err := src.Pin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := collect(t.Context(), snap)
			if err != nil {
				t.Fatal(err)
			}
			if len(snap.Gaps()) == 0 {
				t.Error("no gap is reported")
			}
			// Without the newest records, deleted keys may be restored and changed keys may have old values;
			// the gaps warn of this. But most keys must be right.
			right := 0
			for _, kv := range dump.Keys {
				if value, ok := got[string(kv.Key)]; ok && value == string(kv.Value) {
					right++
				}
			}
			if !strings.HasPrefix(name, "bundle") && right < len(dump.Keys)/4 {
				t.Errorf("%d of %d keys are right", right, len(dump.Keys))
			}
			t.Logf("%d keys, %d of %d right, gaps %v", len(got), right, len(dump.Keys), snap.Gaps())
		})
	}
}

// dataLeaf returns the offset of a leaf page with many records.
func dataLeaf(t *testing.T, db []byte) int {
	t.Helper()
	for at := 2 * 4096; at+4096 <= len(db); at += 4096 {
		flags, count := binary.LittleEndian.Uint16(db[at+8:]), binary.LittleEndian.Uint16(db[at+10:])
		pos := binary.LittleEndian.Uint32(db[at+16+4:])
		if flags == 2 && count > 5 && binary.LittleEndian.Uint32(db[at+16+8:]) == 17 && db[at+16+int(pos)+8] == '_' {
			return at
		}
	}
	t.Fatal("no leaf page")
	return 0
}

func TestSeveralRoots(t *testing.T) {
	var keys []source.KV
	for _, root := range []string{"by-dev/meta", "team/a/meta", "prod/metadata", "/slash/meta"} {
		for _, name := range []string{"session/id", "root-coord/database/db-info/1", "datacoord-meta/s/1/2/3"} {
			keys = append(keys, source.KV{Key: []byte(root + "/" + name), Value: []byte("1")})
		}
	}
	for _, other := range []string{"registry/pods/a", "registry/pods/b", "zoo", "by-dev/kv/gid/timestamp"} {
		keys = append(keys, source.KV{Key: []byte(other), Value: []byte("x")})
	}
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, keys)
	server.Etcd.Server.KV().Commit()
	found := []string{"/slash/meta", "by-dev/meta", "prod/metadata", "team/a/meta"}
	for _, from := range []string{"etcd://" + server.Address, server.Dir} {
		testRoots(t, from, found)
	}
}

func testRoots(t *testing.T, from string, found []string) {
	t.Helper()
	var root *source.RootError
	err := scanError(t, from, source.Options{})
	if !errors.As(err, &root) || strings.Join(root.Found, " ") != strings.Join(found, " ") {
		t.Errorf("%s: %v, want an error that lists %q", from, err, found)
	}
	expectHint(t, err, "several", "--root")
	err = scanError(t, from, source.Options{Root: "nowhere"})
	if !errors.As(err, &root) || root.Wanted != "nowhere" || len(root.Found) != len(found) {
		t.Errorf("%s: wrong root: %v", from, err)
	}
	for name, want := range map[string]string{
		"by-dev": "by-dev/meta", "by-dev/": "by-dev/meta", "by-dev/meta": "by-dev/meta", "team/a": "team/a/meta",
		"prod": "prod/metadata", "prod/metadata": "prod/metadata", "/slash": "/slash/meta", "slash": "/slash/meta",
	} {
		src := open(t, from, source.Options{Root: name})
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Errorf("%s: root %q: %v", from, name, err)
			continue
		}
		if h := snap.Header(); h.Root+"/"+h.MetaPath != want {
			t.Errorf("%s: root %q is %q, want %q", from, name, h.Root+"/"+h.MetaPath, want)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRootOfSessionsOnly registers a process under a root without a cluster, and writes a session counter under
// another. Neither must prevent the choice of the only cluster.
func TestRootOfSessionsOnly(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, []source.KV{
		{Key: []byte("by-dev/meta/session/id"), Value: []byte("9")},
		{Key: []byte("by-dev/meta/root-coord/database/db-info/1"), Value: []byte("1")},
		{Key: []byte("by-prod/meta/session/id"), Value: []byte("28")},
		{Key: []byte("by-prod/meta/session/querynode-27"), Value: []byte("{}")},
		{Key: []byte("old/meta/session/id"), Value: []byte("3")},
	})
	server.Etcd.Server.KV().Commit()
	for _, from := range []string{"etcd://" + server.Address, server.Dir} {
		for name, want := range map[string]string{"": "by-dev", "by-prod": "by-prod"} {
			src := open(t, from, source.Options{Root: name})
			defer func() { _ = src.Close() }()
			snap, err := src.Pin(t.Context())
			if err == nil {
				err = snap.Scan(t.Context(), []source.Range{{}}, func(source.KV) error { return nil })
			}
			if err != nil || snap.Header().Root != want {
				t.Errorf("%s, root %q: %v, %v", from, name, snap, err)
			}
			live, ok := src.(source.Live)
			if !ok || name != "" {
				continue
			}
			if h, err := live.Health(t.Context()); err != nil ||
				!slices.Equal(h.Elsewhere, []string{"by-prod/meta/session/querynode-27"}) {
				t.Errorf("health: %+v, %v", h, err)
			}
		}
	}
}

func TestRootFromURI(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, []source.KV{
		{Key: []byte("a/meta/session/id"), Value: []byte("1")}, {Key: []byte("b/meta/session/id"), Value: []byte("1")},
	})
	src := open(t, "etcd://"+server.Address+"/b", source.Options{})
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil || snap.Header().Root != "b" {
		t.Fatalf("root of the URI: %v, %v", snap, err)
	}
	if loc := snap.Header().Origin.Location; loc != "etcd://"+server.Address+"/b" {
		t.Errorf("location %q", loc)
	}
}

func TestEmptyEtcd(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	for _, from := range []string{"etcd://" + server.Address, "etcd://" + server.Address + "/by-dev"} {
		expectHint(t, pinError(t, from, source.Options{}), "no Milvus metadata", "milvus.yaml")
	}
}
