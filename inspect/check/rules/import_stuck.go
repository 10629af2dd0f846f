package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of import-stuck.
const (
	// importIdle is how long a job may wait for its turn, or a task be on a node that is gone (dataCoord.import.inactiveTimeout: 1800).
	importIdle = 30 * time.Minute
	// importRecent is how recent the last task of a job that ended has to be for a long one to count as getting on.
	importRecent = time.Hour
	// importGone is what DataCoord is given to notice that a node is gone.
	importGone = 5 * time.Minute
	// importLeft is how old importing segments without an import have to be.
	importLeft = time.Hour
)

// importStuck finds imports that do not get on.
var importStuck = &check.Check{
	ID:       "import-stuck",
	Title:    "An import makes no progress",
	Severity: check.Warning,
	Symptoms: []string{check.TasksHang},
	Starts:   "1h task_created | node_lost:datanode node_left:datanode task_changed",
	Parts:    model.PartObjects | model.PartTasks | model.PartSessions | model.PartSegments,
	Doc: `Looks at import jobs and their tasks (up to 2.3 one record an import), and at importing segments. Warning if

- a job is Pending for 30 minutes, or in another unfinished state for 12 hours (info if one of its tasks ended within the last hour);
- a task is in progress for 5 minutes on a node without a session, or a job is open for 5 minutes and no data node is registered;
- segments of an existing collection are importing, an hour after they were created, while the collection has no import under way: an interrupted
  import left them.

Times are the jobs' own; one without a time is not judged by it. Failed ones are reported by ` + "`task-failed`" + `, those
of collections that are gone by ` + "`orphan-records`" + `.`,
	Remedy: "`utility.list_bulk_insert_tasks()`" + ` shows progress and reasons. Look at the log of the data node that has the task; usually it cannot read the object
storage. A waiting job needs a data node with a free slot.`,
	Run:   runImportStuck,
	Roles: []string{"datacoord", "datanode"},
}

func runImportStuck(p *check.Pass) {
	running := make(map[model.CollectionID]bool)
	for _, t := range p.Tasks {
		switch t.Type {
		case "import-job", "preimport", "import":
		default:
			continue
		}
		if facts.TaskEnded(t) || p.Collection(t.Collection) == nil {
			continue
		}
		running[t.Collection] = true
		if why := importProblem(p, t); why != "" {
			reportImport(p, t, why)
		}
	}
	judgeImporting(p, running)
}

func importProblem(p *check.Pass, t *model.Task) string {
	age := since(p, t)
	switch {
	case (t.State == "InProgress" || t.State == "Started") && abandoned(p, t) && age >= importGone:
		return "its node is gone"
	case t.StartedAt.IsZero():
		return ""
	case t.Type == "import-job" && facts.Alive(p.Cluster) && !facts.HasRole(p.Cluster, "datanode") && age >= importGone:
		return "no data node is registered"
	case t.Type == "import-job" && t.State == "Pending" && age >= importIdle:
		return "it has not started"
	case t.Type == "import-job" && age >= facts.ImportLong:
		return "it is not finished"
	}
	return ""
}

// getsOn reports whether a task of an import job ended not long ago.
func getsOn(p *check.Pass, job *model.Task) bool {
	return slices.ContainsFunc(p.Tasks, func(t *model.Task) bool {
		return (t.Type == "preimport" || t.Type == "import") && t.Trigger == job.ID && !p.OlderThan(t.EndedAt, importRecent, true)
	})
}

func reportImport(p *check.Pass, t *model.Task, why string) {
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefTask(t), Objects: taskObjects(p, t),
		Message: fmt.Sprintf("%s %d into %s has been %s for %s: %s", t.Type, t.ID, facts.CollectionLabel(p.Cluster, t.Collection), t.State, words.Span(since(p, t)), why),
		Evidence: []check.Evidence{
			check.Fact("state", t.State, "etcd"),
			check.Fact("started", facts.TimeText(t.StartedAt), "etcd"),
			check.Fact("progress", cmp.Or(t.Progress, "unknown"), "etcd"),
			check.Fact("runs on", taskNode(p, t), "etcd"),
			check.Fact("reason", cmp.Or(t.Reason, "none"), "etcd"),
		},
		Impact: "Its rows are not searchable yet.",
		Fix: check.Fix(
			startDataNode(p),
			restartFor(p, t),
			check.PymilvusIn(p.Cluster, "", "print(utility.get_bulk_insert_state(task_id=%d))", t.Trigger).Does("prints state, progress and reason of the job"),
			check.Do("read %s: most often it cannot read the files, or no data node has a free slot", taskLog(p, t)),
		),
	}
	if t.Type == "import-job" && getsOn(p, t) {
		f.Severity = check.Info
	}
	p.Report(f)
}

// judgeImporting looks for importing segments that no import works on.
func judgeImporting(p *check.Pass, running map[model.CollectionID]bool) {
	limit := p.Before(importLeft)
	for _, x := range p.Existing() {
		t := p.CollectionTotals(x.ID)
		if running[x.ID] || t.ByState[model.SegmentImporting] == 0 {
			continue
		}
		var objects []model.Ref
		segments, rows := 0, int64(0)
		for _, s := range p.Among(x.ID, facts.ImportingSegs) {
			if facts.Settled(s, limit) && !facts.LastTouched(s).IsZero() {
				segments, rows = segments+1, rows+s.Rows
				objects = append(objects, facts.RefSegment(s.ID))
			}
		}
		if segments == 0 {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID), Objects: objects[:min(len(objects), facts.MaxObjects)],
			Message:  fmt.Sprintf("%s of %s, %s rows, %s importing, but no import is under way", words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows), words.Agree(segments, "is", "are")),
			Evidence: []check.Evidence{check.Count("importing segments older than "+words.Span(importLeft), segments, "etcd"), check.Count("their rows", rows, "etcd"), check.Fact("imports under way", "none", "etcd")},
			Impact:   "Their rows are not searchable, and they take up storage.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, x.Database, "print(utility.list_bulk_insert_tasks(collection_name=%s))", x.Name).Does("prints the imports that Milvus still knows, with their reasons"),
				check.Do("import the files again whose rows are missing").Interrupting(0, "nothing"),
			),
		})
	}
}

// startDataNode is the step that starts a data node, none if one is registered.
func startDataNode(p *check.Pass) check.Step {
	if !facts.Alive(p.Cluster) || facts.HasRole(p.Cluster, "datanode") {
		return check.Step{}
	}
	return check.Do("start a data node: none is registered").Interrupting(2*time.Minute, "nothing")
}
