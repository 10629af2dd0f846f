package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/source"
	"kitescope/tui/tuitest"
)

// capture reads a captured cluster as the program does. When it was taken is fixed: for
// a snapshot file that would be its modification time.
func capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	path := filepath.Join("..", "testdata", "snapshots", name, "etcd_snapshot.db.gz")
	src, err := source.Open(context.Background(), path, source.Options{})
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

// TestRealScreens shows a cluster of Milvus 2.3.5, captured twice while it worked.
func TestRealScreens(t *testing.T) {
	before, after := capture(t, "cluster-2.3.5-t1"), capture(t, "cluster-2.3.5-t7")
	for _, size := range tuitest.Sizes[:2] {
		for _, s := range screens {
			switch s.name {
			case "overview", "collections", "segments", "nodes", "vchannels", "keys", "detail-collection", "detail-segment", "detail-key", "tree", "diff":
			default:
				continue
			}
			name := fmt.Sprintf("real-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Send(news.Update{Cluster: before})
					d.Send(news.Update{Cluster: after})
					d.Keys(s.keys)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}
