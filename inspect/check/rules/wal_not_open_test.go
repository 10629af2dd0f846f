package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestWALNotOpen(t *testing.T) {
	lacks := func(change func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.RunStreaming(watermark)
			if change != nil {
				change(w)
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("wal-not-open"), []rulestest.Case{
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
		{Name: "open", Change: func(w *rulestest.World) { w.RunStreaming(watermark, opened) }},
		{
			Name: "not there", Change: lacks(nil),
			Want: []string{"error pchannels/" + rulestest.PChannel + " streamingnode-30 has not opened the log"},
		},
		{Name: "in an older term", Change: func(w *rulestest.World) {
			w.RunStreaming(watermark, rulestest.LogSeries("milvus_wal_info", 1, "term", "1"))
		}, Want: []string{"error pchannels/" + rulestest.PChannel + " open in term 1, but is assigned term 2"}},
		{Name: "being read", Change: func(w *rulestest.World) {
			w.RunStreaming(watermark, rulestest.LogSeries("milvus_wal_recovery_info", 1, "state", "persist-recovering"))
		}, Want: []string{"info pchannels/" + rulestest.PChannel + " persist-recovering"}},
		{
			Name: "one scrape", Change: lacks(func(w *rulestest.World) { w.StreamingProcess().Before = nil }),
			Skipped: "whether " + rulestest.PChannel + " stays closed",
		},
		{Name: "restarted between the scrapes", Change: lacks(func(w *rulestest.World) {
			w.StreamingProcess().Before.Families["process_start_time_seconds"].Series[0].Value--
		}), Skipped: "whether " + rulestest.PChannel + " stays closed"},
		{Name: "started just now", Change: lacks(func(w *rulestest.World) {
			for _, m := range []*model.Metrics{w.StreamingProcess().Metrics, w.StreamingProcess().Before} {
				m.Families["process_start_time_seconds"].Series[0].Value = float64(
					rulestest.TimeAgo(4 * time.Minute).Unix(),
				)
			}
		})},
		{
			Name:    "its metrics were cut",
			Change:  lacks(func(w *rulestest.World) { w.StreamingProcess().Metrics.Partial = true }),
			Skipped: "streamingnode-30: read in part",
		},
		{Name: "the metrics of one node were not read", Change: lacks(func(w *rulestest.World) {
			w.Another("streamingnode", 31)
			w.PChannels[1].Streaming, w.PChannels[1].Node, w.PChannels[1].State = true, 31, "Assigned"
		}), Want: []string{"error pchannels/" + rulestest.PChannel}},
		{Name: "being assigned", Change: lacks(func(w *rulestest.World) { w.PChannels[0].State = "Assigning" })},
		{Name: "assigned to a node without a session, another check's", Change: lacks(func(w *rulestest.World) {
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Node == 30 })
		})},
		{
			Name:   "assigned to be read only, as in an upgrade",
			Change: lacks(func(w *rulestest.World) { w.PChannels[0].AccessMode = "ReadOnly" }),
		},
		{Name: "another node reads it: it moved", Change: lacks(func(w *rulestest.World) {
			w.Another("streamingnode", 31).Process = &model.Process{
				Address: "10.0.0.31:9091",
				Metrics: rulestest.ScrapeAt(0,
					[]rulestest.Series{ofLog31("milvus_wal_recovery_info", "state", "stream-recovering")}),
			}
			w.Runtime.Processes = append(w.Runtime.Processes, w.Runtime.Nodes[len(w.Runtime.Nodes)-1].Process)
		}), Skipped: "whether " + rulestest.PChannel + " moved"},
		{
			Name: "scraped twice at one time",
			Change: lacks(
				func(w *rulestest.World) { w.StreamingProcess().Before.At = w.StreamingProcess().Metrics.At },
			),
			Skipped: "whether " + rulestest.PChannel + " stays closed",
		},
		{Name: "read whole, and says nothing of logs in its first minutes", Change: func(w *rulestest.World) {
			w.RunStreaming()
			own := w.StreamingProcess()
			w.Runtime.Processes = append(w.Runtime.Processes,
				&model.Process{
					Metrics: rulestest.ScrapeAt(0,
						[]rulestest.Series{
							{
								Name: "milvus_wal_growing_segment_hwm_bytes", Value: 1,
								Labels: []model.Pair{{Key: "node_id", Value: "32"}},
							},
						}),
				})
			for _, m := range []*model.Metrics{own.Metrics, own.Before} {
				m.Families["process_start_time_seconds"].Series[0].Value = float64(
					rulestest.TimeAgo(30 * time.Second).Unix(),
				)
			}
		}},
		{Name: "read whole, and says nothing of logs for hours", Change: func(w *rulestest.World) {
			w.RunStreaming()
			w.Runtime.Processes = append(w.Runtime.Processes,
				&model.Process{
					Metrics: rulestest.ScrapeAt(0,
						[]rulestest.Series{
							{
								Name: "milvus_wal_growing_segment_hwm_bytes", Value: 1,
								Labels: []model.Pair{{Key: "node_id", Value: "32"}},
							},
						}),
				})
		}, Skipped: "streamingnode-30: they have no log metrics"},
	})
}

// ofLog31 returns a series of the same log on node 31.
func ofLog31(name string, more ...string) rulestest.Series {
	s := rulestest.LogSeries(name, 1, more...)
	s.Labels[1].Value = "31"
	return s
}
