package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCompactionStuck(t *testing.T) {
	task := func(state string, age time.Duration, node model.NodeID) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{ID: int64(len(w.Tasks)) + 7, Type: "compaction", SubType: "MixCompaction", State: state, Collection: rulestest.WellColl, StartedAt: rulestest.BackT(age), Node: node})
		}
	}
	rulestest.Hold(t, rulestest.Named("compaction-stuck"), []rulestest.Verdict{
		{Name: "at work", Change: task("executing", 10*time.Minute, 5)},
		{Name: "for long", Change: task("executing", 3*time.Hour, 5), Want: []string{"warning collections/1000 1 compaction task of docs does not finish: the oldest, MixCompaction (executing), for 3 h on datanode-5"}},
		{Name: "queued for long", Change: task("pipelining", 3*time.Hour, 0), Want: []string{"warning collections/1000 (pipelining), for 3 h on no node"}},
		{Name: "on a node that is gone", Change: task("executing", 10*time.Minute, 99), Want: []string{"warning collections/1000 on datanode-99 (gone)"}},
		{Name: "two are one finding", Change: func(w *rulestest.World) { task("executing", 3*time.Hour, 5)(w); task("executing", 4*time.Hour, 5)(w) }, Want: []string{"warning collections/1000 2 compaction tasks of docs do not finish: the oldest, MixCompaction (executing), for 4 h"}},
		{Name: "done", Change: task("completed", 30*time.Hour, 5)},
		{Name: "failed", Change: task("failed", 30*time.Hour, 5)},
		{Name: "a long queue that moves", Change: func(w *rulestest.World) {
			task("pipelining", 3*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = rulestest.BackT(5 * time.Minute)
		}, Want: []string{"info collections/1000 (pipelining), for 3 h on no node"}},
		{Name: "a queue that moves, and one task in it for days", Change: func(w *rulestest.World) {
			task("pipelining", 30*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = rulestest.BackT(5 * time.Minute)
		}, Want: []string{"warning collections/1000 (pipelining), for 30 h"}},
		{Name: "clustering takes hours", Change: func(w *rulestest.World) {
			task("analyzing", 5*time.Hour, 5)(w)
			w.Tasks[0].SubType = "ClusteringCompaction"
		}},
		{Name: "clustering for very long", Change: func(w *rulestest.World) {
			task("indexing", 13*time.Hour, 5)(w)
			w.Tasks[0].SubType = "ClusteringCompaction"
		}, Want: []string{"warning collections/1000 ClusteringCompaction (indexing), for 13 h"}},
	})
}
