package check

import (
	"kitescope/inspect/model"
)

// searchWork estimates from metadata how the work of searches is spread over the loaded collections,
// as if all were searched alike: rows compared times dimensions.
type searchWork struct {
	p     *Facts
	total float64
}

func (p *Facts) searchWork() searchWork {
	w := searchWork{p: p}
	for _, l := range p.LoadStates {
		if x := p.Collection(l.Collection); x != nil && !x.Dropped() {
			w.total += float64(dimensions(x)) * compared(p, x)
		}
	}
	return w
}

// share is the part of all search work that comparing so many rows of a collection one by one is; 0 if
// the collection is not loaded.
func (w searchWork) share(x *model.Collection, rows int64) float64 {
	if w.total <= 0 || rows <= 0 || w.p.LoadState(x.ID) == nil {
		return 0
	}
	return min(1, float64(rows)*float64(dimensions(x))/w.total)
}

// usualM is the M that a graph index is taken to have, knowhere's default (hnsw_config.h).
const usualM = 30

// compared is how many rows a search of a collection compares: all that have no index, and in each
// segment that has one about as many as the survey says of a graph.
func compared(p *Facts, x *model.Collection) float64 {
	t := p.CollectionTotals(x.ID)
	rows := float64(t.Rows)
	for _, i := range p.IndexesOf(x.ID) {
		if i.Deleted || !onVector(x, i) || flat(i.Type) {
			continue
		}
		w := p.Balance.Weights
		segments := float64(t.ByState[model.SegmentFlushed] + t.ByState[model.SegmentFlushing])
		return rows - float64(t.IndexedRows) + min(float64(t.IndexedRows), segments*w.GraphRows*usualM*w.EF)
	}
	return rows
}

// dimensions are those of the collection's widest vector field, at least 1: sparse vectors have none.
func dimensions(x *model.Collection) int64 {
	dim := int64(1)
	for _, f := range x.Fields {
		if f.Vector() {
			dim = max(dim, f.Dim)
		}
	}
	return dim
}

// onVector reports whether an index is one of a vector field. An index of a field that is
// gone counts as one if it has a metric.
func onVector(x *model.Collection, i *model.Index) bool {
	if f := x.Field(i.Field); f != nil {
		return f.Vector()
	}
	return i.Metric != ""
}

// flat reports whether an index type compares every row and has no files (Milvus 2.5, internal/util/vecindexmgr,
// IsNoTrainIndex).
func flat(indexType string) bool { return indexType == "FLAT" || indexType == "BIN_FLAT" }

// refIndex names an index definition.
func refIndex(i *model.Index) model.Ref {
	return model.Ref{Resource: "indexes", ID: i.ID.String(), Name: i.Name}
}

// fieldLabel is how messages call a field: its name, else its id.
func fieldLabel(x *model.Collection, id model.FieldID) string {
	if f := x.Field(id); f != nil {
		return f.Name
	}
	return "field " + id.String()
}
