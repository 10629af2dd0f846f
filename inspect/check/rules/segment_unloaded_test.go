package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSegmentNotLoaded(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("segment-not-loaded"), []rulestest.Case{
		{
			Name:   "flushed for an hour",
			Change: func(w *rulestest.World) { w.Serve(); w.AddUnservedSegment(2800, time.Hour) },
			Want: []string{
				"error collections/1000 1 segment, 90,000 rows, flushed up to 60 min ago but served by no node",
			},
		},
		{
			Name:   "flushed just now",
			Change: func(w *rulestest.World) { w.Serve(); w.AddUnservedSegment(2800, 5*time.Minute) },
		},
		{Name: "growing still", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, time.Hour)
			w.View(rulestest.Channel0).Growing = []model.GrowingView{{ID: 2800}}
		}},
		{Name: "its sources are served in its place", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, time.Hour).CompactedFrom = []model.SegmentID{2000, 2002}
			for _, i := range []int{0, 2} {
				w.Segment(i).State, w.Segment(i).DroppedAt = model.SegmentDropped, rulestest.TSOAgo(time.Hour)
			}
		}},
		{Name: "compacted an hour ago, a source gone", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000, 1999}
			w.Segment(0).State, w.Segment(0).DroppedAt = model.SegmentDropped, rulestest.TSOAgo(time.Hour)
		}, Want: []string{"error collections/1000 flushed up to 60 min ago but served by no node"}},
		{Name: "compacted five minutes ago", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000, 1999}
			w.Segment(0).State, w.Segment(0).DroppedAt = model.SegmentDropped, rulestest.TSOAgo(5*time.Minute)
		}},
		{Name: "of a partition that is not loaded", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, time.Hour).Partition = 1002
			w.LoadStates[0].LoadType = "LoadPartition"
			w.LoadStates[0].Partitions = []model.PartitionLoad{{Partition: rulestest.PartID, Status: "Loaded"}}
		}},
		{Name: "empty", Change: func(w *rulestest.World) { w.Serve(); w.AddUnservedSegment(2800, time.Hour).Rows = 0 }},
		{
			Name:   "not to be loaded",
			Change: func(w *rulestest.World) { w.Serve(); w.AddUnservedSegment(2800, time.Hour); w.LoadStates = nil },
		},
		{Name: "loading", Change: func(w *rulestest.World) {
			w.Serve()
			w.AddUnservedSegment(2800, time.Hour)
			w.LoadStates[0].Status = "Loading"
		}},
		{
			Name:    "nobody knows when",
			Change:  func(w *rulestest.World) { w.Serve(); w.AddUnservedSegment(2800, 0).PositionAt = 0 },
			Skipped: "when 1 segment that no node serves was flushed",
		},
		{
			Name:    "DataCoord silent about the collection",
			Change:  func(w *rulestest.World) { w.Serve(); w.Runtime.Recovery = w.Runtime.Recovery[:1] },
			Skipped: "collection docs: DataCoord did not report",
		},
	})
}
