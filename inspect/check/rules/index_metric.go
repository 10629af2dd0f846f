package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// indexMetricMismatch reports indexes whose metric does not fit the field's type, another index of the field,
// or the load state.
var indexMetricMismatch = &check.Check{
	ID:       "index-metric-mismatch",
	Title:    "An index metric does not fit its field, or is not the loaded one",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.IndexingHangs},
	Starts:   "index_created index_altered | index_dropped",
	Parts:    model.PartObjects | model.PartIndexes | model.PartServing,
	Doc: `Every search of a field fails because its type does not support the index metric. The check compares live
index definitions on vector fields with the schema, with each other and with the load state.

- Error: a metric that does not exist for the field's type, such as L2 on a binary vector, JACCARD on a float vector,
  anything but IP and BM25 on a sparse one, or BM25 on a field without a function.
- Warning: two live definitions with different metrics on one vector field: either may serve a segment.
- Warning: a collection loaded with an index definition that is gone or deleted: nodes serve the old index with its
  metric.

Milvus rejects the first case when an index is created. It comes from clients and backup tools that write metadata,
and from upgrades. Unknown: the metric that searches use; with another than the index's they fail with a message that
names both.`,
	Remedy: `Release the collection, drop the index, create it with the metric that the vectors were made for, and
load again. The collection cannot be searched meanwhile.`,
	Run: runIndexMetric,
}

// metricsOf returns the metrics that a field type supports (Milvus 2.6,
// internal/util/indexparamcheck/constraints.go and docs, "Metric types"; TANIMOTO, SUBSTRUCTURE and
// SUPERSTRUCTURE until 2.2). It returns nil for other types, which are not checked.
func metricsOf(fieldType string) []string {
	switch fieldType {
	case "FloatVector", "Float16Vector", "BFloat16Vector", "Int8Vector":
		return []string{"L2", "IP", "COSINE"}
	case "BinaryVector":
		return []string{"HAMMING", "JACCARD", "TANIMOTO", "SUBSTRUCTURE", "SUPERSTRUCTURE", "MHJACCARD"}
	case "SparseFloatVector":
		return []string{"IP", "BM25"}
	}
	return nil
}

func runIndexMetric(p *check.Pass) {
	for _, x := range p.Existing() {
		byField := make(map[model.FieldID][]*model.Index)
		for _, i := range p.IndexesOf(x.ID) {
			if f := x.Field(i.Field); f != nil && f.Vector() && !i.Deleted {
				byField[i.Field] = append(byField[i.Field], i)
				judgeMetric(p, x, f, i)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(byField)) {
			judgeConflicts(p, x, byField[id])
		}
		judgeLoadedIndex(p, x)
	}
}

func judgeMetric(p *check.Pass, x *model.Collection, field *model.Field, i *model.Index) {
	metric, allowed := strings.ToUpper(i.Metric), metricsOf(field.Type)
	var problem string
	switch {
	case metric == "" || allowed == nil:
		return
	case !slices.Contains(allowed, metric):
		problem = fmt.Sprintf("%s does not exist for %s", metric, field.Type)
	case metric == "BM25" && !field.FuncOutput:
		problem = "BM25 on a field without a function"
	default:
		return
	}
	p.Report(check.Finding{
		Severity: check.Error, Object: facts.RefIndex(i), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
		Cost:    shareOfLoaded(p, x.ID),
		Message: fmt.Sprintf("%s on %s.%s: %s", i.Name, facts.CollectionLabel(p.Cluster, x.ID), field.Name, problem),
		Evidence: []check.Evidence{
			check.Fact("metric of the index", i.Metric, "etcd"),
			check.Fact("type of the field", field.Type, "etcd"),
			check.Fact("metrics for this type", strings.Join(allowed, ", "), ""),
		},
		Impact: "Searches of the field fail.",
		Fix: check.Fix(check.Redefine(p.Cluster, x, i, check.Definition(check.UserType(i), allowed[0], i.Params)).
			Does("rebuilds the index; replace %s with the metric that the vectors were made for", allowed[0])),
	})
}

func judgeConflicts(p *check.Pass, x *model.Collection, list []*model.Index) {
	for _, i := range list[1:] {
		if strings.EqualFold(i.Metric, list[0].Metric) {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Warning,
			Object: model.Ref{
				Resource: "fields", ID: x.ID.String() + "/" + i.Field.String(), Name: facts.FieldLabel(x, i.Field),
			},
			Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID), facts.RefIndex(list[0]), facts.RefIndex(i)},
			Message: fmt.Sprintf("%s.%s has two indexes with different metrics: %s (%s) and %s (%s)",
				facts.CollectionLabel(p.Cluster, x.ID), facts.FieldLabel(x, i.Field), list[0].Name, list[0].Metric,
				i.Name, i.Metric),
			Evidence: []check.Evidence{
				check.Fact("metric of "+list[0].Name, list[0].Metric, "etcd"),
				check.Fact("metric of "+i.Name, i.Metric, "etcd"),
			},
			Impact: "Either may serve a segment; searches with the other metric fail.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get indexes").Arg("collection_id="+x.ID.String())).
					Does("shows both: decide which metric the vectors were made for"),
				check.Pymilvus(p.Cluster, x.Database, "c = Collection(%s)\nc.release()\nc.drop_index(index_name=%s)%s",
					x.Name, i.Name, check.LoadAgain(p.Cluster, x)).
					Does("drops %s; to keep that one, drop %s instead", i.Name, list[0].Name).
					Interrupting(5*time.Minute, "searches of %s until it is loaded again", x.Name),
			),
		})
		return
	}
}

// judgeLoadedIndex compares the index definitions that QueryCoord loaded the collection with to the existing
// ones.
func judgeLoadedIndex(p *check.Pass, x *model.Collection) {
	load := p.LoadState(x.ID)
	if load == nil || !p.Loaded.Has(model.PartIndexes) {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(load.Indexes)) {
		loaded := load.Indexes[id]
		field := x.Field(id)
		if i := p.Index(loaded); loaded == 0 || i != nil && !i.Deleted || field == nil || !field.Vector() {
			continue
		}
		now := "none"
		for _, i := range p.IndexesOf(x.ID) {
			if i.Field == id && !i.Deleted {
				now = fmt.Sprintf("%s (%s, id %s)", i.Name, i.Metric, i.ID)
			}
		}
		fix := check.Fix(check.Reload(p.Cluster, x).
			Does("loads it with its current index"))
		if now == "none" { // without an index it cannot be loaded again
			fix = check.Fix(check.Pymilvus(p.Cluster, x.Database, "Collection(%s).create_index(%s, %s)", x.Name,
				field.Name, usualIndex(field)).
				Does("creates an index; replace its metric with the one that the vectors were made for, "+
					"and do not release the collection before it is built").
				Interrupting(5*time.Minute, "nothing"))
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID), Fix: fix,
			Message: fmt.Sprintf("%s is loaded with index %s on %s, but that index no longer exists",
				facts.CollectionLabel(p.Cluster, x.ID), loaded, field.Name),
			Evidence: []check.Evidence{
				check.Fact("loaded index", loaded.String(), "etcd"),
				check.Fact("current index of the field", now, "etcd"),
			},
			Impact: "Nodes serve the index of the old definition, or search by brute force.",
		})
		return // one field is enough, because the remedy is the same
	}
}

// shareOfLoaded returns the share of a collection in all loaded collections, assuming that all are searched
// equally often. It returns 0 if the collection is not loaded.
func shareOfLoaded(p *check.Pass, id model.CollectionID) float64 {
	if p.LoadState(id) == nil {
		return 0
	}
	return 1 / float64(max(1, len(p.LoadStates)))
}
