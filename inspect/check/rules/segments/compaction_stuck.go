package segments

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
	"kitescope/words"
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
	Title:    "Compaction tasks do not end",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartTasks | model.PartSessions,
	Doc: `Looks at compaction tasks in etcd (Milvus 2.4 and later), by collection. A warning if one that is not final began 2 hours ago (clustering: 12), or 5 minutes ago on a node
that has no session. Final are completed, failed, timeout and cleaned. Milvus itself gives up a running one after
` + "`dataCoord.compaction.timeout`" + ` (300 s, later 900 s); what waits in the queue has no limit. Information, for a day, if all of them wait in the queue while other
compactions ended within 15 minutes: then it moves. Tasks of collections that are gone are ` + "`orphan-task`" + `'s.

While its segments are marked as compacting, nothing else compacts them: small segments and deletes pile up.`,
	Remedy: `Look at the data node that runs the task. A queue that does not shrink means too few data nodes, or ` + "`dataCoord.compaction.maxParallelTaskNum`" + ` too low.
Restarting DataCoord begins tasks of nodes that are gone anew.`,
	Run:   runCompactionStuck,
	Roles: []string{"datacoord", "datanode"},
}

// compactionEnded reports whether a compaction task is final.
func compactionEnded(t *model.Task) bool {
	return slices.Contains([]string{"completed", "failed", "timeout", "cleaned"}, t.State)
}

func runCompactionStuck(p *check.Pass) error {
	stuck := make(map[model.CollectionID][]*model.Task)
	waiting := 0
	var last time.Time
	for _, t := range p.Tasks {
		if t.Type != "compaction" {
			continue
		}
		if compactionEnded(t) {
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
	moves := p.Age(last) < compactionRecent && !last.IsZero()
	for _, id := range slices.Sorted(maps.Keys(stuck)) {
		list := stuck[id]
		oldest := slices.MinFunc(list, func(a, b *model.Task) int { return a.StartedAt.Compare(b.StartedAt) })
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id),
			Message: fmt.Sprintf("%s of %s %s not end, the oldest %s (%s) for %s on %s", words.Plural(len(list), "compaction task"), facts.CollectionLabel(p.Cluster, id), words.Agree(len(list), "does", "do"),
				oldest.SubType, oldest.State, words.Span(since(p, oldest)), taskNode(p, oldest)),
			Evidence: []check.Evidence{
				check.Count("tasks", len(list), "etcd"),
				check.Fact("oldest began", facts.TimeText(oldest.StartedAt), "etcd"),
				check.Fact("its state", oldest.State, "etcd"),
				check.Fact("it runs on", taskNode(p, oldest), "etcd"),
				check.Fact("its reason", cmp.Or(oldest.Reason, "none"), "etcd"),
				check.Count("compactions under way in all", waiting, "etcd"),
			},
			Impact: "Their segments are not compacted by anything else: small segments and deletes pile up.",
			Hint:   check.Advise("look for plan %d in %s", oldest.ID, logOf(p, oldest)),
		}
		queued := !slices.ContainsFunc(list, func(t *model.Task) bool { return t.State != "pipelining" })
		if queued {
			f.Evidence = append(f.Evidence, check.Fact("last compaction that ended", facts.TimeText(last), "etcd"))
			f.Hint = "look whether data nodes are busy: kitescope get tasks; more of them, or a greater dataCoord.compaction.maxParallelTaskNum, shorten the queue"
		}
		if queued && moves && since(p, oldest) < compactionQueue {
			f.Severity = check.Info
		}
		for _, t := range list[:min(len(list), facts.MaxObjects)] {
			f.Objects = append(f.Objects, facts.RefTask(t))
		}
		p.Report(f)
	}
	return nil
}
