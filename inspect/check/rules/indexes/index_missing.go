package indexes

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/words"
)

// indexMissing finds flushed segments on which an index was never begun.
var indexMissing = &check.Check{
	ID:       "index-missing",
	Title:    "Flushed segments have no record of an index that their collection defines",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    facts.PartsOfBuilds,
	Doc: `Looks at every flushed segment and every index definition of its collection. DataCoord writes a record for each pair
(` + "`segment-index/...`" + `) within a minute; a pair without one is a finding once segment and definition are 10 minutes old.

From Milvus 2.5 on segments are sorted before they are indexed: one that is not sorted yet is given 30 minutes.

Not a finding: FLAT and BIN_FLAT, which have no files; segments of fewer than 1,024 rows
(` + "`indexCoord.segment.minSegmentNumRowsToEnableIndex`" + `), which Milvus marks finished without building; L0 and growing segments; those
of an import that is under way, whose times are those of its beginning.

Rows without an index are compared one by one by every search. Sources: ` + "`internal/datacoord/index_service.go`, `index_inspector.go`" + `; milvus issues
22278 and 36389.`,
	Remedy: `Look for the segment in DataCoord's log, and at the tasks that sort it (` + "`kitescope get tasks`" + `). A restart of DataCoord makes it look through all segments
again. The last resort is to drop the index and create it again; the collection has to be released for that, and cannot be searched until it is loaded again.`,
	Phases:      []latency.Name{latency.KernelSealed},
	Run:         runIndexMissing,
	Roles:       []string{"indexnode", "indexcoord", "datacoord"},
	FollowsFrom: []check.Cause{{Check: "layout-older"}, {Check: "layout-rollback"}},
}

func runIndexMissing(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	sorts := !facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 5})
	var unsorted time.Duration
	if sorts {
		unsorted = stuckAfter - buildGrace
	}
	work := p.SearchWork()
	for _, t := range p.Missing(p.Before(buildGrace), unsorted) {
		if !p.OlderThan(t.Index.CreatedAt, buildGrace, true) {
			continue
		}
		vector := facts.OnVector(t.Collection, t.Index)
		f := check.Finding{
			Severity: check.Info, Object: facts.RefIndex(t.Index), Objects: lacking(&t.Lack), Impact: indexImpact(p, &t.Lack),
			Message: fmt.Sprintf("%s is missing on %s, %s rows", what(p, &t.Lack), words.Plural(t.Segments, "flushed segment"), words.Number(t.Rows)),
			Evidence: []check.Evidence{
				check.Count("segments without a record", t.Segments, "etcd"),
				check.Count("their rows", t.Rows, "etcd"),
				check.Count("flushed rows of the collection", sealedRows(p, t.Collection), "etcd"),
				check.Fact("oldest could have had one since", facts.TimeText(t.Oldest), "etcd"),
			},
			Hint: check.Python("%sutility.index_building_progress(%s, %s) says what Milvus itself counts; look for segment %s in DataCoord's log, and restart DataCoord if it does not say why",
				check.InDatabase(p.Cluster, t.Collection), t.Collection.Name, t.Index.Name, check.Advise("%s", t.First[0])),
		}
		if sorts && t.Unsorted > 0 {
			f.Evidence = append(f.Evidence, check.Count("of them not sorted yet, which comes first", t.Unsorted, "etcd"))
			f.Hint = "look at the tasks that sort segments: kitescope get tasks; " + f.Hint
		}
		if vector {
			f.Severity, f.Cost = check.Warning, work.Share(t.Collection, t.Rows)
		}
		p.Report(f)
	}
	return nil
}
