package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestTaskFailed(t *testing.T) {
	task := func(kind, state, reason string, ended time.Time) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 7, Type: kind, State: state, Reason: reason, Collection: rulestest.CollID, EndedAt: ended,
			})
		}
	}
	rulestest.RunCases(t, rulestest.ByID("task-failed"), []rulestest.Case{
		{
			Name: "import", Change: task("import-job", "Failed", "file not found", rulestest.TimeAgo(time.Hour)),
			Want: []string{"warning tasks/import-job/7 1 import of docs failed: file not found"},
		},
		{
			Name:   "import, long ago",
			Change: task("import-job", "Failed", "file not found", rulestest.TimeAgo(30*time.Hour)),
			Want:   []string{"info tasks/import-job/7 file not found"},
		},
		{
			Name: "compaction", Change: task("compaction", "timeout", "", rulestest.TimeAgo(time.Hour)),
			Want: []string{"info tasks/compaction/7 no reason recorded"},
		},
		{
			Name: "stats", Change: task("stats", "Failed", "boom", time.Time{}),
			Want: []string{"warning tasks/stats/7 boom"},
		},
		{Name: "done", Change: task("stats", "Finished", "", time.Time{})},
		{Name: "an import and its tasks are one", Change: func(w *rulestest.World) {
			task("import-job", "Failed", "file not found", rulestest.TimeAgo(time.Hour))(w)
			for _, kind := range []string{"preimport", "import"} {
				w.Tasks = append(w.Tasks, &model.Task{
					ID: 8, Type: kind, State: "Failed", Trigger: 7, Collection: rulestest.CollID,
				})
			}
		}, Want: []string{"warning tasks/import-job/7 file not found"}},
		{Name: "of no collection", Change: func(w *rulestest.World) {
			task("analyze", "Failed", "boom", rulestest.TimeAgo(time.Hour))(w)
			w.Tasks[0].Collection = 0
		}, Want: []string{"warning tasks/analyze/7 1 analyze task failed: boom"}},
		{
			Name: "of a collection that is gone",
			Change: func(w *rulestest.World) {
				task("stats", "Failed", "boom", time.Time{})(w)
				w.Tasks[0].Collection = 9
			},
		},
	})
}
