package target

import (
	"context"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/flat"
	"kitescope/engine/index"
)

// rows is a FLAT target over the vectors of another one: the same metric, ids and deletions.
// IVF keeps its vectors in lists: searching all of them is as good, and rows is nil.
func (t *Target) rows() *Target {
	x := t.File.HNSW
	if t.File.Kind != index.HNSW {
		return nil
	}
	f := *t.File
	f.Kind, f.HNSW = index.FLAT, nil
	f.Flat = &flat.Index{Vectors: x.Vectors, Metric: x.Metric, Norms: x.Norms, Labels: x.Labels, Deleted: x.Deleted}
	return &Target{File: &f}
}

// Exact finds the true neighbours of queries among the target's own vectors, by comparing with
// all of them.
func (t *Target) Exact(ctx context.Context, queries *engine.Vectors, p Params, o Options, threads int) ([][]int64, error) {
	o.Entries, o.Library = nil, t.library(o.Library)
	exact := t
	if rows := t.rows(); rows != nil {
		exact = rows
	}
	if t.File.Kind == index.IVFFlat {
		p.NProbe = len(t.File.IVF.Lists)
	}
	a, err := exact.Search(ctx, queries, p, o, threads)
	if err != nil {
		return nil, fmt.Errorf("true neighbours: %w", err)
	}
	ids := make([][]int64, len(a.Hits))
	for i, hits := range a.Hits {
		ids[i] = make([]int64, len(hits))
		for j, h := range hits {
			ids[i][j] = h.ID
		}
	}
	return ids, nil
}

// vectors have the element type of the target: its rows, or the centroids of its lists.
func (t *Target) vectors() *engine.Vectors {
	switch t.File.Kind {
	case index.HNSW:
		return t.File.HNSW.Vectors
	case index.IVFFlat:
		return t.File.IVF.Centroids
	default:
		return t.File.Flat.Vectors
	}
}
