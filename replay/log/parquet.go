package log

import (
	"context"

	"kitescope/engine/dataset"
)

// vectorNames returns the usual names of the vector column, to select it among several.
func vectorNames() []string {
	return []string{"vector", "embedding", "emb", "query", "queries", "test"}
}

// openParquet reads the vector column with engine/dataset: the requested one, the only one, or one with a usual
// name.
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
