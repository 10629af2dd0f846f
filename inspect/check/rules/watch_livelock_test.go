package rules_test

import (
	"fmt"
	"math/rand/v2"
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
		return model.KeyWrites{Key: "by-dev/meta/channelwatch/5/" + rulestest.Channel0, Writes: n}
	}
	rulestest.RunCases(t, rulestest.ByID("watch-livelock"), []rulestest.Case{
		{Name: "quiet", Change: active(time.Minute, 60, model.KeyWrites{Key: "by-dev/kv/gid/timestamp", Writes: 20})},
		{
			Name: "a channel over and over", Change: active(time.Minute, 120, watch(60)),
			Want: []string{
				"error keys/by-dev/meta/channelwatch/5/" + rulestest.Channel0 + " the watch of " + rulestest.Channel0 +
					" by datanode-5 was written 60 times in 60 s: it is reassigned in a loop",
			},
		},
		{Name: "a channel that moves", Change: active(6*time.Second, 20, watch(3))},
		{
			Name: "another key", Change: active(10*time.Second, 120, model.KeyWrites{Key: "by-dev/meta/x", Writes: 60}),
			Want: []string{"warning keys/by-dev/meta/x by-dev/meta/x was written 60 times in 10 s"},
		},
		{
			Name: "a busy etcd", Change: active(10*time.Second, 9000),
			Want: []string{"info / etcd writes 900 revisions a second"},
		},
		{
			Name: "hardly watched", Change: active(500*time.Millisecond, 60, watch(60)),
			Skipped: "watched for only 500 ms",
		},
		{Name: "not watched", Change: rulestest.Members(1, nil), Skipped: "not watched"},
	})
}

// TestLivelockInMetadataAlone checks the keys of real clusters without runtime data and without a watch. One cluster
// had the loop: each of its watch records has some 5,600 versions. The records of the others have a few.
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
		r := check.Run(c, c.Origin.Taken.Add(time.Second), []*check.Check{rulestest.ByID("watch-livelock")})
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

// TestPastWrites checks that the past revisions of the last minute are evaluated together with a short watch. A slow
// loop is found although the watch is too short for it. A loop without writes during the watch is over.
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
		w := rulestest.Healthy()
		rulestest.Members(1, nil)(w)
		w.Etcd.Activity = x.window
		r := check.Run(w.Build().WithRecent(x.recent), w.Now, []*check.Check{rulestest.ByID("watch-livelock")})
		if found := len(r.Findings) > 0; found != x.found {
			t.Errorf("%s: found %t, want %t: %+v", x.name, found, x.found, r.Results[0])
		}
	}
}

// TestFindingsStayBelowTop checks that findings stay if their key is not in every window. Twelve keys have equal
// rates, and each window has only the ten busiest, which are random.
func TestFindingsStayBelowTop(t *testing.T) {
	l := &rulestest.RepeatedRun{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
	most := 0
	for i := range 40 {
		a := &model.EtcdActivity{Over: rulestest.WatchWindow, Revisions: 600, Writes: 600, More: true}
		for _, k := range l.Perm(12)[:10] {
			a.Hot = append(a.Hot, model.KeyWrites{
				Key: fmt.Sprintf("by-dev/meta/channelwatch/5/by-dev-rootcoord-dml_%d_1000v%d", k, k), Writes: 75,
			})
		}
		w := rulestest.Healthy()
		rulestest.Members(1, nil)(w)
		w.Etcd.Activity = a
		for k := range 12 {
			name := fmt.Sprintf("by-dev-rootcoord-dml_%d_1000v%d", k, k)
			w.VChannels = append(w.VChannels, &model.VChannel{
				Name: name, Watches: []model.WatchRecord{{Key: "by-dev/meta/channelwatch/5/" + name, Node: 5}},
			})
		}
		n := len(l.Judge.Run(w.Build(), w.Now, []*check.Check{rulestest.ByID("watch-livelock")}).Findings)
		if n < most {
			t.Fatalf("look %d: %d of %d channels are found", i, n, most)
		}
		most = n
	}
	if most != 12 {
		t.Errorf("%d of 12 channels were found", most)
	}
}

// TestShortLivedChannelsNoLoop checks that collections that are created and dropped are not a loop. Each watch
// record is written three times in each of two windows and then deleted with its channel. Most watch records
// are not in the window, because many other keys are written once (make e2e-chaos, -churn).
func TestShortLivedChannelsNoLoop(t *testing.T) {
	l := &rulestest.RepeatedRun{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
	for i := range 100 {
		a := &model.EtcdActivity{Over: 2 * time.Second, Revisions: 40, Writes: 40, More: true}
		channel := func(n int) string {
			return fmt.Sprintf("by-dev/meta/channelwatch/5/by-dev-rootcoord-dml_%d_%dv0", n%16, 2000+n)
		}
		a.Hot = append(a.Hot, model.KeyWrites{Key: channel(i), Writes: 3})
		if i > 0 {
			a.Hot = append(a.Hot, model.KeyWrites{Key: channel(i - 1), Writes: 3})
		}
		for k := range 8 {
			a.Hot = append(a.Hot, model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/segment/%d", i*8+k), Writes: 1})
		}
		w := rulestest.Healthy()
		rulestest.Members(1, nil)(w)
		w.Etcd.Activity = a
		if found := l.Judge.Run(w.Build(), w.Now, []*check.Check{rulestest.ByID("watch-livelock")}).Findings; len(
			found,
		) > 0 {
			t.Fatalf("window %d: %s", i, found[0].Message)
		}
	}
}

// TestLoopEndsDespiteWrites checks that a loop is over when its collection is dropped, and that a loop of an
// existing channel ends, however many other keys are written once.
func TestLoopEndsDespiteWrites(t *testing.T) {
	for name, there := range map[string]bool{"dropped": false, "there": true} {
		t.Run(name, func(t *testing.T) {
			l := &rulestest.RepeatedRun{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
			key := "by-dev/meta/channelwatch/5/" + rulestest.Channel0
			last := 0
			for i := range 60 {
				a := &model.EtcdActivity{Over: 2 * time.Second, Revisions: 400, Writes: 400, More: true}
				loops := i < 5
				if loops {
					a.Hot = append(a.Hot, model.KeyWrites{Key: key, Writes: 150})
				}
				for k := range 10 {
					a.Hot = append(a.Hot,
						model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/segment/%d", i*10+k), Writes: 1})
				}
				w := rulestest.Healthy()
				rulestest.Members(1, nil)(w)
				w.Etcd.Activity = a
				if there || loops {
					for _, v := range w.VChannels {
						v.Watches = []model.WatchRecord{{Key: "by-dev/meta/channelwatch/5/" + v.Name, Node: 5}}
					}
				}
				if found := len(
					l.Judge.Run(w.Build(), w.Now, []*check.Check{rulestest.ByID("watch-livelock")}).Findings,
				) > 0; found {
					last = i
				} else if loops && i > 0 {
					t.Fatalf("window %d: the loop is not found", i)
				}
			}
			if want := map[bool]int{false: 4, true: 30}[there]; last > want {
				t.Errorf("it is found until window %d, the loop ended with 4", last)
			}
		})
	}
}
