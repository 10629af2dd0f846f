package source_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// snapshots is the directory with captures of real servers.
const snapshots = "../../testdata/snapshots"

func folders() []string {
	return []string{
		"standalone-2.1.0", "standalone-2.2.16", "standalone-2.3.5", "cluster-2.3.5-t1", "cluster-2.3.5-t7",
		"upgrade-2.2.16", "rollback-2.1.0",
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gunzip(t testing.TB, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func gzipBytes(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// store writes a file to the test's temporary directory and returns its path.
func store(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a source. With a user name it waits longer, because etcd hashes the password (bcrypt), which takes
// seconds in parallel tests under the race detector.
func open(t testing.TB, from string, opts source.Options) source.Source {
	t.Helper()
	if opts.Username != "" {
		opts.DialTimeout = cmp.Or(opts.DialTimeout, time.Minute)
	}
	src, err := source.Open(t.Context(), from, opts)
	if err != nil {
		t.Fatalf("Open %s: %v", from, err)
	}
	return src
}

// bundleOf returns a bundle of src.
func bundleOf(t testing.TB, src source.Source) []byte {
	t.Helper()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := source.WriteBundle(t.Context(), &out, snap, source.BundleInfo{Kitescope: "test"}, nil, nil); err !=
		nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, name := range folders() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testFiles(t, filepath.Join(snapshots, name))
		})
	}
}

func testFiles(t *testing.T, folder string) {
	t.Helper()
	dump := sourcetest.ReadDump(t, folder)
	want := sourcetest.Want{
		Kind: source.KindEtcdSnapshot, Root: "by-dev", MetaPath: "meta",
		Revision: dump.Revision, Keys: dump.Keys, Exact: true,
	}
	packed := readFile(t, filepath.Join(folder, "etcd_snapshot.db.gz"))
	plain := gunzip(t, packed)
	path := store(t, "etcd_snapshot.db", plain)
	run := func(name, from string, opts source.Options, want sourcetest.Want) {
		t.Run(name, func(t *testing.T) { sourcetest.Run(t, open(t, from, opts), want) })
	}
	run("db", path, source.Options{}, want)
	run("db as URI", "file://"+path, source.Options{Root: "by-dev"}, want)
	run("member database", store(t, "db", plain[:len(plain)-32]), source.Options{Root: "by-dev/meta"}, want)
	run("db.gz", store(t, "snapshot.db.gz", packed), source.Options{}, want)
	run("db.gz.gz", store(t, "snapshot.db.gz.gz", gzipBytes(t, packed)), source.Options{}, want)
	run("piped db", "-", source.Options{Stdin: bytes.NewReader(plain)}, want)
	run("piped db.gz", "-", source.Options{Stdin: bytes.NewReader(packed)}, want)

	bundled := want
	bundled.Kind = source.KindBundle
	bundled.Keys = dump.WithPrefix("by-dev/")
	bundle := bundleOf(t, open(t, path, source.Options{}))
	run("bundle", store(t, "cluster.kite", bundle), source.Options{}, bundled)
	run("piped bundle", "-", source.Options{Stdin: bytes.NewReader(bundle)}, bundled)
	run("bundle.gz", store(t, "cluster.kite.gz", gzipBytes(t, bundle)), source.Options{}, bundled)

	backup := filepath.Join(folder, "birdwatcher_backup.bak.gz")
	if _, err := os.Stat(backup); err == nil {
		saved := want
		saved.Kind, saved.Exact, saved.Keys = source.KindBackup, false, dump.WithPrefix("by-dev/meta/")
		run("backup", backup, source.Options{}, saved)
		run("backup, unpacked", store(t, "backup.bak", gunzip(t, readFile(t, backup))), source.Options{}, saved)
		run("piped backup", "-", source.Options{Stdin: bytes.NewReader(readFile(t, backup))}, saved)
		run("backup v1", store(t, "v1.bak.gz", gzipBytes(t, backupV1(saved.Keys))), source.Options{},
			withoutRevision(saved))
	}
}

func withoutRevision(w sourcetest.Want) sourcetest.Want {
	w.Revision = 0
	return w
}

func TestConformanceLive(t *testing.T) {
	for _, name := range []string{"standalone-2.1.0", "standalone-2.2.16", "standalone-2.3.5", "cluster-2.3.5-t7"} {
		t.Run(name, func(t *testing.T) {
			dump := sourcetest.ReadDump(t, filepath.Join(snapshots, name))
			server := sourcetest.StartEtcd(t, nil)
			server.Load(t, dump.Keys)
			want := sourcetest.Want{Kind: source.KindEtcd, Root: "by-dev", MetaPath: "meta", Keys: dump.Keys}
			sourcetest.Run(t, open(t, "etcd://"+server.Address, source.Options{}), want)

			want.Kind, want.Keys = source.KindBundle, dump.WithPrefix("by-dev/")
			live := open(t, "etcd://"+server.Address+"/by-dev", source.Options{})
			t.Cleanup(func() { _ = live.Close() })
			sourcetest.Run(t, open(t, "-", source.Options{Stdin: bytes.NewReader(bundleOf(t, live))}), want)
			testMember(t, server, dump)
		})
	}
}

// testMember reads the database of the running server after a commit of its pending writes.
func testMember(t *testing.T, server *sourcetest.Server, dump sourcetest.Dump) {
	t.Helper()
	server.Etcd.Server.KV().Commit()
	want := sourcetest.Want{Kind: source.KindEtcdSnapshot, Root: "by-dev", MetaPath: "meta", Keys: dump.Keys}
	sourcetest.Run(t, open(t, server.Dir, source.Options{}), want)
}

// collect returns all keys and values of a snapshot.
func collect(ctx context.Context, snap source.Snapshot) (map[string]string, error) {
	got := map[string]string{}
	err := snap.Scan(ctx, []source.Range{{}}, func(kv source.KV) error {
		got[string(kv.Key)] = string(kv.Value)
		return nil
	})
	return got, err
}
