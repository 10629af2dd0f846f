package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSegmentDropped(t *testing.T) {
	// dropped marks a segment as dropped that a node still has.
	dropped := func(ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.Segment(0).State, w.Segment(0).DroppedAt = model.SegmentDropped, rulestest.TSOAgo(ago)
			w.Recovery(rulestest.Channel0).Flushed = []model.SegmentID{2002}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("segment-loaded-dropped"), []rulestest.Case{
		{
			Name: "for half an hour", Change: dropped(30 * time.Minute),
			Want: []string{
				"warning collections/1000 1 segment, 90,000 rows, dropped up to 30 min ago, is still in memory on " +
					"querynode-4",
			},
		},
		{Name: "just now", Change: dropped(time.Minute)},
		{Name: "DataCoord wants it still", Change: func(w *rulestest.World) {
			dropped(30 * time.Minute)(w)
			w.Recovery(rulestest.Channel0).Flushed = []model.SegmentID{2000, 2002}
		}},
		{Name: "its successor is not loaded", Change: func(w *rulestest.World) {
			dropped(30 * time.Minute)(w)
			w.AddUnservedSegment(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000}
			w.Recovery(rulestest.Channel0).Flushed = []model.SegmentID{2002}
		}},
		{Name: "its successor is loaded", Change: func(w *rulestest.World) {
			dropped(30 * time.Minute)(w)
			s := w.AddUnservedSegment(2800, 9*time.Hour)
			s.CompactedFrom = []model.SegmentID{2000}
			w.Recovery(rulestest.Channel0).Flushed = []model.SegmentID{2002}
			w.Load(rulestest.NodeA, s, 20*time.Minute)
		}, Want: []string{"warning collections/1000 1 segment"}},
		{
			Name: "unknown to etcd", Change: func(w *rulestest.World) { w.Serve(); w.Segments = w.Segments[1:] },
			Want: []string{"warning collections/1000 dropped up to 4 h ago"},
		},
		{Name: "loaded after the metadata was read", Change: func(w *rulestest.World) {
			w.Serve()
			w.Load(rulestest.NodeB, rulestest.HealthySegment(2801, rulestest.Channel0), time.Second)
		}},
		{
			Name:   "of a collection that is gone",
			Change: func(w *rulestest.World) { w.Serve(); w.Collections[0].State, w.LoadStates = "Dropping", nil },
			Want: []string{
				"warning collections/1000 is dropped, but 4 segments, 360,000 rows, are still in memory on " +
					"querynode-4 and querynode-8",
			},
		},
		{Name: "of a collection that is going", Change: func(w *rulestest.World) {
			w.Serve()
			w.Collections[0].State, w.LoadStates = "Dropping", nil
			for _, s := range w.Segments {
				s.State, s.DroppedAt = model.SegmentDropped, rulestest.TSOAgo(10*time.Second)
			}
		}},
		{Name: "of a collection that was loaded after the metadata was read", Change: func(w *rulestest.World) {
			w.Serve()
			w.LoadStates = nil
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				for i := range w.Query(id).Distribution.Sealed {
					w.Query(id).Distribution.Sealed[i].Version = rulestest.Nanos(5 * time.Second)
				}
			}
		}},
		{
			Name:   "of a collection that was released",
			Change: func(w *rulestest.World) { w.Serve(); w.LoadStates = nil },
			Want:   []string{"info collections/1000 collection docs is not loaded, but"},
		},
		{
			Name:    "nobody knows since when",
			Change:  func(w *rulestest.World) { dropped(0)(w); w.Segment(0).DroppedAt = 0 },
			Skipped: "when 1 segment in memory was dropped",
		},
	})
}
