package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/expr"
	"kitescope/replay/log"
)

// readFilters reads the fields that the filter expressions of the log need, if any.
func (in *replayInput) readFilters(ctx context.Context, a *cli.App, data *loadedData, queries *log.Log) error {
	if !slices.ContainsFunc(queries.Requests,
		func(r log.Request) bool { return r.Filter != nil && r.Filter.Expr != "" }) {
		return nil
	}
	if data.file != nil {
		return cli.WithHint(fmt.Errorf("%s has filter expressions: a file of vectors has no fields for them",
			queries.Name), "give the ids that pass as a list")
	}
	store, _, err := in.openStorage(ctx, a, data.Layout)
	if err != nil {
		return err
	}
	defer store.Close()
	err = data.ReadFilters(ctx, store, queries, in.threads)
	return withExprHint(err)
}

// withExprHint adds the hint of an expression error.
func withExprHint(err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok && e.Hint != "" {
		return cli.WithHint(err, e.Hint)
	}
	return err
}
