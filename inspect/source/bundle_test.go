package source_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// packer is shared by all tests, because an encoder takes megabytes and fuzzing would create one for each
// input.
var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
})

func zstdOf(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := packer()
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// member is one file of a tar stream.
type member struct {
	name    string
	content []byte
}

// untar lists the members of a bundle with only zstd and tar, without package source.
func untar(t testing.TB, bundle []byte) []member {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(bundle))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var members []member
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return members
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, member{h.Name, content})
	}
}

func retar(t testing.TB, members []member) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{
			Name: m.name, Size: int64(len(m.content)), Mode: 0o644, Typeflag: tar.TypeReg,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zstdOf(t, out.Bytes())
}

func testBundle(t testing.TB) []byte {
	t.Helper()
	return bundleOf(t, open(t, filepath.Join(snapshots, "standalone-2.3.5", "etcd_snapshot.db.gz"), source.Options{}))
}

func TestBundleIsTarInZstd(t *testing.T) {
	members := untar(t, testBundle(t))
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	if diff := cmp.Diff([]string{"manifest.json", "keys/000001", "end.json"}, names); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	var manifest map[string]any
	if err := json.Unmarshal(members[0].content, &manifest); err != nil {
		t.Fatal(err)
	}
	delete(manifest, "taken")
	want := map[string]any{
		"format": "kitescope-bundle", "version": 1.0, "kitescope": "test", "root": "by-dev", "meta_path": "meta",
		"revision": "368", "redacted": false,
		"origin": map[string]any{
			"kind": "etcd-snapshot", "location": manifest["origin"].(map[string]any)["location"],
			"detail": "etcd snapshot, etcd 3.5.0",
		},
	}
	if diff := cmp.Diff(want, manifest); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestBundleChanges(t *testing.T) {
	good := untar(t, testBundle(t))
	change := func(f func([]member) []member) []byte {
		copied := make([]member, len(good))
		for i, m := range good {
			copied[i] = member{m.name, bytes.Clone(m.content)}
		}
		return retar(t, f(copied))
	}
	cases := []struct {
		name    string
		bundle  []byte
		inError string
	}{
		{"unknown members", change(func(m []member) []member {
			extra := []member{{"runtime/nodes.json", []byte("{}")}, {"profiles/a.pb.gz", noise(5000)}}
			return append(append(m[:2:2], extra...), m[2])
		}), ""},
		{"later version", change(func(m []member) []member {
			m[0].content = bytes.Replace(m[0].content, []byte(`"version": 1`), []byte(`"version": 2`), 1)
			return m
		}), "bundle version 2; this kitescope reads up to 1"},
		{"other format", change(func(m []member) []member {
			m[0].content = bytes.Replace(m[0].content, []byte("kitescope-bundle"), []byte("something"), 1)
			return m
		}), "not a kitescope bundle"},
		{
			"manifest not first", change(func(m []member) []member { return []member{m[1], m[0], m[2]} }),
			"not a kitescope bundle",
		},
		{"no end", change(func(m []member) []member { return m[:2] }), "cut off"},
		{"chunk missing", change(func(m []member) []member { return []member{m[0], m[2]} }), "0 of 1 chunks"},
		{"byte changed", change(func(m []member) []member {
			m[1].content[len(m[1].content)/2] ^= 1
			return m
		}), "damaged"},
		{"record cut", change(func(m []member) []member {
			m[1].content = m[1].content[:len(m[1].content)-1]
			return m
		}), "damaged"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := scanError(t, "-", source.Options{Stdin: bytes.NewReader(c.bundle)})
			if c.inError == "" && err != nil ||
				c.inError != "" && (err == nil || !strings.Contains(err.Error(), c.inError)) {
				t.Errorf("error %v, want %q in it", err, c.inError)
			}
		})
	}
}

func TestBundleTransformAndMembers(t *testing.T) {
	src := open(t, filepath.Join(snapshots, "standalone-2.3.5", "etcd_snapshot.db.gz"), source.Options{})
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	ranges := []source.Range{source.Prefix("by-dev/meta/root-coord/")}
	info := source.BundleInfo{Kitescope: "test", Redacted: true}
	stats, err := source.WriteBundle(t.Context(), &out, snap, info, ranges, func(kv source.KV) (source.KV, bool) {
		if strings.HasPrefix(string(kv.Key), "by-dev/meta/root-coord/credential/") {
			kv.Value = []byte("redacted")
		}
		return kv, !strings.HasPrefix(string(kv.Key), "by-dev/kv/")
	})
	if err != nil {
		t.Fatal(err)
	}
	dump := sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5"))
	kept := dump.WithPrefix("by-dev/meta/")
	if stats.Keys != int64(len(kept)) || stats.Dropped != 3 || stats.Bytes == 0 {
		t.Errorf("stats %+v, want %d keys, 3 dropped", stats, len(kept))
	}
	bundle := open(t, "-", source.Options{Stdin: bytes.NewReader(out.Bytes())}).(*source.Bundle)
	if !bundle.Manifest().Redacted {
		t.Error("the bundle does not say that it is redacted")
	}
	again, err := bundle.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range kept {
		want := string(kv.Value)
		if strings.Contains(string(kv.Key), "/credential/") {
			want = "redacted"
		}
		if got[string(kv.Key)] != want {
			t.Errorf("key %s is %q, want %q", kv.Key, got[string(kv.Key)], want)
		}
	}
}

func TestBundleWriter(t *testing.T) {
	var out bytes.Buffer
	h := source.Header{
		Origin: source.Origin{Kind: "etcd", Location: "etcd://h:1"}, Root: "r", MetaPath: "m", Revision: 1 << 60,
		Taken: time.Unix(1e9, 5).UTC(),
	}
	w, err := source.NewBundleWriter(&out, h, source.BundleInfo{})
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("v"), 3<<20)
	for _, key := range []string{"r/a", "r/b", "r/c"} {
		if err := w.Write(source.KV{Key: []byte(key), Value: big, Lease: -5, ModRevision: 7}); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []string{"r/c", "r/b", ""} {
		if err := w.Write(source.KV{Key: []byte(wrong)}); err == nil {
			t.Errorf("key %q behind r/c is accepted", wrong)
		}
	}
	if err := w.AddMember("metrics/a.txt", 5, strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"end.json", "manifest.json", "keys/x"} {
		if err := w.AddMember(wrong, 0, strings.NewReader("")); err == nil {
			t.Errorf("member %q is accepted", wrong)
		}
	}
	gaps := []source.Gap{{Where: `keys under "r/x"`, Reason: "permission denied"}}
	stats, err := w.Close(gaps)
	if err != nil || stats.Keys != 3 {
		t.Fatalf("Close: %+v, %v", stats, err)
	}
	h.Origin = source.Origin{Kind: "bundle", Location: "-", Detail: "from etcd://h:1"}
	checkWritten(t, open(t, "-", source.Options{Stdin: &out}).(*source.Bundle), h, gaps, big)
}

// TestBundleOfAnyTime checks arbitrary times, because the clock in etcd is a key with an arbitrary value.
func TestBundleOfAnyTime(t *testing.T) {
	for _, taken := range []time.Time{time.Unix(-1, 0), time.UnixMilli(1<<46 - 1), {}} {
		var out bytes.Buffer
		w, err := source.NewBundleWriter(&out, source.Header{Root: "r", MetaPath: "m", Revision: 1, Taken: taken.UTC()},
			source.BundleInfo{})
		if err == nil {
			_, err = w.Close(nil)
		}
		if err != nil {
			t.Errorf("%v: %v", taken, err)
			continue
		}
		snap, err := open(t, "-", source.Options{Stdin: &out}).Pin(t.Context())
		if err != nil || !snap.Header().Taken.Equal(taken) {
			t.Errorf("%v: %v", taken, err)
		}
	}
}

// checkWritten checks the bundle that TestBundleWriter wrote.
func checkWritten(t *testing.T, bundle *source.Bundle, h source.Header, gaps []source.Gap, big []byte) {
	t.Helper()
	var members []string
	err := bundle.Members(t.Context(), func(name string, size int64, content io.Reader) error {
		members = append(members, name)
		if name == "metrics/a.txt" {
			if b, err := io.ReadAll(content); err != nil || string(b) != "hello" || size != 5 {
				t.Errorf("member %q, %d bytes, %v", b, size, err)
			}
		}
		return nil
	})
	if diff := cmp.Diff([]string{"keys/000001", "keys/000002", "metrics/a.txt", "end.json"}, members); err != nil ||
		diff != "" {
		t.Errorf("members: %v (-want +got):\n%s", err, diff)
	}
	snap, err := bundle.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, snap.Header()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	n := 0
	err = snap.Scan(t.Context(), []source.Range{{}}, func(kv source.KV) error {
		n++
		if kv.Lease != -5 || kv.ModRevision != 7 || !bytes.Equal(kv.Value, big) {
			t.Errorf("key %s: lease %d, revision %d, %d bytes", kv.Key, kv.Lease, kv.ModRevision, len(kv.Value))
		}
		return nil
	})
	if diff := cmp.Diff(gaps, snap.Gaps()); err != nil || n != 3 || diff != "" {
		t.Errorf("%d keys, %v, gaps (-want +got):\n%s", n, err, diff)
	}
}

func TestDescribe(t *testing.T) {
	folder := filepath.Join(snapshots, "standalone-2.3.5")
	db := gunzip(t, readFile(t, filepath.Join(folder, "etcd_snapshot.db.gz")))
	flipped := bytes.Clone(db)
	flipped[dataLeaf(t, db)+4096-1] ^= 1
	bundle := testBundle(t)
	type line struct {
		Kind, Root, Meta string
		Keys             int64
		Revision         int64
		Checksum         source.Checksum
		Compressed       bool
		Members          int
	}
	for name, c := range map[string]struct {
		content []byte
		want    line
	}{
		"db": {db, line{source.KindEtcdSnapshot, "by-dev", "meta", 435, 368, source.ChecksumOK, false, 0}},
		"db.gz": {
			gzipBytes(t, db), line{source.KindEtcdSnapshot, "by-dev", "meta", 435, 368, source.ChecksumOK, true, 0},
		},
		"member database": {
			db[:len(db)-32], line{source.KindEtcdSnapshot, "by-dev", "meta", 435, 368, source.ChecksumNone, false, 0},
		},
		"db, bit flipped": {
			flipped, line{source.KindEtcdSnapshot, "by-dev", "meta", 435, 368, source.ChecksumWrong, false, 0},
		},
		"backup": {
			readFile(t, filepath.Join(folder, "birdwatcher_backup.bak.gz")),
			line{source.KindBackup, "by-dev", "meta", 432, 368, source.ChecksumNone, true, 0},
		},
		"bundle": {bundle, line{source.KindBundle, "by-dev", "meta", 435, 368, source.ChecksumOK, false, 2}},
	} {
		src := open(t, store(t, "file", c.content), source.Options{})
		info, err := source.Describe(t.Context(), src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := line{
			info.Origin.Kind, info.Root, info.MetaPath, info.Keys, info.Revision, info.Checksum, info.Compressed,
			len(info.Members),
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if info.Size != int64(len(c.content)) || info.KeyBytes < 50_000 {
			t.Errorf("%s: size %d of %d, %d bytes of keys", name, info.Size, len(c.content), info.KeyBytes)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}
