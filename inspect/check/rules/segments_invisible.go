package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// invisibleAfter is the longest time that a segment may stay invisible. Sorting a segment takes seconds to minutes.
const invisibleAfter = time.Hour

// segmentsInvisible finds flushed segments that stay invisible to queries.
var segmentsInvisible = &check.Check{
	ID:       "segments-invisible",
	Title:    "Flushed segments stay invisible to queries",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesStale, check.TasksHang},
	Starts:   "segment_changed segment_compacted | task_created",
	Parts:    model.PartObjects | model.PartSegments,
	Doc: `A sort task never finished, and its segments stay invisible. Flushed segments are marked invisible (Milvus
2.5 and later) until a sort or clustering task has replaced or confirmed them. Warning an hour after the write.
Importing segments: see ` + "`task-stuck`" + `.`,
	Remedy: `Look at ` + "`kitescope get tasks`" + ` for stats and compaction tasks of the collection, and check
that data nodes (until 2.5: index nodes) work on them.`,
	Run:         runSegmentsInvisible,
	Roles:       []string{"datacoord", "datanode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "task-failed", "task-stuck"),
}

func runSegmentsInvisible(p *check.Pass) {
	limit := p.Before(invisibleAfter)
	for _, x := range p.Existing() {
		var objects []model.Ref
		segments, rows := 0, int64(0)
		for _, s := range p.SegmentsIn(x.ID, facts.InvisibleSegs) {
			if s.Importing || !facts.UnchangedSince(s, limit) {
				continue
			}
			segments, rows = segments+1, rows+s.Rows
			if len(objects) < facts.MaxObjects {
				objects = append(objects, facts.RefSegment(s.ID))
			}
		}
		if segments == 0 {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID), Objects: objects,
			Message: fmt.Sprintf("%s of %s with %s rows %s invisible for more than %s",
				words.Plural(segments, "flushed segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows),
				words.Agree(segments, "is", "are"), words.Span(invisibleAfter)),
			Evidence: []check.Evidence{
				check.Count("invisible segments", segments, "etcd"), check.Count("rows in them", rows, "etcd"),
			},
			Impact: "Queries miss these rows, or still read them from the source segments.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get tasks").Arg("collection_id="+x.ID.String())).
					Does("shows the tasks that sort or cluster its segments: their reasons show what fails"),
				check.Do("if there are none, restart DataCoord: it plans them again").
					Restarting(p.Cluster, 5*time.Minute, "datacoord"),
			),
		})
	}
}
