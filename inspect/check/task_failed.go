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
	Doc: `Looks at the background tasks that Milvus keeps in etcd, by kind and collection: imports, compactions, stats and analyze tasks in state failed or timeout. The single tasks of
an import whose job has failed belong to the job.

Failed imports, stats and analyze tasks are a warning if they ended within a day, or do not say when. Compactions are information: Milvus plans them
again. Index builds are ` + "`index-failed`" + `'s. Tasks of collections that are gone are left out.`,
	Remedy: "Read the reason in the evidence, and import the files again once it is gone. `utility.get_bulk_insert_state(task_id=...)` says the same of imports.",
	Run:    runTaskFailed,
	Roles:  []string{"datacoord", "datanode", "indexnode"},
}

type failedTasks struct {
	kind  string
	label string
	tasks []*model.Task
}

func taskFailed(t *model.Task) bool {
	return slices.Contains([]string{"Failed", "failed", "timeout"}, t.State)
}

func runTaskFailed(p *Pass) error {
	jobs := make(map[int64]bool)
	for _, t := range p.Tasks {
		if t.Type == "import-job" && taskFailed(t) {
			jobs[t.ID] = true
		}
	}
	var groups []*failedTasks
	for _, t := range p.Tasks {
		if !taskFailed(t) || t.Collection != 0 && p.Collection(t.Collection) == nil || (t.Type == "preimport" || t.Type == "import") && jobs[t.Trigger] {
			continue
		}
		i := slices.IndexFunc(groups, func(g *failedTasks) bool { return g.kind == t.Type && g.tasks[0].Collection == t.Collection })
		if i < 0 {
			i = len(groups)
			g := &failedTasks{kind: t.Type}
			if t.Collection != 0 {
				g.label = " of " + collectionLabel(p.Cluster, t.Collection)
			}
			groups = append(groups, g)
		}
		groups[i].tasks = append(groups[i].tasks, t)
	}
	for _, g := range groups {
		p.reportFailed(g)
	}
	return nil
}

// kindLabel is how messages call a kind of tasks.
func kindLabel(kind string) string {
	switch kind {
	case "import-job":
		return "import"
	case "preimport":
		return "import task"
	}
	return kind + " task"
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
		Severity: Warning, Object: refTask(newest),
		Message: fmt.Sprintf("%s%s failed: %s", plural(len(g.tasks), kindLabel(g.kind)), g.label, why),
		Evidence: []Evidence{
			{"failed tasks", strconv.Itoa(len(g.tasks)), "etcd"},
			{"most frequent reason", why, "etcd"},
			{"newest", g.kind + " " + strconv.FormatInt(newest.ID, 10), "etcd"},
			{"it began", timeText(newest.StartedAt), "etcd"},
			{"it ended", timeText(newest.EndedAt), "etcd"},
		},
		Hint: advise("%s", kitescope("describe tasks").Arg(refTask(newest).ID)),
	}
	if newest.Collection != 0 {
		f.Objects = append(f.Objects, refCollection(p.Cluster, newest.Collection))
	}
	switch g.kind {
	case "import-job", "preimport", "import":
		f.Impact = "The rows of the files are not there, or not all of them."
		f.Hint = advise("utility.get_bulk_insert_state(task_id=%d); import the files again once the reason is gone", newest.Trigger)
	case "compaction":
		f.Impact = "None for long: Milvus plans it again."
	case "stats":
		f.Impact = "Segments are not sorted, or lack the text, BM25 or JSON statistics that filters use."
	default:
		f.Impact = "What the tasks were to do is not done."
	}
	if g.kind == "compaction" || p.olderThan(newest.EndedAt, failedWithin, false) {
		f.Severity = Info
	}
	for _, t := range g.tasks[:min(len(g.tasks), maxObjects)] {
		f.Objects = append(f.Objects, refTask(t))
	}
	p.Report(f)
}
