package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestBruteForceShare(t *testing.T) {
	bare := func(ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				for i := range w.Query(id).Distribution.Sealed {
					s := &w.Query(id).Distribution.Sealed[i]
					s.Indexes, s.Version = nil, rulestest.Nanos(ago)
				}
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("brute-force-share"), []rulestest.Case{
		{
			Name: "sealed and bare for long", Change: bare(time.Hour),
			Want: []string{
				"warning collections/1000 100% of the search work is brute force, on 360,000 of 360,000 rows",
			},
		},
		{
			Name: "sealed and bare for a moment", Change: bare(time.Minute),
			Want: []string{"info collections/1000 while rows are inserted or indexed"},
		},
		{Name: "FLAT", Change: func(w *rulestest.World) { bare(time.Hour)(w); w.Indexes[0].Type = "FLAT" }},
		{
			Name: "inserts under way", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 10*time.Minute)
				w.AddToDataCoord(2900, 50_000, time.Second)
			},
			Want: []string{
				"info collections/1000 on 50,000 of 410,000 rows, while rows are inserted",
				"info nodes/querynode-4 of its search work is brute force",
			},
		},
		{
			Name: "inserts under way, of which the last sync has a part", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 20*time.Minute)
				w.AddToDataCoord(2900, 20_000, time.Second)
			},
			Want: []string{
				"info collections/1000 on 50,000 of 410,000 rows, while rows are inserted",
				"info nodes/querynode-4 of its search work is brute force",
			},
		},
		{
			Name: "inserts under way into one, and another is left alone", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 20*time.Minute)
				w.AddToDataCoord(2900, 20_000, time.Second)
				w.Grow(2901, 50_000, 20*time.Minute)
				w.AddToDataCoord(2901, 50_000, 5*time.Minute)
			},
			Want: []string{
				"warning collections/1000 on 100,000 of 460,000 rows; 50% of that will not go away on its own",
				"info nodes/querynode-4 of its search work is brute force",
			},
		},
		{
			Name: "inserts over", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 10*time.Minute)
				w.AddToDataCoord(2900, 50_000, 5*time.Minute)
			},
			Want: []string{
				"warning collections/1000 100% of that will not go away on its own",
				"info nodes/querynode-4 of its search work",
			},
		},
		{
			Name: "inserts over, and others are handed over", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 10*time.Minute)
				w.AddToDataCoord(2900, 50_000, 5*time.Minute)
				s := w.Grow(2901, 50_000, 10*time.Minute)
				s.State, s.Rows, s.PositionAt, s.Indexes = model.SegmentFlushed, 50_000,
					rulestest.TSOAgo(5*time.Second),
					w.Segments[0].Indexes
				w.Load(rulestest.NodeB, s, 3*time.Second)
			},
			Want: []string{
				"warning collections/1000 on 50,000 of 460,000 rows; 100% of that will not go away on its own",
				"info nodes/querynode-4 of its search work",
			},
		},
		{
			Name: "inserts over, in two replicas", Change: func(w *rulestest.World) {
				w.Serve()
				w.Grow(2900, 50_000, 10*time.Minute)
				w.AddToDataCoord(2900, 50_000, 5*time.Minute)
				w.ServeTwice()
			},
			Want: []string{
				"warning collections/1000 on 50,000 of 410,000 rows; 100% of that will not go away on its own",
			},
		},
		{Name: "a little", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 1000, 10*time.Minute)
			w.AddToDataCoord(2900, 1000, 5*time.Minute)
		}},
	})
}
