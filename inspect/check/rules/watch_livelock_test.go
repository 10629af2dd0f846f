package rules_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

func TestWatchLivelock(t *testing.T) {
	active := func(over time.Duration, revisions int64, hot ...model.KeyWrites) func(*rulestest.World) {
		return func(w *rulestest.World) {
			rulestest.Members(1, nil)(w)
			w.Etcd.Activity = &model.EtcdActivity{Over: over, Revisions: revisions, Writes: revisions, Hot: hot}
		}
	}
	watch := func(n int64) model.KeyWrites {
		return model.KeyWrites{Key: "by-dev/meta/channelwatch/5/" + rulestest.WellCh0, Writes: n}
	}
	rulestest.Hold(t, rulestest.Named("watch-livelock"), []rulestest.Verdict{
		{Name: "quiet", Change: active(time.Minute, 60, model.KeyWrites{Key: "by-dev/kv/gid/timestamp", Writes: 20})},
		{Name: "a channel over and over", Change: active(time.Minute, 120, watch(60)), Want: []string{"error keys/by-dev/meta/channelwatch/5/" + rulestest.WellCh0 + " the watch of " + rulestest.WellCh0 + " by datanode-5 was written 60 times in 60 s: it is reassigned in a loop"}},
		{Name: "a channel that moves", Change: active(6*time.Second, 20, watch(3))},
		{Name: "another key", Change: active(10*time.Second, 120, model.KeyWrites{Key: "by-dev/meta/x", Writes: 60}), Want: []string{"warning keys/by-dev/meta/x by-dev/meta/x was written 60 times in 10 s"}},
		{Name: "a busy etcd", Change: active(10*time.Second, 9000), Want: []string{"info / etcd writes 900 revisions a second"}},
		{Name: "hardly watched", Change: active(500*time.Millisecond, 60, watch(60)), Skipped: "watched for only 500 ms"},
		{Name: "not watched", Change: rulestest.Members(1, nil), Skipped: "not watched"},
	})
}

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
		r := check.Run(c, c.Origin.Taken.Add(time.Second), []*check.Check{rulestest.Named("watch-livelock")})
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

// TestPastWrites: what past revisions tell of the last minute is judged beside what a short watch sees: a slow loop is found that the watch
// is too short for, and one that the watch does not see any more is over.
func TestPastWrites(t *testing.T) {
	t.Parallel()
	const key = "by-dev/meta/channelwatch/9/by-dev-dml_0_1v0"
	activity := func(over time.Duration, writes int64) *model.EtcdActivity {
		a := &model.EtcdActivity{Over: over, Revisions: writes + 1, Writes: writes + 1}
		if writes > 0 {
			a.Hot = []model.KeyWrites{{Key: key, Writes: writes}}
		}
		return a
	}
	for _, x := range []struct {
		name           string
		recent, window *model.EtcdActivity
		found          bool
	}{
		{"a slow loop", activity(time.Minute, 60), activity(1500*time.Millisecond, 1), true},
		{"a slow loop between two writes", activity(time.Minute, 60), activity(1500*time.Millisecond, 0), true},
		{"a fast loop", activity(time.Minute, 1400), activity(1500*time.Millisecond, 35), true},
		{"a fast loop that is over", activity(time.Minute, 1400), activity(1500*time.Millisecond, 0), false},
		{"work", activity(time.Minute, 4), activity(1500*time.Millisecond, 0), false},
		{"a longer watch than there is history", activity(3*time.Second, 3), activity(time.Minute, 60), true},
		{"nobody watched", activity(time.Minute, 60), nil, true},
	} {
		w := rulestest.Well()
		rulestest.Members(1, nil)(w)
		w.Etcd.Activity = x.window
		r := check.Run(w.Build().WithRecent(x.recent), w.Now, []*check.Check{rulestest.Named("watch-livelock")})
		if found := len(r.Findings) > 0; found != x.found {
			t.Errorf("%s: found %t, want %t: %+v", x.name, found, x.found, r.Results[0])
		}
	}
}
