package rules_test

import (
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestWALDamagedNamesAll checks that each lost segment is named, either alone or in a range.
func TestWALDamagedNamesAll(t *testing.T) {
	lost := func(states ...string) *check.Finding {
		r := rulestest.RunCheck(t, rulestest.ByID("wal-damaged"), func(w *rulestest.World) {
			l := &model.Log{Name: rulestest.PChannel, Truncated: model.LogPosition{Segment: -1}}
			for i, state := range states {
				l.Segments = append(l.Segments, model.LogSegment{ID: int64(i), State: state})
			}
			w.PChannels[0].Streaming, w.Woodpecker = true, &model.Woodpecker{Logs: []*model.Log{l}}
		})
		if len(r.Findings) != 1 {
			t.Fatalf("%v: %d findings", states, len(r.Findings))
		}
		return r.Findings[0]
	}
	const ok, gone, garbled = model.LogCompleted, model.LogMissing, model.LogUndecoded
	for _, x := range []struct {
		of         *check.Finding
		said, step string
	}{
		{
			lost(ok, ok, gone), "lacks segment 2",
			"restore the record of segment 2 of log " + rulestest.PChannel +
				", under woodpecker/logs/, from a snapshot of etcd",
		},
		{
			lost(ok, ok, gone, garbled), "lacks segments 2-3",
			"restore the records of segments 2-3 of log " + rulestest.PChannel +
				", under woodpecker/logs/, from a snapshot of etcd",
		},
		{
			lost(gone, ok, garbled, ok, gone, gone, gone, ok), "lacks segments 0, 2 and 4-6",
			"restore the records of segments 0, 2 and 4-6 of log " + rulestest.PChannel +
				", under woodpecker/logs/, from a snapshot of etcd",
		},
	} {
		if !strings.HasSuffix(x.of.Message, x.said) || string(x.of.Fix[0].Text) != x.step {
			t.Errorf("%s; %s", x.of.Message, x.of.Fix[0].Text)
		}
	}
}
