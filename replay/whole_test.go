package replay_test

import (
	"context"
	"strings"
	"testing"

	"kitescope/engine/segment"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
	"kitescope/replay"
	"kitescope/replay/layout"
)

// capture returns the metadata of a real cluster, as the commands read it.
func capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	return capturedtest.Cluster(t, meta.Want{Parts: layout.Parts, Records: true}, "..", "testdata", "snapshots", name,
		capturedtest.Snapshot)
}

// TestRecordedAnswersOfSnapshots checks the whole path from an etcd snapshot over layout and storage to Milvus's
// answers. Segments that were growing and are in no file are reported as missing.
func TestRecordedAnswersOfSnapshots(t *testing.T) {
	for version, snapshot := range map[string]string{
		"2.1.0": "standalone-2.1.0", "2.2.16": "standalone-2.2.16", "2.3.5": "standalone-2.3.5",
		"cluster-2.3.5": "cluster-2.3.5-t1",
	} {
		store, c := openStore(t, version), capture(t, snapshot)
		for _, x := range recorded(t, version) {
			if x.Hits == nil {
				continue
			}
			t.Run(version+"/"+x.Name, func(t *testing.T) {
				l, err := layout.New(c, layout.Options{Collection: strings.Replace(x.Name, "/", ".", 1)})
				if err != nil {
					t.Fatal(err)
				}
				l, found, err := layout.Locate(t.Context(), func(ctx context.Context, name string) (bool, error) {
					files, err := store.List(ctx, name)
					return len(files) > 0, err
				}, l)
				if err != nil || !found {
					t.Fatalf("files found: %v, %v", found, err)
				}
				loaded := loadOf(t, store, l, missingDeletes(version, x.Name))
				for _, m := range loaded.Coverage.Missing {
					if m.State != replay.Growing {
						t.Errorf("missing: %+v", m)
					}
				}
				if named := len(loaded.Coverage.Missing) > 0; named != (x.Name == "default/growing_mix") {
					t.Errorf("missing: %+v", loaded.Coverage.Missing)
				}
				target, err := replay.NewTarget(loaded, replay.TargetOptions{Options: segment.Milvus(2, 3)})
				if err != nil {
					t.Fatal(err)
				}
				answers, failed, err := replay.AskAll(t.Context(), target, logOf(t, &x, l, len(x.Hits)), 1)
				if err != nil || failed > 0 {
					t.Fatalf("%d failed: %v", failed, err)
				}
				if missing := compareRecorded(t, &x, loaded, answers, len(x.Hits)); (missing > 0) != (x.Name ==
					"default/growing_mix") {
					t.Errorf("%d recorded hits are in no segment", missing)
				}
			})
		}
	}
}
