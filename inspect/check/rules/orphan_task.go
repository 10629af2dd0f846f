package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanTaskAfter is what Milvus is given to end the tasks of a collection that was dropped.
const orphanTaskAfter = time.Hour

// orphanTask finds background tasks of collections that are gone.
var orphanTask = &check.Check{
	ID:       "orphan-task",
	Title:    "Background tasks belong to a collection that is gone",
	Severity: check.Info,
	Symptoms: []string{check.EtcdSlow, check.Leftovers},
	Starts:   "collection_dropped task_created | task_changed",
	Parts:    model.PartObjects | model.PartTasks,
	Doc: `Looks for import, compaction, stats and analyze tasks of collections without a record that began more than an hour ago, or have no start time. Info
only: they cannot succeed, and Milvus removes them after hours: ` + "`dataCoord.compaction.dropTolerance`" + ` (86,400 s, later 3,600 s) and
` + "`dataCoord.import.taskRetention`" + ` (10,800 s).`,
	Remedy: `No action needed, unless many of them stay: DataCoord's log then says why it does not remove them.`,
	Run:    runOrphanTask,
	Whole:  true,
}

func runOrphanTask(p *check.Pass) {
	var list []*model.Task
	open := 0
	for _, t := range p.Tasks {
		if t.Collection == 0 || p.Collection(t.Collection) != nil || !p.OlderThan(t.StartedAt, orphanTaskAfter, true) {
			continue
		}
		list = append(list, t)
		if !facts.TaskEnded(t) {
			open++
		}
	}
	if len(list) == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Info,
		Message:  fmt.Sprintf("%s of collections that are gone, %s of them unfinished", words.Plural(len(list), "task"), words.Number(open)),
		Evidence: []check.Evidence{check.Count("tasks", len(list), "etcd"), check.Count("unfinished", open, "etcd"), check.Fact("first", facts.RefTask(list[0]).ID, "etcd")},
		Impact:   "Data nodes may run them in vain.",
		Fix:      check.Fix(check.Shell(check.Kitescope("get tasks --sort started_at")).Does("lists them, oldest first; no action is needed unless they stay for days")),
	}
	f.Objects = append(f.Objects, facts.Refs(list, facts.RefTask)...)
	p.Report(f)
}
