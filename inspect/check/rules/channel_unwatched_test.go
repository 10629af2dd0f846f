package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestChannelUnwatched(t *testing.T) {
	none := func(w *rulestest.World) { w.VChannels[0].Watched, w.VChannels[0].Watcher = false, 0 }
	gone := func(w *rulestest.World) { w.VChannels[0].Watcher = 99 }
	rulestest.RunCases(t, rulestest.ByID("channel-unwatched"), []rulestest.Case{
		{
			Name: "by nobody", Change: none,
			Want: []string{
				"error collections/1000 1 vchannel of docs: not watched by any node (" + rulestest.Channel0 + ")",
			},
		},
		{
			Name:   "waiting for a node",
			Change: func(w *rulestest.World) { w.VChannels[0].Watcher = model.UnassignedNode },
			Want:   []string{"error collections/1000 DataCoord's buffer"},
		},
		{
			Name: "by a node that is gone", Change: gone,
			Want: []string{"error collections/1000 datanode-99 is gone (not registered)"},
		},
		{
			Name:   "by a node that has just taken it",
			Change: func(w *rulestest.World) { gone(w); w.VChannels[0].WatchedAt = rulestest.TimeAgo(time.Minute) },
		},
		{
			Name: "both are one finding", Change: func(w *rulestest.World) { none(w); w.VChannels[1].Watcher = 99 },
			Want: []string{"error collections/1000 2 vchannels of docs"},
		},
		{
			Name:   "new collection",
			Change: func(w *rulestest.World) { none(w); w.Collections[0].CreatedAt = rulestest.TSOAgo(time.Minute) },
		},
		{
			Name:   "of a dropped collection",
			Change: func(w *rulestest.World) { none(w); w.Collections[0].State = "Dropped" },
		},
		{
			Name:   "not of the collection any more",
			Change: func(w *rulestest.World) { none(w); w.VChannels[0].Shard = -1 },
		},
		{Name: "by a streaming node", Change: func(w *rulestest.World) {
			w.Another("streamingnode", 30)
			w.PChannels[0].Streaming, w.PChannels[0].Node = true, 30
			w.VChannels[0].Watcher = 30
		}},
		{Name: "by a streaming node that is gone", Change: func(w *rulestest.World) {
			w.PChannels[0].Streaming, w.PChannels[0].Node = true, 31
			w.VChannels[0].Watcher = 31
		}, Want: []string{"error collections/1000 streamingnode-31 is gone (not registered)"}},
		{
			Name: "stopped cluster", Change: func(w *rulestest.World) { none(w); w.Sessions = nil },
			Skipped: "no process is registered",
		},
		{Name: "a version that keeps watches elsewhere", Change: func(w *rulestest.World) {
			w.Version.Text = "2.6.1"
			none(w)
			w.VChannels[1].Watched = false
		}, Skipped: "does not know where this version stores its watches"},
	})
}
