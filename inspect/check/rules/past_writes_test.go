package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

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
		w := well()
		members(1, nil)(w)
		w.Etcd.Activity = x.window
		r := check.Run(w.build().WithRecent(x.recent), w.now, []*check.Check{named("watch-livelock")})
		if found := len(r.Findings) > 0; found != x.found {
			t.Errorf("%s: found %t, want %t: %+v", x.name, found, x.found, r.Results[0])
		}
	}
}
