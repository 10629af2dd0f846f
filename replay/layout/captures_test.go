package layout_test

import (
	"os"
	"path/filepath"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
	"kitescope/replay"
	"kitescope/replay/layout"
)

// capture returns a captured cluster as the commands read it: the metadata with its records, and the responses of
// its processes that the named files recorded.
func capture(t testing.TB, name string, runtime ...string) *model.Cluster {
	t.Helper()
	folder := filepath.Join("..", "..", "testdata", "snapshots", name)
	c := capturedtest.Cluster(t, meta.Want{Parts: layout.Parts, Records: true}, folder, capturedtest.Snapshot)
	if len(runtime) == 0 {
		return c
	}
	d := live.NewDecoder()
	for _, name := range runtime {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		if _, err := live.ReadFile(path, d.Add); err != nil {
			t.Fatal(err)
		}
	}
	return c.WithRuntime(d.Runtime("recording", folder))
}

func layoutOf(t testing.TB, c *model.Cluster, name string) *replay.Layout {
	t.Helper()
	l, err := layout.New(c, layout.Options{Collection: name})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
