package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCheckpointLag(t *testing.T) {
	lag := func(age time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(age) }
	}
	and := func(f, more func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) { f(w); more(w) }
	}
	rulestest.RunCases(t, rulestest.ByID("checkpoint-lag"), []rulestest.Case{
		{Name: "waiting for its buffer", Change: lag(10*time.Minute + 17*time.Second)},
		{
			Name: "behind", Change: lag(16 * time.Minute),
			Want: []string{
				"warning collections/1000 1 vchannel of docs: checkpoint 16 min old (" + rulestest.Channel0 + ")",
			},
		},
		{Name: "a day behind", Change: lag(25 * time.Hour), Want: []string{"error collections/1000 25 h old"}},
		{Name: "a longer syncPeriod", Change: and(lag(16*time.Minute), func(w *rulestest.World) {
			w.AddResponses()
			w.Live("datanode").Config.Values["datanodesegmentsyncperiod"] = "1200"
		})},
		{
			Name: "just taken over",
			Change: and(lag(16*time.Minute), func(w *rulestest.World) {
				w.VChannels[0].WatchedAt = rulestest.TimeAgo(time.Minute)
			}),
		},
		{
			Name:   "of a dropped collection",
			Change: and(lag(16*time.Minute), func(w *rulestest.World) { w.Collections[0].State = "Dropping" }),
		},
		{Name: "none", Change: func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = 0 }},
		{Name: "marked as dropped", Change: func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = model.MaxTSO }},
		{
			Name:   "by nobody",
			Change: and(lag(16*time.Minute), func(w *rulestest.World) { w.VChannels[0].Watched = false }),
			Want:   []string{"warning collections/1000 16 min"},
		},
		{
			Name:   "several collections",
			Change: func(w *rulestest.World) { w.AddLaggingCollections(3, 20*time.Minute) },
			Want: []string{
				"warning collections/7000 c0", "warning collections/7001 c1", "warning collections/7002 c2",
			},
		},
		{
			Name: "a node with many", Change: func(w *rulestest.World) { w.AddLaggingCollections(6, 20*time.Minute) },
			Want: []string{"warning nodes/datanode-5 6 vchannels of 6 collections on datanode-5 lag by up to 20 min"},
		},
		{
			Name: "2.1 has none", Change: and(lag(time.Hour), func(w *rulestest.World) { w.Version.Text = "2.1" }),
			Skipped: "Milvus 2.1",
		},
		{
			Name: "no time", Change: and(lag(time.Hour), func(w *rulestest.World) { w.Now = time.Time{} }),
			Skipped: "time of the metadata is unknown",
		},
	})
}
