package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestGrowingOld(t *testing.T) {
	// idle adds a growing segment whose last write, some time ago, DataCoord still has in memory.
	idle := func(rows int64, begun, written time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, rows, begun)
			w.AddToDataCoord(2900, rows, written)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("growing-too-old"), []rulestest.Case{
		{
			Name: "small inserts, never flushed", Change: idle(1500, 20*time.Minute, 15*time.Minute),
			Want: []string{"warning collections/1000 1,500 rows in 1 growing segment, 15 min after the last insert"},
		},
		{
			Name: "few rows", Change: idle(200, 20*time.Minute, 15*time.Minute),
			Want: []string{"info collections/1000 200 rows"},
		},
		{Name: "being written", Change: idle(90_000, 20*time.Minute, time.Second)},
		{Name: "a pause of a minute", Change: idle(1500, 20*time.Minute, time.Minute)},
		{Name: "large enough for idle sealing", Change: idle(5000, 20*time.Minute, 8*time.Minute)},
		{
			Name: "past idle sealing", Change: idle(5000, 40*time.Minute, 20*time.Minute),
			Want: []string{"warning collections/1000 1 of these past the limits"},
		},
		{
			Name: "past its life, and written", Change: idle(5000, 25*time.Hour, time.Second),
			Want: []string{"warning collections/1000 past the limits at which DataCoord seals (10 min idle, 24 h old)"},
		},
		{Name: "the cluster's own life", Change: func(w *rulestest.World) {
			idle(5000, 3*time.Hour, time.Second)(w)
			w.Configure("dataCoord.segment.maxLife", "3600")
		}, Want: []string{"warning collections/1000 60 min old"}},
		{Name: "not loaded", Change: func(w *rulestest.World) {
			idle(1500, 20*time.Minute, 15*time.Minute)(w)
			w.LoadStates = nil
		}},
		{
			Name:   "nothing tells, and nothing is consumed",
			Change: func(w *rulestest.World) { w.Serve(); w.Grow(2900, 1500, 20*time.Minute) },
			Want:   []string{"warning collections/1000 started 20 min ago and no longer written"},
		},
		{Name: "nothing tells, and the leader consumes", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 1500, 20*time.Minute)
			w.Query(rulestest.NodeA).System.Quota.Rates["InsertConsumeThroughput"] = 5000
		}, Skipped: "time of the last write to 1 growing segment"},
		{Name: "nothing tells, and it is young", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 1500, time.Minute)
			w.Query(rulestest.NodeA).System = nil
		}},
		{
			Name: "sealed, and its channel stands still", Change: func(w *rulestest.World) {
				w.Serve()
				s := w.Grow(2900, 1500, 3*time.Hour)
				s.State, s.Rows, s.ExpireAt = model.SegmentSealed, 1500, rulestest.TSOAgo(2*time.Hour)
				w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(2 * time.Hour)
			},
			Want: []string{
				"warning collections/1000 sealed but not flushed: the checkpoint of 1 channel does not advance",
			}, Advice: "another flush does not help",
		},
		{Name: "sealed this moment", Change: func(w *rulestest.World) {
			w.Serve()
			s := w.Grow(2900, 1500, 3*time.Hour)
			s.State, s.Rows, s.ExpireAt = model.SegmentSealed, 1500, rulestest.TSOAgo(2*time.Hour)
		}},
	})
}

// TestGrowingOldFromMetadata checks that the records in etcd up to the channel's checkpoint are sufficient for
// a finding.
func TestGrowingOldFromMetadata(t *testing.T) {
	growing := func(written, checkpoint time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Segments = append(w.Segments, &model.Segment{
				ID: 2900, Collection: rulestest.CollID, Partition: rulestest.PartID, VChannel: rulestest.Channel0,
				State: model.SegmentGrowing, Rows: 30_000, MaxRows: 100_000,
				StartAt: rulestest.TSOAgo(time.Hour), ExpireAt: rulestest.TSOAgo(written),
			})
			w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(checkpoint)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("growing-too-old"), []rulestest.Case{
		{
			Name: "quiet up to the checkpoint", Change: growing(17*time.Minute, 20*time.Second),
			Want: []string{"warning collections/1000 30,000 rows in 1 growing segment, 17 min after the last insert"},
		},
		{
			Name: "rows wait for a sync", Change: growing(17*time.Minute, 16*time.Minute),
			Skipped: "time of the last write",
		},
		{
			Name: "written just now", Change: growing(10*time.Second, 5*time.Minute),
			Skipped: "): the nodes were not queried",
		},
		{Name: "no checkpoint", Change: func(w *rulestest.World) {
			growing(17*time.Minute, 0)(w)
			w.VChannels[0].Checkpoint.At = 0
		}, Skipped: "time of the last write"},
		{Name: "a streaming node's record", Change: func(w *rulestest.World) {
			growing(17*time.Minute, 16*time.Minute)(w)
			w.Segments[4].Details = &model.SegmentDetails{
				Growing: &model.GrowingStat{
					Rows: 31_000, ModifiedAt: rulestest.TimeAgo(14 * time.Minute),
					CreatedAt: rulestest.TimeAgo(time.Hour),
				},
			}
		}, Want: []string{"warning collections/1000 31,000 rows in 1 growing segment, 14 min after the last insert"}},
	})
}
