package vectors

import (
	"bufio"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineVerify(a *cli.App) *cobra.Command {
	var f engineFlags
	var ids string
	p := target.VerifyPlan{Queries: 200, K: 10, SearchParams: engine.SearchParams{EF: 64}, Noise: 0.1, Seed: 1, MinRecall: 0.9, MaxUnreachable: 0.01}
	cmd := &cobra.Command{
		Use: "verify FILE VECTORS",
		Long: `Check an index file for consistency and against the vectors it should hold, row i under id i or,
with --ids, under the i-th id: dangling links, levels, unreachable nodes, stored vectors, and recall
against exact search. Queries for recall are rows of VECTORS, moved a little (--noise).

Stored vectors are compared to the bit. Distances are not: those of the library that wrote the file
differ by a few units in the last place where it was compiled for another CPU.

Exit code 3: a check failed.`,
		Example: `  kitescope engine verify base.hnsw base.npy
  kitescope engine verify index_files/443/1/100/200 vectors.npy -o json`,
		Args: cli.Args(2, 2, "an index file and the file of its vectors", "kitescope engine verify base.hnsw base.npy"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.verifyIndex(a, cmd, p, ids, args) },
	}
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, replays.VerificationSchema, "outcome!=passed", "outcome,check", "check,outcome; + in front")
	f.registerMetric(cmd)
	fl := cmd.Flags()
	fl.IntVar(&p.Queries, "sample", p.Queries, "number of queries to measure recall with, 0 for none")
	fl.IntVarP(&p.K, "k", "k", p.K, "neighbours per query")
	fl.IntVar(&p.EF, "ef", p.EF, "candidates of these searches in an HNSW index")
	fl.IntVar(&p.NProbe, "nprobe", 0, "lists of these searches in an IVF index; without it recall is not measured")
	fl.StringVar(&ids, "ids", "", "ids of the vectors, if not their row numbers (.npy, .ivecs)")
	fl.Float64Var(&p.Noise, "noise", p.Noise, "noise that turns a row into a query, in standard deviations of the values")
	fl.Uint64Var(&p.Seed, "seed", p.Seed, "seed of the choice of rows")
	fl.Float64Var(&p.MaxUnreachable, "max-unreachable", p.MaxUnreachable, "maximum share of unreachable nodes: real graphs have some")
	fl.Float64Var(&p.MinRecall, "min-recall", p.MinRecall, "minimum recall")
	return cmd
}

func (f *engineFlags) verifyIndex(a *cli.App, cmd *cobra.Command, p target.VerifyPlan, ids string, args []string) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Settle(a, cmd)
	if err != nil {
		return err
	}
	if p.Queries < 0 || p.K < 1 || p.K > target.MaxK || p.EF < 1 || p.NProbe < 0 || !(p.Noise >= 0 && p.Noise <= 1000) || !(p.MinRecall >= 0 && p.MinRecall <= 1) || !(p.MaxUnreachable >= 0 && p.MaxUnreachable <= 1) {
		return cli.Usagef("--sample and --nprobe must be 0 or more, --noise 0 to 1000, --k 1 to %d, --ef 1 or more, --min-recall and --max-unreachable 0 to 1", target.MaxK)
	}
	if p.Threads, err = threadsOf(0); err != nil {
		return err
	}
	t, err := f.openTarget(ctx, a, args[0])
	if err != nil {
		return err
	}
	defer t.Close()
	set, err := openVectors(ctx, a, args[1])
	if err != nil {
		return err
	}
	defer set.Close()
	if ids != "" {
		if p.IDs, err = readIDs(ctx, ids); err != nil {
			return err
		}
	}
	v, err := t.Verify(ctx, set.Vectors, p)
	if err != nil {
		return fmt.Errorf("verify %s: %w", args[0], err)
	}
	if err := a.Write(func(w *bufio.Writer) error { return replays.WriteVerification(w, v, format, ro) }); err != nil {
		return err
	}
	if !v.OK() {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// readIDs are all ids of a file, one row of it after the other.
func readIDs(ctx context.Context, path string) ([]int64, error) {
	set, err := dataset.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	if set.IDs == nil {
		return nil, fmt.Errorf("read %s: it has vectors, expected ids", path)
	}
	return slices.Concat(set.IDs...), nil
}
