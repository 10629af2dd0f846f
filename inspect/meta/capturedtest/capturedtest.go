// Package capturedtest loads clusters that were captured from real servers, for tests.
package capturedtest

import (
	"path/filepath"
	"testing"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Snapshot is the name of the etcd snapshot in each folder of testdata/snapshots.
const Snapshot = "etcd_snapshot.db.gz"

// Cluster opens a snapshot as a source and loads the wanted data.
func Cluster(t testing.TB, want meta.Want, path ...string) *model.Cluster {
	t.Helper()
	src, err := source.Open(t.Context(), filepath.Join(path...), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	c, err := meta.Load(t.Context(), snapshot, want)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
