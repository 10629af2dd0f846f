package tuitest

import (
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
)

// Capture reads the captured cluster in a folder as the program does. It sets a fixed capture time, because the
// program would use the modification time of the snapshot file.
func Capture(t *testing.T, folder ...string) *model.Cluster {
	t.Helper()
	c := capturedtest.Cluster(t, meta.Want{Parts: model.PartAll, Records: true},
		append(folder, capturedtest.Snapshot)...)
	c.Origin.Taken = time.Date(2026, 11, 20, 9, 10, 0, 0, time.UTC)
	c.Origin.Location = "etcd_snapshot.db.gz"
	return c
}

// CaptureQueried returns the captured cluster in a folder, including the responses of its processes.
func CaptureQueried(t *testing.T, folder ...string) *model.Cluster {
	t.Helper()
	d := live.NewDecoder()
	if _, err := live.ReadFile(filepath.Join(append(folder, "runtime.jsonl.gz")...), d.Add); err != nil {
		t.Fatal(err)
	}
	return Capture(t, folder...).WithRuntime(d.Runtime("recording", "runtime.jsonl.gz"))
}
