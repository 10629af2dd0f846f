package enginecmd

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineSearch(a *cli.App) *cobra.Command {
	var f engineFlags
	cmd := &cobra.Command{
		Use: "search FILE",
		Long: `Answer queries from an index file. Ids, distances and the order of equal distances
match the library that wrote the file; --library uses another one's rules. --truth
adds the recall: the share of the first k true neighbours that was found.`,
		Example: `  kitescope engine search base.hnsw --queries q.npy --k 10 --ef 64
  kitescope engine search base.npy --queries q.npy --metric ip -o jsonl
  kitescope engine search index_files/443/1/100/200 --queries q.npy`,
		Args: cli.Args(1, 1, "one index file", "kitescope engine search base.hnsw --queries q.npy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.search(a, cmd, args[0])
		},
	}
	f.report.Register(cmd, render.ReportFormats(), 10, "maximum number of queries; 0 for all")
	f.report.List(cmd, replays.SearchSchema, "'distances>1000'", "-distances,query", "query; +brute_force")
	f.registerMetric(cmd)
	f.registerSearch(cmd)
	fl := cmd.Flags()
	f.searchFlags.register(fl, ownUsage)
	fl.StringVar(&f.exclude, "exclude", "", "exclude rows with these ids (.npy, .ivecs)")
	fl.IntVar(&f.threads, "threads", 0, "goroutines; 0 for one per CPU")
	return cmd
}

func (f *engineFlags) search(a *cli.App, cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	p, err := f.params()
	if err != nil {
		return err
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
	if err := checkParams(t, &p); err != nil {
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
	if err := t.Quantize(queries.Vectors.Rows, threads); err != nil {
		return err
	}
	result := &target.SearchResult{Target: t, Options: o, Params: p}
	if result.Answers, err = t.Search(ctx, queries.Vectors, p, o, threads); err != nil {
		return fmt.Errorf("search with %s: %w", f.queries, err)
	}
	if err := f.computeRecall(ctx, result, queries.Vectors); err != nil {
		return err
	}
	return a.Write(func(w *bufio.Writer) error { return replays.WriteSearch(w, result, format, ro) })
}

// excluded returns the rows that --exclude names, or nil without the flag.
func (f *engineFlags) excluded(ctx context.Context, t *target.Target) (*engine.Bitset, error) {
	if f.exclude == "" {
		return nil, nil
	}
	ids, err := readIDs(ctx, f.exclude)
	if err != nil {
		return nil, err
	}
	b, err := t.Exclude(ids)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.exclude, err)
	}
	return b, nil
}

// computeRecall computes the recall of the answers if --truth is given.
func (f *engineFlags) computeRecall(ctx context.Context, r *target.SearchResult, queries *engine.Vectors) error {
	truth, err := f.trueNeighbours(ctx, r.Target, queries, r.Options, r.Params)
	if err != nil || truth == nil {
		return err
	}
	r.Recall, err = target.RecallOf(r.Answers, truth)
	return err
}
