package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of task-stuck.
const (
	// importIdle is the maximum time that a job may be Pending (dataCoord.import.inactiveTimeout: 1800).
	importIdle = 30 * time.Minute
	// compactionLong is the maximum time that a compaction may run or wait. Milvus aborts a compaction after minutes
	// (dataCoord.compaction.timeout: 300 s up to 2.3, 900 s later). Clustering compaction first analyzes and finally
	// waits for indexes.
	compactionLong = 2 * time.Hour
	// taskGone is the time allowed for DataCoord to notice that a node is gone.
	taskGone = 5 * time.Minute
	// importRecent is the maximum time since a task of a job ended for the job to count as progressing.
	// compactionRecent is the maximum time since a compaction ended for the queue to count as moving.
	// compactionQueue is the maximum time that a compaction may wait in a moving queue.
	importRecent, compactionRecent, compactionQueue = time.Hour, 15 * time.Minute, 24 * time.Hour
	// importLeft is the minimum age of importing segments without an import for a finding.
	importLeft = time.Hour

	notCompacted = "Nothing else compacts their segments: small segments and deletes pile up."
)

// taskStuck finds background tasks that do not finish.
var taskStuck = &check.Check{
	ID:       "task-stuck",
	Title:    "Background tasks do not finish",
	Severity: check.Warning,
	Symptoms: []string{check.TasksHang, check.StorageGrows},
	Starts:   "1h task_created | node_lost:datanode node_left:datanode task_changed",
	Parts:    model.PartObjects | model.PartTasks | model.PartSessions | model.PartSegments,
	Doc: `An import waits for a data node that is gone. The check looks at the tasks of DataCoord in etcd that are not
completed, cleaned, failed or timed out (up to 2.3 imports alone), by kind and collection. Warning if one

- is in progress for 5 minutes on a node without a session, or began 5 minutes ago and no data node is registered;
- is an import job that is Pending for 30 minutes, or a compaction that began 2 hours ago;
- is an import job in another state, a clustering compaction, the restore or export of a snapshot, or a refresh of an
  external collection that began 12 hours ago.

Also a snapshot that is Pending for an hour, and segments of an existing collection that are importing, an hour after
they were created, while the collection has no import under way: an interrupted import left them.

Info: an import with a task that ended within the last hour, and compactions that wait in the queue, for a day, while
other compactions ended within 15 minutes: the queue moves. Milvus itself gives up a compaction after
` + "`dataCoord.compaction.timeout`" + ` (300 s, later 900 s); waiting in the queue has no limit.

Times are the tasks' own. Unknown: a task without a time, such as statistics. Failed tasks are reported by
` + "`task-failed`" + `, those of collections that are gone by ` + "`orphan-records`" + `.`,
	Remedy: `Run ` + "`utility.list_bulk_insert_tasks()`" + ` to see progress and reasons of imports. Look at the log of
the data node that has the task; often it cannot read the object storage. If a queue does not shrink, add data nodes
or raise ` + "`dataCoord.compaction.maxParallelTaskNum`" +
		`. Restart DataCoord to restart tasks of nodes that are gone.`,
	Run:   runTaskStuck,
	Roles: []string{"datacoord", "datanode"},
}

func runTaskStuck(p *check.Pass) {
	type group struct {
		kind       string
		collection model.CollectionID
	}
	var groups []group
	stuck := map[group][]*model.Task{}
	importing := map[model.CollectionID]bool{}
	for _, t := range p.Tasks {
		if facts.TaskEnded(t) || p.Collection(t.Collection) == nil {
			continue
		}
		importing[t.Collection] = importing[t.Collection] || strings.Contains(t.Type, "import")
		if taskProblem(p, t) == "" {
			continue
		}
		g := group{t.Type, t.Collection}
		if stuck[g] == nil {
			groups = append(groups, g)
		}
		stuck[g] = append(stuck[g], t)
	}
	for _, g := range groups {
		reportStuckTasks(p, stuck[g])
	}
	for _, x := range p.Snapshots {
		reportOverdue(p, &stateRecord{
			ref:   model.Ref{Resource: "snapshots", ID: model.NodeID(x.ID).String(), Name: x.Name},
			label: "snapshot " + x.Name, state: x.State, since: x.PendingSince,
			severity: check.Warning, objects: []model.Ref{facts.RefCollection(p.Cluster, x.Collection)},
			fix: check.Fix(check.Do("search the log of DataCoord for snapshot %s, to find out what it waits for",
				x.Name)),
		})
	}
	judgeImporting(p, importing)
}

// taskProblem returns the reason why an unfinished task is a finding, or "" if it is not one.
func taskProblem(p *check.Pass, t *model.Task) string {
	age := taskAge(p, t)
	x := transientStateOf(p, "tasks", t.Type+"/"+t.SubType, t.State)
	switch {
	case inProgress(t) && abandoned(p, t) && age >= taskGone:
		return "its node is gone"
	case x == nil || x.limit == 0 || t.StartedAt.IsZero():
		return ""
	case facts.Alive(p.Cluster) && !facts.HasRole(p.Cluster, "datanode") && age >= taskGone:
		return "no data node is registered"
	case age < x.limit:
		return ""
	case queued(t):
		return "it has not started"
	}
	return "it is not finished"
}

func inProgress(t *model.Task) bool {
	return slices.Contains([]string{"InProgress", "Started", "executing", "Executing"}, t.State)
}

func queued(t *model.Task) bool { return t.State == "Pending" || t.State == "pipelining" }

// moves reports whether a task, or the queue in which it waits, makes progress.
func moves(p *check.Pass, t *model.Task) bool {
	ended := func(d time.Duration, of func(*model.Task) bool) bool {
		return slices.ContainsFunc(p.Tasks, func(x *model.Task) bool {
			return of(x) && !failedOf(x) && !p.OlderThan(x.EndedAt, d, true)
		})
	}
	switch t.Type {
	case "import-job":
		return ended(importRecent, func(x *model.Task) bool {
			return (x.Type == "preimport" || x.Type == "import") && x.Trigger == t.ID
		})
	case "compaction":
		return queued(t) && taskAge(p, t) < compactionQueue &&
			ended(compactionRecent, func(x *model.Task) bool { return x.Type == t.Type })
	}
	return false
}

// reportStuckTasks reports the tasks of one kind and collection.
func reportStuckTasks(p *check.Pass, list []*model.Task) {
	t := slices.MinFunc(list, func(a, b *model.Task) int { return a.StartedAt.Compare(b.StartedAt) })
	name := facts.CollectionLabel(p.Cluster, t.Collection)
	oldest := ""
	if len(list) > 1 {
		oldest = "the oldest, "
	}
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefTask(t),
		Objects: append(taskObjects(p, t), facts.Refs(list, facts.RefTask)...),
		Message: fmt.Sprintf("%s of %s %s not finish: %s%s %d (%s) for %s on %s: %s",
			words.Plural(len(list), kindLabel(t.Type)), name,
			words.Agree(len(list), "does", "do"), oldest, cmp.Or(t.SubType, t.Type), t.ID, t.State,
			words.Span(taskAge(p, t)), taskNode(p, t), taskProblem(p, t)),
		Evidence: []check.Evidence{
			check.Count("tasks", len(list), "etcd"),
			check.Fact("start of the oldest", facts.TimeText(t.StartedAt), "etcd"),
			check.Fact("state of the oldest", t.State, "etcd"),
			check.Fact("progress of the oldest", cmp.Or(t.Progress, "unknown"), "etcd"),
			check.Fact("runs on", taskNode(p, t), "etcd"),
			check.Fact("reason given by Milvus", cmp.Or(t.Reason, "none"), "etcd"),
		},
		Impact: transientStateOf(p, "tasks", t.Type+"/"+t.SubType, t.State).consequence,
		Fix:    append(check.Fix(startDataNode(p), restartFor(p, t)), taskSteps(p, t)...),
	}
	if !slices.ContainsFunc(list, func(x *model.Task) bool { return !moves(p, x) }) {
		f.Severity = check.Info
	}
	p.Report(f)
}

// taskSteps returns the steps for a task that does not finish.
func taskSteps(p *check.Pass, t *model.Task) []check.Step {
	if strings.Contains(t.Type, "import") {
		return check.Fix(
			check.PymilvusIn(p.Cluster, "", "print(utility.get_bulk_insert_state(task_id=%d))", t.Trigger).
				Does("prints state, progress and reason of the job"),
			check.Do("read %s: most often it cannot read the files, or no data node has a free slot", taskLog(p, t)),
		)
	}
	if queued(t) {
		return check.Fix(
			check.Shell(check.Kitescope("get tasks --sort started_at").Arg("type="+t.Type)).
				Does("shows how many run and how many wait"),
			check.Do("start more data nodes, or raise dataCoord.compaction.maxParallelTaskNum if the existing ones "+
				"have room").
				Interrupting(0, "nothing"),
		)
	}
	return check.Fix(
		check.Do("search %s for %d, to find out what it waits for", taskLog(p, t), t.ID),
		check.Shell(check.Kitescope("get tasks").Arg("type="+t.Type, "collection_id="+t.Collection.String())).
			Does("shows their progress"),
	)
}

// judgeImporting reports importing segments of collections without an import under way.
func judgeImporting(p *check.Pass, running map[model.CollectionID]bool) {
	limit := p.Before(importLeft)
	for _, x := range p.Existing() {
		t := p.CollectionTotals(x.ID)
		if running[x.ID] || t.ByState[model.SegmentImporting] == 0 {
			continue
		}
		var objects []model.Ref
		segments, rows := 0, int64(0)
		for _, s := range p.SegmentsIn(x.ID, facts.ImportingSegs) {
			if facts.UnchangedSince(s, limit) && !facts.LastTouched(s).IsZero() {
				segments, rows = segments+1, rows+s.Rows
				objects = append(objects, facts.RefSegment(s.ID))
			}
		}
		if segments == 0 {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID),
			Objects: objects[:min(len(objects), facts.MaxObjects)],
			Message: fmt.Sprintf("%s of %s, %s rows, %s importing, but no import is under way",
				words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows),
				words.Agree(segments, "is", "are")),
			Evidence: []check.Evidence{
				check.Count("importing segments older than "+words.Span(importLeft), segments, "etcd"),
				check.Count("rows in them", rows, "etcd"), check.Fact("imports under way", "none", "etcd"),
			},
			Impact: "Their rows are not searchable, and they take up storage.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, x.Database, "print(utility.list_bulk_insert_tasks(collection_name=%s))",
					x.Name).Does("prints the imports that Milvus still knows, with their reasons"),
				check.Do("import the files with missing rows again").Interrupting(0, "nothing"),
			),
		})
	}
}

// startDataNode returns the step that starts a data node, or no step if one is registered.
func startDataNode(p *check.Pass) check.Step {
	if !facts.Alive(p.Cluster) || facts.HasRole(p.Cluster, "datanode") {
		return check.Step{}
	}
	return check.Do("start a data node: none is registered").Interrupting(2*time.Minute, "nothing")
}
