package facts

import (
	"kitescope/inspect/model"
)

// SearchWork estimates from metadata how the work of searches is distributed over the loaded collections, assuming
// that all are searched equally. The unit is rows compared times dimensions.
type SearchWork struct {
	Facts *Facts
	total float64
}

// SearchWork returns the work of all loaded collections.
func (f *Facts) SearchWork() SearchWork {
	w := SearchWork{Facts: f}
	for _, l := range f.LoadStates {
		if x := f.Collection(l.Collection); x != nil && !x.Dropped() {
			w.total += float64(Dimensions(x)) * comparedRows(f, x)
		}
	}
	return w
}

// Share returns the share of all search work that is spent on comparing rows of a collection one by one. It returns
// 0 if the collection is not loaded.
func (w SearchWork) Share(x *model.Collection, rows int64) float64 {
	if w.total <= 0 || rows <= 0 || w.Facts.LoadState(x.ID) == nil {
		return 0
	}
	return min(1, float64(rows)*float64(Dimensions(x))/w.total)
}

// usualM is the assumed M of a graph index, knowhere's default (hnsw_config.h).
const usualM = 30

// comparedRows returns the number of rows that a search of a collection compares: all rows without an index, plus for
// each indexed segment the number that the survey estimates for a graph.
func comparedRows(f *Facts, x *model.Collection) float64 {
	t := f.CollectionTotals(x.ID)
	rows := float64(t.Rows)
	for _, i := range f.IndexesOf(x.ID) {
		if i.Deleted || !OnVector(x, i) || IsFlat(i.Type) {
			continue
		}
		w := f.Balance.Weights
		segments := float64(t.ByState[model.SegmentFlushed] + t.ByState[model.SegmentFlushing])
		return rows - float64(t.IndexedRows) + min(float64(t.IndexedRows), segments*w.GraphRows*usualM*w.EF)
	}
	return rows
}

// Dimensions returns the dimensions of the collection's widest vector field, at least 1 because sparse vectors have
// none.
func Dimensions(x *model.Collection) int64 {
	dim := int64(1)
	for _, f := range x.Fields {
		if f.Vector() {
			dim = max(dim, f.Dim)
		}
	}
	return dim
}

// OnVector reports whether an index belongs to a vector field. An index whose field is gone counts as one if it has
// a metric.
func OnVector(x *model.Collection, i *model.Index) bool {
	if f := x.Field(i.Field); f != nil {
		return f.Vector()
	}
	return i.Metric != ""
}

// IsFlat reports whether an index type compares every row and has no files (Milvus 2.5, internal/util/vecindexmgr,
// IsNoTrainIndex).
func IsFlat(indexType string) bool { return indexType == "FLAT" || indexType == "BIN_FLAT" }

// RefIndex returns a reference to an index definition.
func RefIndex(i *model.Index) model.Ref {
	return model.Ref{Resource: "indexes", ID: i.ID.String(), Name: i.Name}
}

// FieldLabel returns the label of a field in messages: its name, or its id if the field is gone.
func FieldLabel(x *model.Collection, id model.FieldID) string {
	if f := x.Field(id); f != nil {
		return f.Name
	}
	return "field " + id.String()
}
