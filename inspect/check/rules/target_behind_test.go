package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestTargetBehind(t *testing.T) {
	// old gives both shard leaders an old target, and adds a segment that should be served.
	old := func(target, flushed time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, flushed)
			w.View(rulestest.Channel0).TargetVersion, w.View(rulestest.Channel1).TargetVersion = rulestest.Nanos(
				target,
			), rulestest.Nanos(target)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("target-behind"), []rulestest.Case{
		{
			Name: "two hours old", Change: old(2*time.Hour, time.Hour),
			Want: []string{
				"warning collections/1000 querynode-4 serves a target 2 h old; DataCoord expects 1 segment more",
			},
		},
		{Name: "old, and the segment is fresh", Change: old(2*time.Hour, time.Minute)},
		{Name: "young", Change: old(10*time.Minute, time.Hour)},
		{Name: "old, and nothing new", Change: func(w *rulestest.World) {
			w.Serve()
			w.View(rulestest.Channel0).TargetVersion, w.View(rulestest.Channel1).TargetVersion = rulestest.Nanos(2*
				time.Hour), rulestest.Nanos(2*time.Hour)
		}},
		{
			Name: "one leader behind the other", Change: func(w *rulestest.World) {
				w.Serve()
				w.View(rulestest.Channel0).TargetVersion = rulestest.Nanos(2 * time.Hour)
			},
			Want: []string{"warning collections/1000 querynode-4 serves a target 2 h old; its other leaders are ahead"},
		},
		{Name: "the cluster's own patience", Change: func(w *rulestest.World) {
			old(2*time.Hour, 90*time.Minute)(w)
			w.Live("querycoord").Config.Values[model.FoldConfigKey("queryCoord.NextTargetSurviveTime")] = "3600"
		}},
		{
			Name:    "its version is no time",
			Change:  func(w *rulestest.World) { w.Serve(); w.View(rulestest.Channel0).TargetVersion = 7 },
			Skipped: "age of the target of 1 shard leader",
		},
	})
}
