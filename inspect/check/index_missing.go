package check

import (
	"fmt"
	"strconv"
)

// IndexMissing finds flushed segments on which an index was never begun.
var IndexMissing = &Check{
	ID:       "index-missing",
	Title:    "Flushed segments have no record of an index that their collection defines",
	Severity: Warning,
	Since:    "0.3",
	Parts:    partsOfBuilds,
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
	Run:         runIndexMissing,
	Roles:       []string{"indexnode", "indexcoord", "datacoord"},
	FollowsFrom: []Cause{{Check: "layout-older"}, {Check: "layout-rollback"}},
}

func runIndexMissing(p *Pass) error {
	if !p.whole() {
		return nil
	}
	limit, sorted, found := p.before(buildGrace), p.before(stuckAfter), tallies{}
	sorts := !releaseOf(p.Cluster).before(release{2, 5})
	p.eachUnbuilt(func(b build) {
		if b.record != nil || b.segment.Importing {
			return
		}
		if p.waited(b, limit, buildGrace) && (!sorts || b.segment.Sorted || settled(b.segment, sorted)) {
			found.add(b)
		}
	})
	work := p.searchWork()
	for _, t := range found.list() {
		vector := onVector(t.collection, t.index)
		f := Finding{
			Severity: Info, Object: refIndex(t.index), Objects: t.objects(), Impact: p.indexImpact(t),
			Message: fmt.Sprintf("%s is missing on %s, %s rows", p.what(t), plural(len(t.segments), "flushed segment"), number(t.rows)),
			Evidence: []Evidence{
				{"segments without a record", strconv.Itoa(len(t.segments)), "etcd"},
				{"their rows", number(t.rows), "etcd"},
				{"flushed rows of the collection", number(p.sealedRows(t.collection)), "etcd"},
				{"oldest could have had one since", timeText(t.oldest), "etcd"},
			},
			Hint: python("%sutility.index_building_progress(%s, %s) says what Milvus itself counts; look for segment %s in DataCoord's log, and restart DataCoord if it does not say why",
				inDatabase(p.Cluster, t.collection), t.collection.Name, t.index.Name, advise("%s", t.segments[0])),
		}
		if sorts && t.unsorted > 0 {
			f.Evidence = append(f.Evidence, Evidence{"of them not sorted yet, which comes first", strconv.Itoa(t.unsorted), "etcd"})
			f.Hint = "look at the tasks that sort segments: kitescope get tasks; " + f.Hint
		}
		if vector {
			f.Severity, f.Cost = Warning, work.share(t.collection, t.rows)
		}
		p.Report(f)
	}
	return nil
}
