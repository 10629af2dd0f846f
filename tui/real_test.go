package tui

import (
	"fmt"
	"testing"
	"testing/synctest"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/tui/tuitest"
)

// capture reads a captured cluster.
func capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	return tuitest.Capture(t, "..", "testdata", "snapshots", name)
}

// TestRealScreens shows a cluster of Milvus 2.3.5 that was captured twice while it was in use.
func TestRealScreens(t *testing.T) {
	before, after := capture(t, "cluster-2.3.5-t1"), capture(t, "cluster-2.3.5-t7")
	for _, size := range tuitest.Sizes[:1] {
		for _, s := range screens {
			switch s.name {
			case "overview", "segments", "detail-collection", "tree", "diff":
			default:
				continue
			}
			name := fmt.Sprintf("real-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Send(history.Update{Cluster: before})
					d.Send(history.Update{Cluster: after})
					d.Keys(s.keys)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}
