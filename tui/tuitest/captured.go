package tuitest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Capture reads the captured cluster in a folder as the program does. When it was taken is fixed: for a snapshot file that would be
// its modification time.
func Capture(t *testing.T, folder ...string) *model.Cluster {
	t.Helper()
	src, err := source.Open(context.Background(), filepath.Join(append(folder, "etcd_snapshot.db.gz")...), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snapshot, err := src.Pin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	c, err := meta.Load(context.Background(), snapshot, meta.Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	c.Origin.Taken = time.Date(2026, 11, 20, 9, 10, 0, 0, time.UTC)
	c.Origin.Location = "etcd_snapshot.db.gz"
	return c
}

// Asked is the captured cluster in a folder with what its processes said.
func Asked(t *testing.T, folder ...string) *model.Cluster {
	t.Helper()
	d := live.NewDecoder()
	if _, err := live.ReadFile(filepath.Join(append(folder, "runtime.jsonl.gz")...), d.Add); err != nil {
		t.Fatal(err)
	}
	return Capture(t, folder...).WithRuntime(d.Runtime("recording", "runtime.jsonl.gz"))
}
