package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestOrphanRecords(t *testing.T) {
	logs := &model.Segment{ID: 9000, Collection: rulestest.WellColl, Bytes: 4096, Logs: []model.FieldLogs{{Files: 3, Bytes: 4096}}}
	rulestest.Hold(t, rulestest.Named("orphan-binlogs"), []rulestest.Verdict{
		{Name: "logs", Change: func(w *rulestest.World) { w.Orphans = []*model.Segment{logs} }, Want: []string{"info / 3 log files (4.0 KiB) belong to 1 segment without a record"}},
		{Name: "many logs", Change: func(w *rulestest.World) {
			large := *logs
			large.Bytes = 3 << 30
			w.Orphans = []*model.Segment{&large}
		}, Want: []string{"warning / 3.0 GiB"}},
		{Name: "only indexes", Change: func(w *rulestest.World) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Index: rulestest.WellIndex}}}}
		}},
	})
	rulestest.Hold(t, rulestest.Named("orphan-index"), []rulestest.Verdict{
		{Name: "segment gone", Change: func(w *rulestest.World) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Index: rulestest.WellIndex}}}}
		}, Want: []string{"info / left over: 1 index record of segments that are gone"}},
		{Name: "as 2.1 wrote them", Change: func(w *rulestest.World) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Legacy: true}}}}
		}},
		{Name: "definition gone", Change: func(w *rulestest.World) { w.Index(0).Index = 1400 }, Want: []string{"info / left over: 1 segment with index records of definitions that are gone"}},
		{Name: "an older definition gone, all indexed", Change: func(w *rulestest.World) {
			w.Segment(0).Indexes = append([]model.SegmentIndex{{Index: 1400, State: model.IndexFinished}}, w.Segment(0).Indexes...)
		}, Want: []string{"info / left over: 1 segment with index records of definitions that are gone"}},
		{Name: "definition gone, marked deleted", Change: func(w *rulestest.World) { w.Index(0).Index, w.Index(0).Deleted = 1400, true }},
		{Name: "definition marked deleted", Change: func(w *rulestest.World) { w.Indexes[0].Deleted = true }},
		{Name: "collection gone", Change: func(w *rulestest.World) {
			w.Indexes = append(w.Indexes, &model.Index{ID: 1600, Collection: 900, Name: "left"})
		}, Want: []string{"info / left over: 1 index definition of collections that are gone"}},
	})
}
