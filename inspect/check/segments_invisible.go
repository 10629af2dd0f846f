package check

import (
	"fmt"
	"time"

	"kitescope/inspect/model"
)

// invisibleAfter is how long a segment may stay invisible: sorting one takes seconds to minutes.
const invisibleAfter = time.Hour

// SegmentsInvisible finds flushed segments that queries do not see.
var SegmentsInvisible = &Check{
	ID:       "segments-invisible",
	Title:    "Flushed segments stay invisible to queries",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartSegments,
	Doc: `Looks at flushed segments that are marked invisible (Milvus 2.5 and later), which they are until a sort or clustering task has replaced or
confirmed them. One that is still invisible an hour after it was written is a finding: a warning.

Importing segments are left to ` + "`import-stuck`" + `.`,
	Remedy: "Look at `kitescope get tasks` for stats and compaction tasks of the collection, and whether data nodes (until 2.5: index nodes) work on them.",
	Run:    runSegmentsInvisible,
	Roles:  []string{"datacoord", "datanode"},
	FollowsFrom: []Cause{
		{Check: "task-failed", Of: shares("collections")}, {Check: "compaction-stuck", Of: shares("collections")},
	},
}

func runSegmentsInvisible(p *Pass) error {
	limit := p.before(invisibleAfter)
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		var objects []model.Ref
		segments, rows := 0, int64(0)
		for _, s := range p.among(x.ID, invisibleSegs) {
			if s.Importing || !settled(s, limit) {
				continue
			}
			segments, rows = segments+1, rows+s.Rows
			if len(objects) < maxObjects {
				objects = append(objects, refSegment(s.ID))
			}
		}
		if segments == 0 {
			continue
		}
		p.Report(Finding{
			Severity: Warning, Object: refCollection(p.Cluster, x.ID), Objects: objects,
			Message:  fmt.Sprintf("%s of %s with %s rows %s invisible for more than %s", plural(segments, "flushed segment"), collectionLabel(p.Cluster, x.ID), number(rows), agree(segments, "is", "are"), span(invisibleAfter)),
			Evidence: []Evidence{{"invisible segments", number(segments), "etcd"}, {"their rows", number(rows), "etcd"}},
			Impact:   "Queries do not see these rows, or still read them from the segments they came from.",
			Hint:     advise("look for tasks that sort or cluster its segments: kitescope get tasks collection_id=%s", x.ID),
		})
	}
	return nil
}
