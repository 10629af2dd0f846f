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

Not a finding: FLAT and BIN_FLAT, which have no files; segments of fewer than 1,024 rows
(` + "`indexCoord.segment.minSegmentNumRowsToEnableIndex`" + `), which Milvus marks finished without building; L0, growing and importing
segments. From Milvus 2.5 on segments are sorted before they are indexed: a sort that lags shows here too.

Rows without an index are compared one by one by every search. Sources: ` + "`internal/datacoord/index_service.go`" + `; milvus issues
22278 and 36389.`,
	Remedy: `Check that DataCoord is healthy and logs no error about the segment. Dropping the index and creating it again makes
DataCoord write the records anew; the collection has to be released for that.`,
	Run:         runIndexMissing,
	FollowsFrom: []Cause{{Check: "layout-older"}, {Check: "layout-rollback"}},
}

func runIndexMissing(p *Pass) error {
	limit, found := p.before(buildGrace), tallies{}
	p.eachUnbuilt(func(b build) {
		if b.record == nil && p.waited(b, limit, buildGrace) {
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
			Hint: fmt.Sprintf("%sutility.index_building_progress(%q, %q) says what Milvus itself counts; then release, drop_index(index_name=%q), create_index(%q, ...) and load",
				inDatabase(p.Cluster, t.collection), t.collection.Name, t.index.Name, t.index.Name, fieldLabel(t.collection, t.index.Field)),
		}
		if vector {
			f.Severity, f.Cost = Warning, work.share(t.collection, t.rows)
		}
		p.Report(f)
	}
	return nil
}
