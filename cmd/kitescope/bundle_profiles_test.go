package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/source"
)

// zeros is an endless reader of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bundleWith writes a bundle with one key and members of zeros, which compress a thousandfold.
func bundleWith(t *testing.T, members map[string]int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.kite")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := source.NewBundleWriter(f, source.Header{Root: "by-dev", MetaPath: "meta", Taken: time.Unix(1.7e9, 0)},
		source.BundleInfo{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(source.KV{Key: []byte("by-dev/meta/session/id"), Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	for name, size := range members {
		if err := w.AddMember(name, size, io.LimitReader(zeros{}, size)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProfilesOfABundleAreBounded checks that a small bundle that unpacks to more than 512 MiB fills neither
// memory nor the temporary folder.
func TestProfilesOfABundleAreBounded(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := bundleWith(t, map[string]int64{"profiles/a.pb.gz": 512<<20 + 1})
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Fatalf("the bundle has %d bytes: %v", info.Size(), err)
	}
	for _, line := range [][]string{
		{"snapshot", "save", filepath.Join(t.TempDir(), "out.kite"), "--from", path},
		{"profile", "top", path},
	} {
		e := terminal{}.run(t.Context(), t, line...)
		if e.code == cli.ExitOK {
			t.Errorf("%v: exit 0\n%s", line, head(e.stdout))
		}
		containsAll(t, e.err+e.stdout, "its profiles exceed 512 MiB")
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v %v", left, err)
	}
}
