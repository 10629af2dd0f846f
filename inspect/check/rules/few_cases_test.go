package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestWhatNoCaseHas holds checks to what no case of the fault library has.
func TestWhatNoCaseHas(t *testing.T) {
	rulestest.Hold(t, rulestest.Named("consistency-wait"), []rulestest.Verdict{
		{Name: "2.2 has one queue for both", Change: searched(rulestest.Traffic{Searches: 1000, Ms: 240, Consistency: 220, Sealed: 8, Mixed: true}), Skipped: "counts them as part of the read queue"},
		{Name: "whole milliseconds may hide all of it", Change: searched(rulestest.Traffic{Searches: 1000, Ms: 12, Consistency: 5, Sealed: 4})},
	})
	rulestest.Hold(t, rulestest.Named("l0-backlog"), []rulestest.Verdict{{Name: "collection gone", Change: func(w *rulestest.World) {
		for _, s := range w.Small(91, 2*time.Hour) {
			s.Level, s.Rows, s.DeletedRows, s.Partition = model.LevelL0, 0, 10, -1
		}
		w.Collections = nil
	}}})
	rulestest.Hold(t, rulestest.Named("orphan-alias"), []rulestest.Verdict{
		{Name: "dropped itself", Change: func(w *rulestest.World) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: 900, State: "Dropped"}}
		}},
		{Name: "of a dropped collection", Change: func(w *rulestest.World) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: rulestest.WellColl}}
			w.Collections[0].State = "Dropping"
		}, Want: []string{"warning aliases/default/prod Dropping"}},
	})
	rulestest.Hold(t, rulestest.Named("orphan-binlogs"), []rulestest.Verdict{{Name: "many logs", Change: func(w *rulestest.World) {
		w.Orphans = []*model.Segment{{ID: 9000, Collection: rulestest.WellColl, Bytes: 3 << 30, Logs: []model.FieldLogs{{Files: 3, Bytes: 4096}}}}
	}, Want: []string{"warning / 3.0 GiB"}}})
	rulestest.Hold(t, rulestest.Named("partition-key-skew"), []rulestest.Verdict{{Name: "nearly all in one", Change: func(w *rulestest.World) {
		w.Collections[0].Fields[2].PartitionKey = true
		w.Partitions, w.Segments = nil, nil
		for i := range 16 {
			id := model.PartitionID(5000 + i)
			w.Partitions = append(w.Partitions, &model.Partition{ID: id, Collection: rulestest.WellColl, Name: "_default_" + model.NodeID(i).String()})
			s := rulestest.WellSegment(model.SegmentID(6000+i), rulestest.WellCh0)
			s.Partition, s.Rows = id, []int64{2_000_000, 1000}[min(i, 1)]
			w.Segments = append(w.Segments, s)
		}
	}, Want: []string{"warning collections/1000 15.9 times the mean"}}})
}
