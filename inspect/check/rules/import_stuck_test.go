package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestImportStuck(t *testing.T) {
	task := func(kind, state string, age time.Duration, node model.NodeID) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 7, Type: kind, State: state, Collection: rulestest.WellColl, StartedAt: rulestest.BackT(age), Node: node, Trigger: 6})
		}
	}
	importing := func(w *rulestest.World) { w.Segment(0).State = model.SegmentImporting }
	rulestest.Hold(t, rulestest.Named("import-stuck"), []rulestest.Verdict{
		{Name: "waiting", Change: task("import-job", "Pending", 20*time.Minute, 0)},
		{Name: "waiting for long", Change: task("import-job", "Pending", 40*time.Minute, 0), Want: []string{"warning tasks/import-job/7 import-job 7 into docs has been Pending for 40 min: it has not started"}},
		{Name: "at work", Change: task("import-job", "Importing", 2*time.Hour, 0)},
		{Name: "at work for very long", Change: task("import-job", "Importing", 13*time.Hour, 0), Want: []string{"warning tasks/import-job/7 it is not finished"}},
		{Name: "at work for very long, and getting on", Change: func(w *rulestest.World) {
			task("import-job", "Importing", 13*time.Hour, 0)(w)
			w.Tasks = append(w.Tasks, &model.Task{ID: 8, Type: "import", State: "Completed", Collection: rulestest.WellColl, Trigger: 7, EndedAt: rulestest.BackT(20 * time.Minute)})
		}, Want: []string{"info tasks/import-job/7 it is not finished"}},
		{Name: "on a node that is gone", Change: task("import", "InProgress", 10*time.Minute, 99), Want: []string{"warning tasks/import/7 its node is gone"}},
		{Name: "of 2.3, on a node that is gone", Change: task("import-job", "Started", 10*time.Minute, 99), Want: []string{"warning tasks/import-job/7 its node is gone"}},
		{Name: "on a node that is there", Change: task("import", "InProgress", 10*time.Minute, 5)},
		{Name: "no data node is there", Change: func(w *rulestest.World) {
			task("import-job", "Importing", 10*time.Minute, 0)(w)
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Role == "datanode" })
		}, Want: []string{"warning tasks/import-job/7 import-job 7 into docs has been Importing for 10 min: no data node is registered"}},
		{Name: "done", Change: task("import-job", "Completed", 20*time.Hour, 0)},
		{Name: "failed is task-failed's", Change: task("import-job", "Failed", 20*time.Hour, 0)},
		{Name: "without a time", Change: func(w *rulestest.World) { task("import-job", "Pending", 0, 0)(w); w.Tasks[0].StartedAt = time.Time{} }},
		{Name: "of a collection that is gone", Change: func(w *rulestest.World) {
			task("import-job", "Pending", 40*time.Minute, 0)(w)
			w.Tasks[0].Collection = 9
		}},
		{Name: "segments left over", Change: importing, Want: []string{"warning collections/1000 1 segment of docs, 90,000 rows, is importing, but no import is under way"}},
		{Name: "segments of an import", Change: func(w *rulestest.World) { importing(w); task("import", "InProgress", 10*time.Minute, 5)(w) }},
		{Name: "segments of an import of 2.3", Change: func(w *rulestest.World) { importing(w); task("import-job", "Started", 10*time.Minute, 5)(w) }},
		{Name: "segments of an import of 2.3 that failed", Change: func(w *rulestest.World) {
			importing(w)
			task("import-job", "FailedAndCleaned", 10*time.Minute, 5)(w)
		}, Want: []string{"warning collections/1000 1 segment of docs"}},
		{Name: "young segments", Change: func(w *rulestest.World) { importing(w); w.Segment(0).PositionAt = rulestest.Back(30 * time.Minute) }},
	})
}
