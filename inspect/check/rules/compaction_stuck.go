package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of compaction-stuck.
const (
	// compactionLong is how long a compaction may run or wait. Milvus ends one after minutes (dataCoord.compaction.timeout:
	// 300 s to 2.3, 900 s later). Clustering analyses first and waits for indexes at last.
	compactionLong, clusteringLong = 2 * time.Hour, 12 * time.Hour
	// compactionGone is what DataCoord is given to notice that a node is gone.
	compactionGone = 5 * time.Minute
	// compactionRecent is how recent the last compaction that ended has to be for the queue to count as moving; compactionQueue is
	// how long a task may wait even then.
	compactionRecent, compactionQueue = 15 * time.Minute, 24 * time.Hour
)

// compactionStuck finds compactions that do not end.
var compactionStuck = &check.Check{
	ID:       "compaction-stuck",
	Title:    "Compaction tasks do not finish",
	Severity: check.Warning,
	Symptoms: []string{check.TasksHang, check.StorageGrows},
	Starts:   "1h task_created | node_lost:datanode node_left:datanode task_changed",
	Parts:    model.PartObjects | model.PartTasks | model.PartSessions,
	Doc: `Looks at compaction tasks in etcd (Milvus 2.4 and later), by collection. Warning if an unfinished one began 2 hours ago (clustering: 12), or 5 minutes
ago on a node without a session. Finished are completed, failed, timeout and cleaned. Milvus itself gives up a running one after
` + "`dataCoord.compaction.timeout`" + ` (300 s, later 900 s); waiting in the queue has no limit. Info, for a day, if all of them wait in the queue while other
compactions ended within 15 minutes: the queue moves. Tasks of collections that are gone are reported by ` + "`orphan-records`" + `.

While its segments are marked as compacting, nothing else compacts them: small segments and deletes pile up.`,
	Remedy: `Look at the data node that runs the task. A queue that does not shrink means too few data nodes, or too low a
` + "`dataCoord.compaction.maxParallelTaskNum`" + `. Restarting DataCoord restarts tasks of nodes that are gone.`,
	Run:   runCompactionStuck,
	Roles: []string{"datacoord", "datanode"},
}

func runCompactionStuck(p *check.Pass) {
	stuck, waiting, last := stuckCompactions(p)
	moves := p.Age(last) < compactionRecent && !last.IsZero()
	for _, id := range slices.Sorted(maps.Keys(stuck)) {
		list := stuck[id]
		oldest := slices.MinFunc(list, func(a, b *model.Task) int { return a.StartedAt.Compare(b.StartedAt) })
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id),
			Message: fmt.Sprintf("%s of %s %s not finish: the oldest, %s (%s), for %s on %s", words.Plural(len(list), "compaction task"), facts.CollectionLabel(p.Cluster, id), words.Agree(len(list), "does", "do"),
				oldest.SubType, oldest.State, words.Span(since(p, oldest)), taskNode(p, oldest)),
			Evidence: []check.Evidence{
				check.Count("tasks", len(list), "etcd"),
				check.Fact("oldest started", facts.TimeText(oldest.StartedAt), "etcd"),
				check.Fact("its state", oldest.State, "etcd"),
				check.Fact("runs on", taskNode(p, oldest), "etcd"),
				check.Fact("its reason", cmp.Or(oldest.Reason, "none"), "etcd"),
				check.Count("unfinished compactions in the cluster", waiting, "etcd"),
			},
			Impact: "Nothing else compacts their segments: small segments and deletes pile up.",
			Fix: check.Fix(
				restartFor(p, oldest),
				check.Do("search %s for plan %d, to find out what it waits for", taskLog(p, oldest), oldest.ID),
				check.Shell(check.Kitescope("get tasks type=compaction").Arg("collection_id="+id.String())).Does("shows how far they are"),
			),
		}
		queued := !slices.ContainsFunc(list, func(t *model.Task) bool { return t.State != "pipelining" })
		if queued {
			f.Evidence = append(f.Evidence, check.Fact("last finished compaction", facts.TimeText(last), "etcd"))
			f.Fix = check.Fix(
				check.Shell(check.Kitescope("get tasks type=compaction --sort started_at")).Does("shows how many run and how many wait"),
				check.Do("start more data nodes, or raise dataCoord.compaction.maxParallelTaskNum if those there have room").
					Interrupting(0, "nothing"),
			)
		}
		if queued && moves && since(p, oldest) < compactionQueue {
			f.Severity = check.Info
		}
		f.Objects = append(f.Objects, facts.Refs(list, facts.RefTask)...)
		p.Report(f)
	}
}

// stuckCompactions are compactions that take too long, by collection, how many do not end yet, and when the last one ended.
func stuckCompactions(p *check.Pass) (stuck map[model.CollectionID][]*model.Task, waiting int, last time.Time) {
	stuck = make(map[model.CollectionID][]*model.Task)
	for _, t := range p.Tasks {
		if t.Type != "compaction" {
			continue
		}
		if facts.TaskEnded(t) {
			if t.State != "failed" && t.State != "timeout" && t.EndedAt.After(last) {
				last = t.EndedAt
			}
			continue
		}
		if p.Collection(t.Collection) == nil {
			continue
		}
		waiting++
		age, limit := since(p, t), compactionLong
		if strings.HasPrefix(t.SubType, "Clustering") {
			limit = clusteringLong
		}
		if age >= limit || age >= compactionGone && t.State == "executing" && abandoned(p, t) {
			stuck[t.Collection] = append(stuck[t.Collection], t)
		}
	}
	return stuck, waiting, last
}
