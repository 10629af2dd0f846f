package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCheckpointMissing(t *testing.T) {
	none := func(w *rulestest.World) { w.VChannels[0].Checkpoint = model.Checkpoint{} }
	rulestest.RunCases(t, rulestest.ByID("checkpoint-missing"), []rulestest.Case{
		{Name: "there"},
		{
			Name: "missing", Change: none,
			Want: []string{"warning collections/1000 1 vchannel of docs has no checkpoint"},
		},
		{
			Name: "both", Change: func(w *rulestest.World) { none(w); w.VChannels[1].Checkpoint = model.Checkpoint{} },
			Want: []string{"warning collections/1000 2 vchannels of docs have no checkpoint"},
		},
		{
			Name: "new collection",
			Change: func(w *rulestest.World) {
				none(w)
				w.Collections[0].CreatedAt = rulestest.TSOAgo(9 * time.Minute)
			},
		},
		{
			Name:   "just taken over",
			Change: func(w *rulestest.World) { none(w); w.VChannels[0].WatchedAt = rulestest.TimeAgo(4 * time.Minute) },
		},
		{
			Name:   "of a dropped collection",
			Change: func(w *rulestest.World) { none(w); w.Collections[0].State = "Dropping" },
		},
		{
			Name: "2.1 has none", Change: func(w *rulestest.World) { none(w); w.Version.Text = "2.1" },
			Skipped: "Milvus 2.1",
		},
	})
}
