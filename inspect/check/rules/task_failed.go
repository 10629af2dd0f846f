package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// failedWithin is the maximum time since the end of a failed task for a warning. Milvus keeps failed imports for 3 h
// (dataCoord.import.taskRetention) and compactions for a day (dataCoord.compaction.dropTolerance).
const failedWithin = 24 * time.Hour

// taskFailed finds background tasks that failed.
var taskFailed = &check.Check{
	ID:       "task-failed",
	Title:    "Background tasks have failed",
	Severity: check.Warning,
	Symptoms: []string{check.IndexingHangs, check.TasksHang},
	Starts:   "task_failed | task_changed collection_dropped",
	Parts:    model.PartObjects | model.PartTasks,
	Doc: `An import failed. The check looks at tasks in etcd, by kind and collection: imports, compactions, stats and
analyze tasks in state failed or timeout. The single tasks of a failed import job count with the job.

Failed imports, stats and analyze tasks are a warning if they ended within a day or have no end time. Compactions are
info: Milvus plans them again. Index builds are reported by ` + "`index-failed`" + `. Not judged: tasks of collections
that are gone.`,
	Remedy: `Read the reason in the evidence, fix it, and import the files again.
` + "`utility.get_bulk_insert_state(task_id=...)`" + ` shows the same for imports.`,
	Run:   runTaskFailed,
	Roles: []string{"datacoord", "datanode", "indexnode"},
}

type failedTasks struct {
	kind  string
	label string
	tasks []*model.Task
}

func failedOf(t *model.Task) bool {
	return slices.Contains([]string{"Failed", "FailedAndCleaned", "failed", "timeout"}, t.State)
}

func runTaskFailed(p *check.Pass) {
	jobs := make(map[int64]bool)
	for _, t := range p.Tasks {
		if t.Type == "import-job" && failedOf(t) {
			jobs[t.ID] = true
		}
	}
	var groups []*failedTasks
	for _, t := range p.Tasks {
		if !failedOf(t) || t.Collection != 0 && p.Collection(t.Collection) == nil ||
			(t.Type == "preimport" || t.Type == "import") && jobs[t.Trigger] {
			continue
		}
		i := slices.IndexFunc(groups, func(g *failedTasks) bool {
			return g.kind == t.Type && g.tasks[0].Collection == t.Collection
		})
		if i < 0 {
			i = len(groups)
			g := &failedTasks{kind: t.Type}
			if t.Collection != 0 {
				g.label = " of " + facts.CollectionLabel(p.Cluster, t.Collection)
			}
			groups = append(groups, g)
		}
		groups[i].tasks = append(groups[i].tasks, t)
	}
	for _, g := range groups {
		reportFailed(p, g)
	}
}

// kindLabel returns the name of a kind of task for messages.
func kindLabel(kind string) string {
	switch kind {
	case "import-job":
		return "import"
	case "preimport":
		return "import task"
	}
	return kind + " task"
}

func reportFailed(p *check.Pass, g *failedTasks) {
	newest := slices.MaxFunc(g.tasks, func(a, b *model.Task) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.StartedAt.Compare(b.StartedAt))
	})
	reasons := make(map[string]int)
	for _, t := range g.tasks {
		if t.Reason != "" {
			reasons[t.Reason]++
		}
	}
	why := cmp.Or(facts.MostCommon(reasons), "no reason recorded")
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefTask(newest),
		Message: fmt.Sprintf("%s%s failed: %s", words.Plural(len(g.tasks), kindLabel(g.kind)), g.label, why),
		Evidence: []check.Evidence{
			check.Count("failed tasks", len(g.tasks), "etcd"),
			check.Fact("most frequent reason", why, "etcd"),
			check.Fact("latest", g.kind+" "+strconv.FormatInt(newest.ID, 10), "etcd"),
			check.Fact("started", facts.TimeText(newest.StartedAt), "etcd"),
			check.Fact("ended", facts.TimeText(newest.EndedAt), "etcd"),
		},
		Fix: check.Fix(check.Shell(check.Kitescope("describe tasks").Arg(facts.RefTask(newest).ID)).
			Does("shows the latest task with its reason")),
	}
	if newest.Collection != 0 {
		f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, newest.Collection))
	}
	switch g.kind {
	case "import-job", "preimport", "import":
		f.Impact = "Rows of the imported files are missing."
		f.Fix = check.Fix(
			check.PymilvusIn(p.Cluster, "", "print(utility.get_bulk_insert_state(task_id=%d))", newest.Trigger).
				Does("prints the job with its files and its reason"),
			check.Do("fix the reason, then import the files again"),
		)
	case "compaction":
		f.Impact = "Short-lived: Milvus plans it again."
	case "stats":
		f.Impact = "Segments stay unsorted, or lack text, BM25 or JSON statistics that filters use."
	default:
		f.Impact = "The work of these tasks is not done."
	}
	if g.kind == "compaction" || p.OlderThan(newest.EndedAt, failedWithin, false) {
		f.Severity = check.Info
	}
	f.Objects = append(f.Objects, facts.Refs(g.tasks, facts.RefTask)...)
	p.Report(f)
}
