package target

import (
	"context"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/index"
)

// Exact returns the ids of the true neighbors of queries among the target's own vectors, by comparing with every
// vector.
func (t *Target) Exact(
	ctx context.Context, queries *engine.Vectors, p index.Params, o Options, threads int,
) ([][]int64, error) {
	o.Library = t.library(o.Library)
	rows := *t.File
	rows.Searchable, p = t.File.Exact(p)
	if _, have := rows.CodeBytes(); !have && rows.CodesPay(queries.Rows) {
		if err := rows.Quantize(threads); err != nil {
			return nil, fmt.Errorf("true neighbours: %w", err)
		}
		defer rows.ReleaseCodes()
	}
	exact := &Target{File: &rows}
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
