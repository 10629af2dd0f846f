package meta

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// reopenAsBundle writes a snapshot to a bundle and opens the bundle.
func reopenAsBundle(t *testing.T, snap source.Snapshot) source.Snapshot {
	t.Helper()
	var b bytes.Buffer
	if _, err := source.WriteBundle(t.Context(), &b, snap, source.BundleInfo{}, nil, Redactor(snap.Header())); err !=
		nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.kite")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return pinFile(t, path)
}

// TestDeniedPartsUnknown checks that a part is unknown if the account may not read some of its keys, both
// directly and in a bundle of a bundle.
func TestDeniedPartsUnknown(t *testing.T) {
	docs := "by-dev/meta/datacoord-meta/s/" + strconv.FormatInt(metatest.Docs, 10) + "/"
	tests := []struct {
		keys  source.Range
		known model.Part
	}{
		{source.Prefix("by-dev/meta/datacoord-meta/s/"), model.PartAll &^ model.PartSegments},
		{source.Prefix(docs), model.PartAll &^ model.PartSegments},
		{source.Prefix("by-dev/meta/root-coord/credential/"), model.PartAll &^ model.PartUsers},
		{source.Prefix("by-dev/config/"), model.PartAll &^ model.PartConfig},
		{source.Prefix("by-dev/meta/session/"), model.PartAll &^ model.PartSessions},
		{source.Prefix("by-dev/meta/streamingnode-meta/"), model.PartAll &^ model.PartChannels},
		{source.Prefix("by-dev/meta/something-new/"), model.PartAll &^ model.PartRest},
		{source.Prefix("elsewhere/"), model.PartAll},
		{source.Prefix("by-dev/meta/querycoord-replica/"), model.PartAll &^ model.PartServing},
	}
	for _, tt := range tests {
		for _, seekable := range []bool{true, false} {
			m := newMemory(metatest.Cluster("2.6"))
			m.seekable = seekable
			m.gaps = []source.Gap{{Where: tt.keys.String(), Reason: "permission denied", Keys: tt.keys}}
			for generation, snap := 0, source.Snapshot(m); generation < 3; generation++ {
				c, err := Load(t.Context(), snap, Want{Parts: model.PartAll})
				if err != nil {
					t.Fatal(err)
				}
				if c.Loaded != tt.known || len(c.Gaps) != 1 {
					t.Errorf("%s denied, generation %d: known %b, want %b; gaps %v", tt.keys, generation, c.Loaded,
						tt.known, c.Gaps)
				}
				if !c.Loaded.Has(model.PartSegments) && len(c.Orphans) > 0 {
					t.Errorf("%s denied: %d segments are called orphans", tt.keys, len(c.Orphans))
				}
				snap = reopenAsBundle(t, snap)
			}
		}
	}
}

// TestGrowingSegmentsAreNoOrphans checks that a streaming node's record does not make its segment an orphan if
// segments were not read.
func TestGrowingSegmentsAreNoOrphans(t *testing.T) {
	c, err := Load(t.Context(), newMemory(metatest.Cluster("2.6")), Want{Parts: model.PartChannels})
	if err != nil {
		t.Fatal(err)
	}
	if c.KeysByKind["wal-segment"] == 0 || len(c.Orphans) > 0 {
		t.Errorf("%d assignments, %d orphans", c.KeysByKind["wal-segment"], len(c.Orphans))
	}
}
