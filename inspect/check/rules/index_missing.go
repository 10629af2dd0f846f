package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/internal/words"
)

// indexMissing reports flushed segments for which an index build never started.
var indexMissing = &check.Check{
	ID:       "index-missing",
	Title:    "Flushed segments lack an index that their collection defines",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.LoadsHang, check.IndexingHangs},
	Starts:   "index_created index_dropped | segment_flushed node_lost:indexnode",
	Parts:    facts.PartsOfBuilds,
	Doc: `Every search scans a segment by brute force because it was never indexed. The check looks at flushed
segments and the index definitions of their collections. DataCoord writes a record for each pair
(` + "`segment-index/...`" + `) within a minute. Reported: a pair without a record once segment and definition are 10
minutes old.

Since Milvus 2.5 segments are sorted before they are indexed: an unsorted one gets 30 minutes.

Not reported: FLAT and BIN_FLAT, which have no files; segments of fewer than 1,024 rows
(` + "`indexCoord.segment.minSegmentNumRowsToEnableIndex`" + `), which Milvus marks finished without building; L0 and
growing segments; those of an import under way, whose times are those of its start.

Sources: ` + "`internal/datacoord/index_service.go`" + `, ` + "`index_inspector.go`" +
		`; Milvus issues 22278 and 36389.`,
	Remedy: `Search DataCoord's log for the segment, and look at the tasks that sort it
(` + "`kitescope get tasks`" + `). Restart DataCoord to make it look through all segments again. As a last resort drop
the index and create it again. The collection has to be released for that, and cannot be searched until it is loaded
again.`,
	Phases: []latency.Name{latency.KernelSealed},
	Run:    runIndexMissing,
	Whole:  true,
	Roles:  []string{"indexnode", "indexcoord", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "layout-older"}, {Check: "layout-rollback", Applies: check.ClusterWideOr(check.Shares("collections"))},
	},
}

func runIndexMissing(p *check.Pass) {
	sorts := !facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 5})
	var unsorted time.Duration
	if sorts {
		unsorted = stuckAfter - buildGrace
	}
	work := p.SearchWork()
	for _, t := range p.MissingIndexes(p.Before(buildGrace), unsorted) {
		if !p.OlderThan(t.Index.CreatedAt, buildGrace, true) {
			continue
		}
		vector := facts.OnVector(t.Collection, t.Index)
		f := check.Finding{
			Severity: check.Info, Object: facts.RefIndex(t.Index), Objects: lackingRefs(&t.UnindexedSegments),
			Impact: indexImpact(p, &t.UnindexedSegments),
			Message: fmt.Sprintf("%s is missing on %s, %s rows", indexText(p, &t.UnindexedSegments),
				words.Plural(t.Segments, "flushed segment"), words.Number(t.Rows)),
			Evidence: []check.Evidence{
				check.Count("segments without a record", t.Segments, "etcd"),
				check.Count("rows in them", t.Rows, "etcd"),
				check.Count("flushed rows of the collection", sealedRows(p, t.Collection), "etcd"),
				check.Fact("oldest without a record, since", facts.TimeText(t.Oldest), "etcd"),
			},
		}
		if sorts && t.Unsorted > 0 {
			f.Evidence = append(f.Evidence, check.Count("not sorted yet (sorting comes first)", t.Unsorted, "etcd"))
			f.Fix = check.Fix(check.Shell(check.Kitescope("get tasks type=stats").
				Arg("collection_id=" + t.Collection.ID.String())).
				Does("shows the tasks that sort segments, and the reasons why they are held up"))
		}
		f.Fix = append(f.Fix,
			check.Do("restart DataCoord: on startup it goes through all segments again; "+
				"then search its log for segment %s", t.First[0]).
				Restarting(p.Cluster, 5*time.Minute, "datacoord"),
			check.Pymilvus(p.Cluster, t.Collection.Database, "print(utility.index_building_progress(%s, %s))",
				t.Collection.Name, t.Index.Name).
				Does("shows how many rows Milvus counts as indexed: all, once it is built"))
		if vector {
			f.Severity, f.Cost = check.Warning, work.Share(t.Collection, t.Rows)
		}
		p.Report(f)
	}
}
