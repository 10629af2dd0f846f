package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestWALOpenTwice(t *testing.T) {
	second := rulestest.Series{
		Name: "milvus_wal_info", Value: 1,
		Labels: []model.Pair{
			{Key: "channel_name", Value: rulestest.PChannel}, {Key: "node_id", Value: "31"}, {Key: "term", Value: "1"},
		},
	}
	// two streaming nodes in one process
	twice := func(w *rulestest.World) { w.RunStreaming(watermark, opened, second) }
	rulestest.RunCases(t, rulestest.ByID("wal-open-twice"), []rulestest.Case{
		{
			Name:   "before 2.6",
			Change: func(w *rulestest.World) { w.RunStreaming(watermark); w.PChannels[0].Streaming = false },
		},
		{
			Name: "not asked", Change: func(w *rulestest.World) { w.RunStreaming(watermark); w.Runtime = nil },
			Skipped: "the nodes were not queried",
		},
		{
			Name:    "no metrics",
			Change:  func(w *rulestest.World) { w.RunStreaming(watermark); w.StreamingProcess().Metrics = nil },
			Skipped: "no streaming node reported its metrics",
		},
		{Name: "once", Change: func(w *rulestest.World) { w.RunStreaming(watermark, opened) }},
		{
			Name: "twice", Change: twice,
			Want: []string{
				"warning pchannels/" + rulestest.PChannel +
					" is open on streamingnode-30 (term 2) and on streamingnode-31 (term 1)",
			},
		},
		{
			Name: "one scrape", Change: func(w *rulestest.World) { twice(w); w.StreamingProcess().Before = nil },
			Skipped: "whether " + rulestest.PChannel + " is moving",
		},
		{Name: "of one node, told by two addresses of it", Change: func(w *rulestest.World) {
			w.RunStreaming(watermark, opened)
			again := *w.StreamingProcess()
			w.Runtime.Processes = append(w.Runtime.Processes, &again)
		}},
		{Name: "a query node that can hold no log was not read", Change: func(w *rulestest.World) {
			w.RunStreaming(watermark, opened)
			w.Another("querynode", 40).Outcome = model.Refused
		}},
		{Name: "one in a streaming node was not read", Change: func(w *rulestest.World) {
			w.RunStreaming(watermark, opened)
			w.Another("querynode", 40).Outcome = model.Refused
			w.Sessions[len(w.Sessions)-1].Labels = []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
		}, Skipped: "metrics of querynode-40"},
		{Name: "since the scrape before", Change: func(w *rulestest.World) {
			twice(w)
			w.StreamingProcess().Before = rulestest.ScrapeAt(-15*time.Second, []rulestest.Series{
				watermark, opened, {Name: "milvus_wal_growing_segment_hwm_bytes", Value: 1, Labels: second.Labels[1:2]},
			})
		}},
	})
}
