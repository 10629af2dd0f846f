package replay_test

import (
	"strings"
	"testing"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// TestLookFollowsManifests: what a manifest names is looked for, and why one cannot be followed is said.
func TestLookFollowsManifests(t *testing.T) {
	store, err := object.OpenFolder("../engine/manifest/testdata/segment")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for version, want := range map[int64]string{2: "", 3: "", 9: "manifest-9.avro"} {
		place := manifest.Place{Base: "insert_log/1/2/3", Version: version}
		l := &replay.Layout{Segments: []replay.Segment{{ID: 3, Rows: 200, State: replay.Unindexed, Files: &segment.Files{Segment: 3, Manifest: place.Name("files")}}}}
		c, err := replay.Look(t.Context(), store, l)
		if err != nil {
			t.Fatal(err)
		}
		reason := ""
		if len(c.Missing) > 0 {
			reason = c.Missing[0].Reason
		}
		if (want == "") != (reason == "") || !strings.Contains(reason, want) || version == 2 && c.Bytes < 10_000 {
			t.Errorf("version %d: %q, %d bytes", version, reason, c.Bytes)
		}
	}
}
