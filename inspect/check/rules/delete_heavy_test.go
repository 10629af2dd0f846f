package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestDeleteHeavy(t *testing.T) {
	del := func(i int, n int64) func(*rulestest.World) {
		return func(w *rulestest.World) { w.Segment(i).DeletedRows = n }
	}
	rulestest.RunCases(t, rulestest.ByID("delete-heavy"), []rulestest.Case{
		{Name: "under a fifth", Change: del(0, 18_000)},
		{
			Name: "over a fifth", Change: del(0, 18_001),
			Want: []string{"info collections/1000 1 segment of docs has up to 20% of 90,000 rows deleted"},
		},
		{Name: "half", Change: del(0, 45_000), Want: []string{"warning collections/1000 up to 50%"}},
		{
			Name: "a key deleted many times", Change: del(0, 900_000),
			Want: []string{"warning collections/1000 up to 100%"},
		},
		{Name: "just written", Change: func(w *rulestest.World) {
			w.AddResponses()
			w.SetConfig("dataCoord.compaction.enableAutoCompaction", "true", w.Live("datacoord"))
			del(0, 45_000)(w)
			w.Segment(0).PositionAt = rulestest.TSOAgo(30 * time.Minute)
		}},
		{Name: "a small part of the collection", Change: func(w *rulestest.World) {
			del(0, 45_000)(w)
			for _, s := range w.Segments[1:] {
				s.Rows = 1_000_000
			}
		}},
		{
			Name: "half, not loaded", Change: func(w *rulestest.World) { del(0, 45_000)(w); w.LoadStates = nil },
			Want: []string{"info collections/1000 up to 50%"},
		},
		{Name: "half, of deletes that have just come", Change: func(w *rulestest.World) {
			del(0, 45_000)(w)
			w.Tasks = []*model.Task{
				{
					ID: 1, Type: "compaction", SubType: "Level0DeleteCompaction", State: "completed",
					Collection: rulestest.CollID, EndedAt: rulestest.TimeAgo(10 * time.Minute),
				},
			}
		}, Want: []string{"info collections/1000 up to 50%"}},
		{Name: "half, of deletes of long ago", Change: func(w *rulestest.World) {
			del(0, 45_000)(w)
			w.Tasks = []*model.Task{
				{
					ID: 1, Type: "compaction", SubType: "Level0DeleteCompaction", State: "completed",
					Collection: rulestest.CollID, EndedAt: rulestest.TimeAgo(3 * time.Hour),
				},
			}
		}, Want: []string{"warning collections/1000 up to 50%"}},
		{Name: "just written, compaction off", Change: func(w *rulestest.World) {
			w.AddResponses()
			w.SetConfig("dataCoord.compaction.enableAutoCompaction", "false", w.Live("datacoord"))
			del(0, 20_000)(w)
			w.Segment(0).PositionAt = rulestest.TSOAgo(time.Minute)
		}, Want: []string{"warning collections/1000 up to 22.2% of 90,000 rows deleted, and compaction is off"}},
		{Name: "compaction off for the collection, few deletes", Change: func(w *rulestest.World) {
			w.Collections[0].Properties = []model.Pair{{Key: "collection.autocompaction.enabled", Value: "false"}}
			del(0, 18_001)(w)
			w.LoadStates = nil
		}, Want: []string{"info collections/1000 and compaction is off"}},
		{
			Name:   "in L0 segments",
			Change: func(w *rulestest.World) { del(0, 45_000)(w); w.Segment(0).Level = model.LevelL0 },
		},
	})
}
