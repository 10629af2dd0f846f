package log

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dataset"
	guard "kitescope/engine/parquet"
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

// parquetNotes tell of columns that say more of requests than their vectors: they are not read.
func parquetNotes(f *os.File, size int64) (notes []string, err error) {
	defer guard.Recover(&err)
	file, err := guard.Open(f, size)
	if err != nil {
		return nil, err
	}
	known := []string{"k", "collection", "filter", "truth", "timestamp", "at", "at_seconds"}
	for p := range engine.EachSearchParam() {
		known = append(known, p.Key)
	}
	var found []string
	for _, c := range file.Root().Columns() {
		if slices.Contains(known, c.Name()) {
			found = append(found, c.Name())
		}
	}
	if len(found) > 0 {
		notes = []string{fmt.Sprintf("only the vectors are read of a parquet file, not %s: write a .jsonl for those", strings.Join(found, ", "))}
	}
	return notes, nil
}
