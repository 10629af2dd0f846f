package vectors

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/hnsw"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineSearch(a *cli.App) *cobra.Command {
	var f engineFlags
	cmd := &cobra.Command{
		Use: "search FILE",
		Long: `Answer queries from an index file. Ids, distances and the order of equal distances match the library
that wrote the file; --library uses another one's rules.
Milvus nodes up to 2.4 enter the graph elsewhere when a query repeats: --entry warm runs all queries
once first, and shows the answers of the second run.

--filter takes Milvus's boolean expressions, by the rules of 2.6: the rows are those of the fields in --fields.

--truth compares with the true neighbours: recall is the share of the first k that was found.`,
		Example: `  kitescope engine search base.hnsw --queries q.npy --k 10 --ef 64
  kitescope engine search base.npy --queries q.npy --metric ip -o jsonl
  kitescope engine search index_files/443/1/100/200 --queries q.npy --ef 64 --truth exact
  kitescope engine search base.faiss --queries q.npy --radius 0.5
  kitescope engine search base.npy --queries q.npy --fields base.parquet --filter 'year >= 2020'`,
		Args: cli.Args(1, 1, "one index file", "kitescope engine search base.hnsw --queries q.npy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.search(a, cmd, args[0])
		},
	}
	f.report.Register(cmd, render.ReportFormats(), 10, "maximum number of queries, 0 for all; csv and structured formats default to all")
	f.report.List(cmd, replays.SearchSchema, "'distances>1000'", "-distances,query", "query,distances; +brute_force")
	f.registerMetric(cmd)
	f.registerSearch(cmd)
	fl := cmd.Flags()
	f.asked.register(fl, ownUsage)
	fl.StringVar(&f.radius, "radius", "", "all rows within this distance (or above this similarity), not the first k")
	fl.StringVar(&f.rangeFilter, "range-filter", "", "with --radius: exclude rows nearer than this")
	fl.StringVar(&f.exclude, "exclude", "", "exclude rows with the ids in this file (.npy, .ivecs)")
	fl.StringVar(&f.filter, "filter", "", "search only rows that this expression of Milvus's lets pass, over --fields: 'price < 20 and tag in [\"a\"]'")
	fl.StringArrayVar(&f.fields, "fields", nil, "fields of the rows, for --filter: a .parquet file, or NAME=PATH with a field's insert logs; row i belongs to id i; repeatable")
	fl.StringVar(&f.entry, "entry", "cold", "cold, or warm: like a node that has seen the queries before")
	fl.IntVar(&f.threads, "threads", 0, "goroutines, 0 for one per CPU; the answers do not depend on it")
	_ = cmd.RegisterFlagCompletionFunc("entry", cli.Fixed("cold", "warm"))
	return cmd
}

func (f *engineFlags) search(a *cli.App, cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Settle(a, cmd)
	if err != nil {
		return err
	}
	p, err := f.params()
	if err != nil {
		return err
	}
	if (f.filter == "") != (len(f.fields) == 0) {
		return cli.Usage(errors.New("--filter and --fields need each other"), "give both, or neither")
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	threads, err := threadsOf(f.threads)
	if err != nil {
		return err
	}
	t, err := f.openTarget(ctx, a, path)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := used(t, &p, o); err != nil {
		return err
	}
	queries, err := openVectors(ctx, a, f.queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	if p.Filter, err = f.excluded(ctx, t); err != nil {
		return err
	}
	if err := t.Shade(queries.Vectors.Rows, threads); err != nil {
		return err
	}
	result := &target.Found{Target: t, Options: o, Params: p}
	if result.Answers, err = f.answered(ctx, result, queries.Vectors, threads); err != nil {
		return err
	}
	if err := f.checkAnswers(ctx, result, queries.Vectors); err != nil {
		return err
	}
	return a.Write(func(w *bufio.Writer) error { return replays.WriteSearch(w, result, format, ro) })
}

// excluded are the rows that --exclude names and those that --filter does not let pass, nil if there is neither.
func (f *engineFlags) excluded(ctx context.Context, t *target.Target) (*engine.Bitset, error) {
	var ids []int64
	var err error
	if f.exclude != "" {
		if ids, err = readIDs(ctx, f.exclude); err != nil {
			return nil, err
		}
	}
	named := f.exclude
	if f.filter != "" {
		left, err := f.filteredOut(ctx, t)
		if err != nil {
			return nil, err
		}
		ids, named = append(ids, left...), cmp.Or(named, "--fields")
	}
	if named == "" {
		return nil, nil
	}
	b, err := t.Exclude(ids)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", named, err)
	}
	return b, nil
}

// filteredOut are the ids that --filter does not let pass.
func (f *engineFlags) filteredOut(ctx context.Context, t *target.Target) ([]int64, error) {
	fields, err := target.OpenFields(ctx, f.fields)
	if err != nil {
		return nil, err
	}
	if fields.Rows() != t.File.Rows {
		return nil, cli.WithHint(fmt.Errorf("--fields has %d rows, %s %d", fields.Rows(), t.File.Name, t.File.Rows), "give the fields of all rows, in the order of the vectors")
	}
	left, err := fields.Left(ctx, f.filter)
	return left, hinted(err)
}

// answered searches with entry points of its own, where they are warm after a first run of all queries.
func (f *engineFlags) answered(ctx context.Context, r *target.Found, queries *engine.Vectors, threads int) (*target.Answers, error) {
	o := r.Options
	if o.Entries != nil {
		o.Entries = hnsw.NewEntryCache()
		if _, err := r.Target.Search(ctx, queries, r.Params, o, 1); err != nil {
			return nil, fmt.Errorf("search with %s: %w", f.queries, err)
		}
	}
	a, err := r.Target.Search(ctx, queries, r.Params, o, threads)
	if err != nil {
		return nil, fmt.Errorf("search with %s: %w", f.queries, err)
	}
	return a, nil
}

// checkAnswers compares answers with the true neighbours, where that was asked for.
func (f *engineFlags) checkAnswers(ctx context.Context, r *target.Found, queries *engine.Vectors) error {
	truth, err := f.trueNeighbours(ctx, r.Target, queries, r.Options, r.Params)
	if err != nil || truth == nil {
		return err
	}
	r.Recall, err = target.RecallOf(r.Answers, truth)
	return err
}
