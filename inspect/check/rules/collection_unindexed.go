package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// unindexedRows is the minimum number of rows without an index for a finding.
const unindexedRows = 100_000

// collectionUnindexed reports collections with a vector field that has no index.
var collectionUnindexed = &check.Check{
	ID:       "collection-unindexed",
	Title:    "A vector field with many rows has no index",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "index_dropped collection_created | segment_flushed collection_loading",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing,
	Doc: `A collection is searched by brute force, or cannot be loaded. Reported: vector fields without a live index
definition in collections of at least 100,000 rows.

- The field is loaded: warning from a million rows, or from 100,000 on Milvus 2.2 and later. Those load a vector field
  only with an index: the definition was lost.
- The field is not loaded: info. It cannot be loaded before it has an index (Milvus 2.2 and later). This includes
  fields left out of the load, as Milvus 2.5 and later allow (` + "`load_fields`" + `).

Milvus 2.1 searches without an index and keeps no record of FLAT indexes: small collections there are not reported.`,
	Remedy: `Create an index:
` + "`Collection(NAME).create_index(FIELD, {\"index_type\": \"HNSW\", \"metric_type\": ..., \"params\": ...})`" +
		`. For small
collections FLAT is exact and needs no build.`,
	Phases:      []latency.Name{latency.KernelSealed},
	Run:         runCollectionUnindexed,
	Whole:       true,
	FollowsFrom: check.CausedBy(nil, "layout-older"),
}

func runCollectionUnindexed(p *check.Pass) {
	var work facts.SearchWork
	for _, x := range p.Existing() {
		rows := p.CollectionTotals(x.ID).Rows
		if rows < unindexedRows {
			continue
		}
		field, loaded := unindexedField(p, x)
		if field == nil {
			continue
		}
		if work.Facts == nil {
			work = p.SearchWork()
		}
		f := check.Finding{
			Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID),
			Message: fmt.Sprintf("%s.%s has no index over %s rows", facts.CollectionLabel(p.Cluster, x.ID), field.Name,
				words.Number(rows)),
			Evidence: []check.Evidence{
				check.Count("rows", rows, "etcd"), check.Fact("index definitions on "+field.Name, "none", "etcd"),
				check.Fact("loaded", strconv.FormatBool(loaded), "etcd"),
			},
			Impact: "The field cannot be loaded or searched before it has an index.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, x.Database, "Collection(%s).create_index(%s, %s)", x.Name, field.Name,
					usualIndex(field)).
					Does("builds an index; replace its metric with the one that the vectors were made for").
					Interrupting(5*time.Minute, "nothing"),
				check.Shell(check.Kitescope("get indexes").Arg("collection_id="+x.ID.String())).
					Does("shows 100%% indexed once it is built"),
			),
		}
		if loaded {
			f.Impact, f.Cost = "Each search scans every row.", work.Share(x, rows)
			if rows >= flatRows || !facts.IsLegacy(p.Cluster) {
				f.Severity = check.Warning
			}
		}
		p.Report(f)
	}
}

// unindexedField returns the first vector field without a live index definition, nil if there is none. Fields that
// are loaded come first.
func unindexedField(p *check.Pass, x *model.Collection) (field *model.Field, loaded bool) {
	load := p.LoadState(x.ID)
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
		if load != nil && (len(load.Fields) == 0 || slices.Contains(load.Fields, f.ID)) {
			return f, true
		}
		field = cmp.Or(field, f)
	}
	return field, false
}

// usualIndex returns an index definition that suits the vectors of a field.
func usualIndex(f *model.Field) check.Hint {
	switch {
	case f.Type == "SparseFloatVector" && f.FuncOutput:
		return check.Definition("SPARSE_INVERTED_INDEX", "BM25", nil)
	case f.Type == "SparseFloatVector":
		return check.Definition("SPARSE_INVERTED_INDEX", "IP", nil)
	case f.Type == "BinaryVector":
		return check.Definition("BIN_IVF_FLAT", "HAMMING", usualLists())
	}
	return check.Definition("HNSW", "L2", usualGraph())
}
