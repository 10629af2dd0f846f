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
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 7, Type: kind, State: state, Collection: rulestest.CollID, StartedAt: rulestest.TimeAgo(age),
				Node: node, Trigger: 6,
			})
		}
	}
	importing := func(w *rulestest.World) { w.Segment(0).State = model.SegmentImporting }
	rulestest.RunCases(t, rulestest.ByID("task-stuck"), []rulestest.Case{
		{Name: "waiting", Change: task("import-job", "Pending", 20*time.Minute, 0)},
		{
			Name: "waiting for long", Change: task("import-job", "Pending", 40*time.Minute, 0),
			Want: []string{
				"warning tasks/import-job/7 1 import of docs does not finish: import-job 7 (Pending) for 40 min on " +
					"no node: it has not started",
			},
		},
		{Name: "at work", Change: task("import-job", "Importing", 2*time.Hour, 0)},
		{
			Name: "at work for very long", Change: task("import-job", "Importing", 13*time.Hour, 0),
			Want: []string{"warning tasks/import-job/7 it is not finished"},
		},
		{Name: "at work for very long, and getting on", Change: func(w *rulestest.World) {
			task("import-job", "Importing", 13*time.Hour, 0)(w)
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 8, Type: "import", State: "Completed", Collection: rulestest.CollID, Trigger: 7,
				EndedAt: rulestest.TimeAgo(20 * time.Minute),
			})
		}, Want: []string{"info tasks/import-job/7 it is not finished"}},
		{
			Name: "on a node that is gone", Change: task("import", "InProgress", 10*time.Minute, 99),
			Want: []string{"warning tasks/import/7 its node is gone"},
		},
		{
			Name: "of 2.3, on a node that is gone", Change: task("import-job", "Started", 10*time.Minute, 99),
			Want: []string{"warning tasks/import-job/7 its node is gone"},
		},
		{Name: "on a node that is there", Change: task("import", "InProgress", 10*time.Minute, 5)},
		{Name: "no data node is there", Change: func(w *rulestest.World) {
			task("import-job", "Importing", 10*time.Minute, 0)(w)
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Role == "datanode" })
		}, Want: []string{"warning tasks/import-job/7 (Importing) for 10 min on no node: no data node is registered"}},
		{Name: "done", Change: task("import-job", "Completed", 20*time.Hour, 0)},
		{Name: "failed is task-failed's", Change: task("import-job", "Failed", 20*time.Hour, 0)},
		{
			Name: "without a time",
			Change: func(w *rulestest.World) {
				task("import-job", "Pending", 0, 0)(w)
				w.Tasks[0].StartedAt = time.Time{}
			},
		},
		{Name: "of a collection that is gone", Change: func(w *rulestest.World) {
			task("import-job", "Pending", 40*time.Minute, 0)(w)
			w.Tasks[0].Collection = 9
		}},
		{
			Name: "segments left over", Change: importing,
			Want: []string{
				"warning collections/1000 1 segment of docs, 90,000 rows, is importing, but no import is under way",
			},
		},
		{
			Name:   "segments of an import",
			Change: func(w *rulestest.World) { importing(w); task("import", "InProgress", 10*time.Minute, 5)(w) },
		},
		{
			Name:   "segments of an import of 2.3",
			Change: func(w *rulestest.World) { importing(w); task("import-job", "Started", 10*time.Minute, 5)(w) },
		},
		{Name: "segments of an import of 2.3 that failed", Change: func(w *rulestest.World) {
			importing(w)
			task("import-job", "FailedAndCleaned", 10*time.Minute, 5)(w)
		}, Want: []string{"warning collections/1000 1 segment of docs"}},
		{
			Name: "young segments",
			Change: func(w *rulestest.World) {
				importing(w)
				w.Segment(0).PositionAt = rulestest.TSOAgo(30 * time.Minute)
			},
		},
	})
}

func TestCompactionStuck(t *testing.T) {
	task := func(state string, age time.Duration, node model.NodeID) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{
				ID: int64(len(w.Tasks)) + 7, Type: "compaction", SubType: "MixCompaction", State: state,
				Collection: rulestest.CollID, StartedAt: rulestest.TimeAgo(age), Node: node,
			})
		}
	}
	rulestest.RunCases(t, rulestest.ByID("task-stuck"), []rulestest.Case{
		{Name: "at work", Change: task("executing", 10*time.Minute, 5)},
		{
			Name: "for long", Change: task("executing", 3*time.Hour, 5),
			Want: []string{
				"warning tasks/compaction/7 1 compaction task of docs does not finish: MixCompaction 7 (executing) " +
					"for 3 h on datanode-5: it is not finished",
			},
		},
		{
			Name: "queued for long", Change: task("pipelining", 3*time.Hour, 0),
			Want: []string{"warning tasks/compaction/7 (pipelining) for 3 h on no node: it has not started"},
		},
		{
			Name: "on a node that is gone", Change: task("executing", 10*time.Minute, 99),
			Want: []string{"warning tasks/compaction/7 on datanode-99 (gone): its node is gone"},
		},
		{
			Name: "two are one finding",
			Change: func(w *rulestest.World) {
				task("executing", 3*time.Hour, 5)(w)
				task("executing", 4*time.Hour, 5)(w)
			},
			Want: []string{
				"warning tasks/compaction/8 2 compaction tasks of docs do not finish: the oldest, MixCompaction 8 " +
					"(executing) for 4 h",
			},
		},
		{Name: "done", Change: task("completed", 30*time.Hour, 5)},
		{Name: "failed", Change: task("failed", 30*time.Hour, 5)},
		{Name: "a long queue that moves", Change: func(w *rulestest.World) {
			task("pipelining", 3*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = rulestest.TimeAgo(5 * time.Minute)
		}, Want: []string{"info tasks/compaction/7 (pipelining) for 3 h on no node"}},
		{Name: "a queue that moves, and one task in it for days", Change: func(w *rulestest.World) {
			task("pipelining", 30*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = rulestest.TimeAgo(5 * time.Minute)
		}, Want: []string{"warning tasks/compaction/7 (pipelining) for 30 h"}},
		{Name: "clustering takes hours", Change: func(w *rulestest.World) {
			task("analyzing", 5*time.Hour, 5)(w)
			w.Tasks[0].SubType = "ClusteringCompaction"
		}},
		{Name: "clustering for very long", Change: func(w *rulestest.World) {
			task("indexing", 13*time.Hour, 5)(w)
			w.Tasks[0].SubType = "ClusteringCompaction"
		}, Want: []string{"warning tasks/compaction/7 ClusteringCompaction 7 (indexing) for 13 h"}},
	})
}

// TestOtherTasksStuck checks tasks and snapshots of 3.0, and tasks of kinds without a start time in their records.
func TestOtherTasksStuck(t *testing.T) {
	task := func(kind, state string, age time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 7, Type: kind, State: state, Collection: rulestest.CollID, Node: 5,
				StartedAt: rulestest.TimeAgo(age),
			})
			if age == 0 {
				w.Tasks[0].StartedAt = time.Time{}
			}
		}
	}
	snapshot := func(state string, age time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Snapshots = []*model.Snapshot{
				{ID: 8, Name: "s", Collection: rulestest.CollID, State: state, PendingSince: rulestest.TimeAgo(age)},
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("task-stuck"), []rulestest.Case{
		{Name: "a restore under way", Change: task("copy-segment-job", "Executing", 2*time.Hour)},
		{
			Name: "a restore", Change: task("copy-segment-job", "Executing", 13*time.Hour),
			Want: []string{"warning tasks/copy-segment-job/7 it is not finished"},
		},
		{
			Name: "an export", Change: task("export-snapshot-job", "Publishing", 13*time.Hour),
			Want: []string{"warning tasks/export-snapshot-job/7 it is not finished"},
		},
		{
			Name: "a refresh", Change: task("external-refresh-job", "InProgress", 13*time.Hour),
			Want: []string{"warning tasks/external-refresh-job/7 it is not finished"},
		},
		{Name: "statistics without a begin", Change: task("stats", "InProgress", 0)},
		{Name: "an import that waits for a commit", Change: task("import-job", "Uncommitted", 48*time.Hour)},
		{
			Name: "a broadcast",
			Change: func(w *rulestest.World) {
				task("broadcast", "WaitAck", 13*time.Hour)(w)
				w.Tasks[0].Collection = 0
			},
		},
		{Name: "a young snapshot", Change: snapshot("Pending", time.Minute)},
		{
			Name: "a snapshot", Change: snapshot("Pending", 2*time.Hour),
			Want: []string{"warning snapshots/8 snapshot s has been in state Pending for at least 2 h"},
		},
		{Name: "a snapshot that is there", Change: snapshot("Committed", 48*time.Hour)},
	})
}
