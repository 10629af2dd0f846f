package log

import (
	"context"

	"kitescope/engine/dataset"
)

// vectorNames are the names by which the column of vectors is known, where there are several.
func vectorNames() []string {
	return []string{"vector", "embedding", "emb", "query", "queries", "test"}
}

// openParquet lets engine/dataset read the column of vectors: the one that was asked for, the only one, or the one whose
// name says so.
func openParquet(ctx context.Context, path, column string) (*dataset.Set, error) {
	set, err := dataset.OpenAs(ctx, path, dataset.Parquet, column)
	if err == nil || column != "" {
		return set, err
	}
	for _, name := range vectorNames() {
		if set, e := dataset.OpenAs(ctx, path, dataset.Parquet, name); e == nil {
			return set, nil
		}
	}
	return nil, err
}
