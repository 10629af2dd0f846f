package rules_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestLivelockInMetadataAlone judges the keys of real clusters, without anything that was asked or watched. One of them fell into the loop: each of
// its watch records has some 5,600 versions, those of the others have a few.
func TestLivelockInMetadataAlone(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/broken/*.kite")
	if err != nil || len(files) < 10 {
		t.Fatalf("bundles: %d, %v", len(files), err)
	}
	snapshots, err := filepath.Glob("../../../testdata/snapshots/*/etcd_snapshot.db.gz")
	if err != nil || len(snapshots) < 10 {
		t.Fatalf("snapshots: %d, %v", len(snapshots), err)
	}
	for _, file := range append(files, snapshots...) {
		src, err := source.Open(t.Context(), file, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
		if err != nil {
			t.Fatal(err)
		}
		_ = src.Close()
		r := check.Run(c, c.Origin.Taken.Add(time.Second), []*check.Check{named("watch-livelock")})
		want, said := 0, " times since it was created: it is reassigned in a loop"
		switch {
		case strings.Contains(file, "old-metadata"):
			want = 12
		case strings.Contains(file, "livelock"): // a 2.2.16 on metadata of 2.1.0, a minute after its start
			want, said = 12, " times in 57 s: it is reassigned in a loop"
		}
		if len(r.Findings) != want {
			t.Errorf("%s: %d findings, want %d", file, len(r.Findings), want)
		}
		for _, f := range r.Findings {
			if f.Severity != check.Error || !strings.Contains(f.Message, said) {
				t.Errorf("%s: %s %s", file, f.Severity, f.Message)
			}
		}
		if x := r.Results[0]; want == 0 && (x.Status == check.OK) != strings.HasSuffix(file, ".db.gz") {
			t.Errorf("%s: %s %q: a file of etcd's tells all, a bundle of watch records only", file, x.Status, x.Reason)
		}
	}
}
