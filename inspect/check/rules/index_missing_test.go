package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexMissing(t *testing.T) {
	drop := func(w *rulestest.World) { w.Segment(0).Indexes = nil }
	rulestest.RunCases(t, rulestest.ByID("index-missing"), rulestest.Configured([]rulestest.Case{
		{
			Name: "no record", Change: drop,
			Want: []string{
				"warning indexes/1500 HNSW index vec_idx on docs.vec is missing on 1 flushed segment, 90,000 rows",
			},
		},
		{
			Name: "only a deleted record", Change: func(w *rulestest.World) { w.Index(0).Deleted = true },
			Want: []string{"warning indexes/1500 1 flushed segment"},
		},
		{
			Name:   "several segments are one finding",
			Change: func(w *rulestest.World) { drop(w); w.Segment(1).Indexes = nil },
			Want:   []string{"warning indexes/1500 2 flushed segments, 180,000 rows"},
		},
		{Name: "flat", Change: func(w *rulestest.World) { drop(w); w.Indexes[0].Type = "FLAT" }},
		{Name: "few rows", Change: func(w *rulestest.World) { drop(w); w.Segment(0).Rows = 1023 }},
		{
			Name: "as many rows as needed", Change: func(w *rulestest.World) { drop(w); w.Segment(0).Rows = 1024 },
			Want: []string{"warning indexes/1500 1,024 rows"},
		},
		{Name: "configured for more rows", Change: func(w *rulestest.World) {
			drop(w)
			w.Config = []*model.ConfigEntry{
				{Name: "indexCoord/segment/minSegmentNumRowsToEnableIndex", Value: "100000"},
			}
		}},
		{
			Name:   "just flushed",
			Change: func(w *rulestest.World) { drop(w); w.Segment(0).PositionAt = rulestest.TSOAgo(9 * time.Minute) },
		},
		{
			Name:   "just compacted",
			Change: func(w *rulestest.World) { drop(w); w.Segment(0).ExpireAt = rulestest.TSOAgo(9 * time.Minute) },
		},
		{
			Name:   "index just defined",
			Change: func(w *rulestest.World) { drop(w); w.Indexes[0].CreatedAt = rulestest.TimeAgo(9 * time.Minute) },
		},
		{Name: "of an import under way", Change: func(w *rulestest.World) { drop(w); w.Segment(0).Importing = true }},
		{Name: "sorting comes first in 2.5", Change: func(w *rulestest.World) {
			drop(w)
			w.Version.Text, w.Segment(0).PositionAt = "2.5.4", rulestest.TSOAgo(20*time.Minute)
		}},
		{Name: "sorting takes long in 2.5", Change: func(w *rulestest.World) {
			drop(w)
			w.Version.Text, w.Segment(0).PositionAt = "2.5.4", rulestest.TSOAgo(40*time.Minute)
		}, Want: []string{"warning indexes/1500 1 flushed segment"}},
		{Name: "sorted in 2.5", Change: func(w *rulestest.World) {
			drop(w)
			w.Version.Text, w.Segment(0).PositionAt, w.Segment(0).Sorted = "2.5.4", rulestest.TSOAgo(20*time.Minute),
				true
		}, Want: []string{"warning indexes/1500 1 flushed segment"}},
		{Name: "growing", Change: func(w *rulestest.World) { drop(w); w.Segment(0).State = model.SegmentGrowing }},
		{Name: "L0", Change: func(w *rulestest.World) { drop(w); w.Segment(0).Level = model.LevelL0 }},
		{Name: "collection dropped", Change: func(w *rulestest.World) { drop(w); w.Collections[0].State = "Dropping" }},
		{
			Name: "no time", Change: func(w *rulestest.World) { drop(w); w.Now = time.Time{} },
			Skipped: "time of the metadata is unknown",
		},
		{Name: "scalar field", Change: func(w *rulestest.World) {
			w.Indexes = append(w.Indexes, &model.Index{
				ID: 1501, Collection: rulestest.CollID, Field: 102, Name: "tag_idx", Type: "INVERTED",
				CreatedAt: rulestest.TimeAgo(time.Hour),
			})
		}, Want: []string{"info indexes/1501 INVERTED index tag_idx on docs.tag is missing on 4 flushed segments"}},
	}))
	r := rulestest.RunCheck(t, rulestest.ByID("index-missing"), drop)
	if cost := r.Findings[0].Cost; cost < 0.5 || cost > 1 {
		t.Errorf(
			"90,000 of 360,000 rows without an index cost %v of searches; the others are graphs, which compare few",
			cost,
		)
	}
	if r := rulestest.RunCheck(t, rulestest.ByID("index-missing"), func(w *rulestest.World) {
		drop(w)
		w.LoadStates = nil
	}); r.Findings[0].Cost != 0 {
		t.Errorf("a collection that is not loaded costs searches %v", r.Findings[0].Cost)
	}
}
