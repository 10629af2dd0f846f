package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// failedWithin is how recent the end of a failed task has to be to be worth a warning; Milvus keeps failed imports for 3 h
// (dataCoord.import.taskRetention) and compactions for a day (dataCoord.compaction.dropTolerance).
const failedWithin = 24 * time.Hour

// TaskFailed finds background work that failed.
var TaskFailed = &Check{
	ID:       "task-failed",
	Title:    "Background tasks have failed",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartTasks,
	Doc: `Looks at the background tasks that Milvus keeps in etcd, by kind and collection: imports, compactions, stats and analyze tasks in state failed or timeout.

Failed imports, stats and analyze tasks are a warning if they ended within a day, or do not say when. Compactions are information: Milvus plans them
again. Index builds are ` + "`index-failed`" + `'s. Tasks of collections that are gone are left out.`,
	Remedy: `Read the reason in the evidence, and import the files again once it is gone. utility.get_bulk_insert_state(task_id=...) says the same of imports.`,
	Run:    runTaskFailed,
}

type failedTasks struct {
	kind  string
	label string
	tasks []*model.Task
}

func runTaskFailed(p *Pass) error {
	var groups []*failedTasks
	for _, t := range p.Tasks {
		if !slices.Contains([]string{"Failed", "failed", "timeout"}, t.State) || t.Collection != 0 && p.Collection(t.Collection) == nil {
			continue
		}
		label := collectionLabel(p.Cluster, t.Collection)
		i := slices.IndexFunc(groups, func(g *failedTasks) bool { return g.kind == t.Type && g.tasks[0].Collection == t.Collection })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &failedTasks{kind: t.Type, label: label})
		}
		groups[i].tasks = append(groups[i].tasks, t)
	}
	for _, g := range groups {
		p.reportFailed(g)
	}
	return nil
}

func (p *Pass) reportFailed(g *failedTasks) {
	newest := slices.MaxFunc(g.tasks, func(a, b *model.Task) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.StartedAt.Compare(b.StartedAt))
	})
	reasons := make(map[string]int)
	for _, t := range g.tasks {
		if t.Reason != "" {
			reasons[t.Reason]++
		}
	}
	why := cmp.Or(most(reasons), "no reason is recorded")
	f := Finding{
		Severity: Warning, Object: refTask(newest), Objects: []model.Ref{refCollection(p.Cluster, newest.Collection)},
		Message: fmt.Sprintf("%s of %s failed: %s", plural(len(g.tasks), g.kind+" task"), g.label, why),
		Evidence: []Evidence{
			{"failed tasks", strconv.Itoa(len(g.tasks)), "etcd"},
			{"most frequent reason", why, "etcd"},
			{"newest", g.kind + " " + strconv.FormatInt(newest.ID, 10), "etcd"},
			{"it began", timeText(newest.StartedAt), "etcd"},
			{"it ended", timeText(newest.EndedAt), "etcd"},
		},
		Impact: "What the tasks were to do is not done.",
		Hint:   "kitescope describe tasks " + refTask(newest).ID,
	}
	if g.kind == "compaction" || p.olderThan(newest.EndedAt, failedWithin, false) {
		f.Severity = Info
	}
	for _, t := range g.tasks[:min(len(g.tasks), maxObjects)] {
		f.Objects = append(f.Objects, refTask(t))
	}
	p.Report(f)
}
