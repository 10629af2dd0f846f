package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestGrowingFlushed(t *testing.T) {
	// flushed marks the growing segment 2900 as flushed in etcd.
	flushed := func(ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			s := w.Grow(2900, 5000, 3*time.Hour)
			s.State, s.Rows, s.PositionAt = model.SegmentFlushed, 5000, rulestest.TSOAgo(ago)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("growing-flushed"), []rulestest.Case{
		{
			Name: "half an hour ago", Change: flushed(29 * time.Minute),
			Want: []string{
				"warning collections/1000 1 segment flushed 29 min ago is still served as growing by querynode-4: " +
					"5,000 rows, 1.4% of its rows",
			},
		},
		{Name: "a handoff under way", Change: flushed(20 * time.Second)},
		{Name: "the target waits for another", Change: flushed(5 * time.Minute)},
		{Name: "the sealed copy took long to load", Change: func(w *rulestest.World) {
			flushed(9 * time.Minute)(w)
			w.Load(rulestest.NodeB, w.Segments[4], 30*time.Second)
		}},
		{Name: "flushed after the nodes were asked", Change: flushed(-10 * time.Second)},
		{Name: "still growing", Change: func(w *rulestest.World) { w.Serve(); w.Grow(2900, 5000, 3*time.Hour) }},
		{Name: "compacted away", Change: func(w *rulestest.World) {
			w.Serve()
			s := w.Grow(2900, 5000, 3*time.Hour)
			s.State, s.Rows, s.DroppedAt = model.SegmentDropped, 5000, rulestest.TSOAgo(time.Hour)
		}, Want: []string{"warning collections/1000 1 segment flushed 60 min ago"}},
		{Name: "forgotten by etcd", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 5000, 3*time.Hour)
			w.Segments = w.Segments[:4]
		}, Want: []string{"warning collections/1000 1 segment flushed 3 h ago"}},
		{Name: "younger than the metadata", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 5000, 5*time.Second)
			w.Segments = w.Segments[:4]
		}},
		{Name: "sealed as well, for long", Change: func(w *rulestest.World) {
			flushed(time.Minute)(w)
			w.Load(rulestest.NodeB, w.Segments[4], 10*time.Minute)
		}, Want: []string{"warning collections/1000 1 segment flushed 10 min ago"}},
		{Name: "sealed as well, just now", Change: func(w *rulestest.World) {
			flushed(time.Minute)(w)
			w.Load(rulestest.NodeB, w.Segments[4], 10*time.Second)
		}},
		{Name: "most of the work", Change: func(w *rulestest.World) {
			flushed(29 * time.Minute)(w)
			w.View(rulestest.Channel0).GrowingRows, w.Segments[4].Rows = 80_000, 80_000
		}, Want: []string{"error collections/1000 1 segment"}},
		{Name: "nobody knows when it was flushed", Change: func(w *rulestest.World) {
			flushed(0)(w)
			w.Segments[4].PositionAt = 0
		}, Skipped: "when 1 segment served as growing was flushed"},
		{Name: "by what a recording without times says of itself", Change: func(w *rulestest.World) {
			flushed(29 * time.Minute)(w)
			w.Runtime.From, w.Runtime.To = time.Time{}, time.Time{}
		}, Want: []string{"warning collections/1000 1 segment flushed 29 min ago"}},
	})
}
