package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/source"
)

func TestListMatchesOpen(t *testing.T) {
	dir := t.TempDir()
	old := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	at := func(name string, content []byte, age int) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, old.Add(-time.Duration(age)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"etcd_snapshot.db.gz", "birdwatcher_backup.bak.gz"} {
		content, err := os.ReadFile(filepath.Join("../../testdata/snapshots/standalone-2.1.0", name))
		if err != nil {
			t.Fatal(err)
		}
		at(name, content, i)
	}
	at("notes.txt", []byte("standing at 09:14"), 5)
	at("empty.db", nil, 6)
	at("cut.gz", []byte("\x1f\x8b\x08"), 7)
	at("profile.zst", []byte("\x28\xb5\x2f\xfd\x00\x00\x01\x00\x00"), 8)
	for i, inside := range []string{
		"infra0.etcd/member/snap/db", "recorded/" + source.ChunkName(1, old), "empty/nothing",
	} {
		folder := filepath.Dir(filepath.Join(dir, inside))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		at(inside, []byte("looked at once it is opened"), 0)
		top := filepath.Join(dir, strings.Split(inside, "/")[0])
		if err := os.Chtimes(top, time.Time{}, old.Add(-time.Duration(20+i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range source.List(dir) {
		got = append(got, f.Path+": "+f.What)
	}
	want := []string{
		"etcd_snapshot.db.gz: etcd snapshot", "birdwatcher_backup.bak.gz: birdwatcher backup",
		"infra0.etcd: data of an etcd member", "recorded: recording",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
