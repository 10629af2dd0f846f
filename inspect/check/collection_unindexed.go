package check

import (
	"fmt"
	"strconv"

	"kitescope/inspect/model"
)

// unindexedRows is how many rows without an index are worth a word.
const unindexedRows = 100_000

// CollectionUnindexed finds collections whose vectors no index covers.
var CollectionUnindexed = &Check{
	ID:       "collection-unindexed",
	Title:    "A vector field of many rows has no index definition",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing,
	Doc: `Looks at vector fields without a live index definition in collections of at least 100,000 rows.

- If the collection is loaded, a warning from a million rows on, and from 100,000 on where Milvus 2.2 or later runs: it loads a
  collection only with indexes, so this one lost its definition.
- If it is not loaded, information: it cannot be loaded before there is an index (Milvus 2.2 and later).

Milvus 2.1 searches without an index, and keeps no record of FLAT ones: small collections there are no finding.
Rows without an index are compared one by one.`,
	Remedy: "Create an index: `Collection(NAME).create_index(FIELD, {\"index_type\": \"HNSW\", \"metric_type\": ..., \"params\": ...})`. For small\ncollections FLAT is exact and costs nothing to build.",
	Run:    runCollectionUnindexed,
	FollowsFrom: []Cause{
		{Check: "layout-older"},
	},
}

func runCollectionUnindexed(p *Pass) error {
	var work searchWork
	for _, x := range p.Collections {
		rows := p.CollectionTotals(x.ID).Rows
		if x.Dropped() || rows < unindexedRows {
			continue
		}
		field := p.unindexedField(x)
		if field == nil {
			continue
		}
		if work.p == nil {
			work = p.searchWork()
		}
		loaded := p.LoadState(x.ID) != nil
		f := Finding{
			Severity: Info, Object: refCollection(p.Cluster, x.ID), Cost: work.share(x, rows),
			Message:  fmt.Sprintf("%s.%s has no index over %s rows", collectionLabel(p.Cluster, x.ID), field.Name, number(rows)),
			Evidence: []Evidence{{"rows", number(rows), "etcd"}, {"index definitions on " + field.Name, "none", "etcd"}, {"loaded", strconv.FormatBool(loaded), "etcd"}},
			Impact:   "It cannot be loaded before there is an index.",
			Hint:     fmt.Sprintf("%sCollection(%q).create_index(%q, {\"index_type\": \"HNSW\", ...})", inDatabase(p.Cluster, x), x.Name, field.Name),
		}
		if loaded {
			f.Impact = "Each search compares every row."
			if rows >= flatRows || !legacy(p.Cluster) {
				f.Severity = Warning
			}
		}
		p.Report(f)
	}
	return nil
}

// unindexedField is the first vector field that no live definition covers, nil if there is none.
func (p *Pass) unindexedField(x *model.Collection) *model.Field {
next:
	for _, f := range x.Fields {
		if !f.Vector() {
			continue
		}
		for _, i := range p.IndexesOf(x.ID) {
			if i.Field == f.ID && !i.Deleted {
				continue next
			}
		}
		return f
	}
	return nil
}
