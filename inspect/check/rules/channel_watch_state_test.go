package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestChannelWatchState(t *testing.T) {
	state := func(s string, since time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.VChannels[0].WatchState, w.VChannels[0].WatchedAt = s, rulestest.TimeAgo(since)
		}
	}
	untimed := func(s string) func(*rulestest.World) {
		return func(w *rulestest.World) { w.VChannels[0].WatchState, w.VChannels[0].WatchedAt = s, time.Time{} }
	}
	object := "vchannels/" + rulestest.Channel0 + " "
	rulestest.RunCases(t, rulestest.ByID("channel-watch-state"), rulestest.Configured([]rulestest.Case{
		{Name: "just begun", Change: state("ToWatch", time.Minute)},
		{Name: "within the time that Milvus gives", Change: state("ToWatch", 6*time.Minute)},
		{
			Name: "for long", Change: state("ToWatch", 8*time.Minute),
			Want: []string{"warning " + object + "is in state ToWatch on datanode-5, started 8 min ago"},
		},
		{
			Name: "released for long", Change: state("ToRelease", time.Hour),
			Want: []string{"warning " + object + "ToRelease"},
		},
		{Name: "longer timeout", Change: func(w *rulestest.World) {
			state("ToWatch", 8*time.Minute)(w)
			w.Config = []*model.ConfigEntry{{Name: "datacoord.channel.watchTimeoutInterval", Value: "900"}}
		}},
		{
			Name: "failed", Change: state("WatchFailure", 3*time.Minute),
			Want: []string{"error " + object + "WatchFailure"},
		},
		{Name: "just failed", Change: state("ReleaseFailure", time.Minute)},
		{Name: "no time", Change: untimed("ToWatch")},
		{
			Name: "failed, no time", Change: untimed("WatchFailure"),
			Want: []string{"error " + object + "at an unknown time"},
		},
		{Name: "pchannel assigned", Change: untimed("Assigned")},
		{Name: "pchannel being assigned", Change: untimed("Assigning"), Want: []string{"info " + object + "Assigning"}},
		{
			Name: "pchannel without a node", Change: untimed("Unavailable"),
			Want: []string{"warning " + object + "Unavailable"},
		},
		{Name: "in the buffer, another check's", Change: func(w *rulestest.World) {
			state("ToWatch", time.Hour)(w)
			w.VChannels[0].Watcher = model.UnassignedNode
		}},
	}))
	rulestest.RunCases(t, rulestest.ByID("channel-watch-state"),
		[]rulestest.Case{
			{
				Name: "just begun, and processes were not asked", Change: state("ToWatch", time.Minute),
				Skipped: "watchTimeoutInterval): the nodes were not queried",
			},
		})
}
