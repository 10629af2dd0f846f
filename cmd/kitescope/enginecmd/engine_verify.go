package enginecmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/dataset"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineVerify(a *cli.App) *cobra.Command {
	var f engineFlags
	var ids string
	p := target.VerifyPlan{MaxUnreachable: 0.01}
	cmd := &cobra.Command{
		Use: "verify FILE VECTORS",
		Long: `Check an index file for consistency and against the vectors it should hold, row i under id i or,
with --ids, under the i-th id: dangling links, levels, unreachable nodes, and stored vectors, which are
compared to the bit. Recall is measured by engine search --truth exact.

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
	fl.StringVar(&ids, "ids", "", "ids of the vectors, if not their row numbers (.npy, .ivecs)")
	fl.Float64Var(&p.MaxUnreachable, "max-unreachable", p.MaxUnreachable,
		"maximum share of unreachable nodes: real graphs have some")
	return cmd
}

func (f *engineFlags) verifyIndex(
	a *cli.App, cmd *cobra.Command, p target.VerifyPlan, ids string, args []string,
) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if !(p.MaxUnreachable >= 0 && p.MaxUnreachable <= 1) {
		return cli.Usagef("--max-unreachable must be 0 to 1, not %g", p.MaxUnreachable)
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

// readIDs returns all ids of a file, with its rows concatenated.
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
