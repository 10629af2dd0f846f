package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCheckpointStale(t *testing.T) {
	left := func(v model.VChannel) func(*rulestest.World) {
		return func(w *rulestest.World) { w.VChannels = append(w.VChannels, &v) }
	}
	gone := model.VChannel{Name: "by-dev-rootcoord-dml_3_900v0", Collection: 900, Shard: -1, Checkpoint: model.Checkpoint{At: rulestest.Back(time.Hour)}}
	rulestest.Hold(t, rulestest.Named("checkpoint-stale-dropped"), []rulestest.Verdict{
		{Name: "none"},
		{Name: "of a collection that is gone", Change: left(gone), Want: []string{"info / 1 stale channel record left by 1 dropped collection"}},
		{Name: "of one that is being dropped", Change: func(w *rulestest.World) { w.Collections[0].State = "Dropping" }, Want: []string{"info / 2 stale channel records left by 1 dropped collection"}},
		{Name: "only a removal mark", Change: left(model.VChannel{Name: "x_900v0", Collection: 900, Removal: "removed"}), Want: []string{"info / 1 stale channel record"}},
		{Name: "marked as 2.6 does", Change: left(model.VChannel{Name: "x_900v0", Collection: 900, Checkpoint: model.Checkpoint{At: model.MaxTSO}})},
		{Name: "the control channel", Change: left(model.VChannel{Name: "by-dev-rootcoord-dml_0vcchan", Checkpoint: model.Checkpoint{At: rulestest.Back(0)}})},
	})
}
