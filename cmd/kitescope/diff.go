package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/diff"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/render/clusters"
)

// diffFlags holds the flags of the diff command.
type diffFlags struct {
	report  cli.ReportFlags
	options diff.Options
}

func diffCommand(a *cli.App) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use: "diff [OLD [NEW]]",
		Long: `Show what changed between two sources: what was added, removed or changed.
Segments replaced by a compaction are matched with their successors. OLD and NEW
are anything --from reads; NEW defaults to --from or the context. With --at instead
of both, --from is compared with itself at that time.

Exit code 3: there are differences.`,
		Example: `  kitescope diff yesterday.kite today.kite
  kitescope diff before.kite --from etcd://10.0.0.5:2379
  kitescope diff --at 10m --from etcd://10.0.0.5:2379
  kitescope diff a.db b.db -o json
  kitescope diff a.db b.db --where resource=segments --where change!=added`,
		Args: cli.Args(0, 2, "one or two sources", "kitescope diff yesterday.kite today.kite"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(a, cmd, args)
		},
	}
	f.report.Register(cmd, clusters.DiffFormats(), 0, "")
	f.report.List(cmd, clusters.ChangeSchema, "change=added", "-resource,id", "resource,id,field; +by")
	a.AddAt(cmd)
	cmd.Flags().BoolVar(&f.options.Volatile, "moving", false,
		"list constantly changing values too: checkpoints, positions, revisions")
	return cmd
}

func (f *diffFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	format, o, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	before, after, err := loadBoth(ctx, a, args)
	if err != nil {
		return err
	}
	d := diff.Compare(before, after, f.options)
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Diff(w, d, format, o) }); err != nil {
		return err
	}
	if err := a.Completeness(before, after); err != nil {
		return err
	}
	if !d.Empty() {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// loadBoth loads both sides of the comparison. It returns a usage error if the arguments and --at do not name exactly
// two states.
func loadBoth(ctx context.Context, a *cli.App, args []string) (before, after *model.Cluster, err error) {
	switch past := !a.Flags.At.IsZero(); {
	case past && len(args) > 0:
		return nil, nil,
			cli.Usage(errors.New("--at compares a source with itself, but "+args[0]+" is another"),
				"use only one of them")
	case past:
		return a.LoadThenAndNow(ctx, meta.Want{Parts: model.PartAll})
	case len(args) == 0:
		return nil, nil,
			cli.Usage(errors.New("diff needs one or two sources, or --at"), "kitescope diff yesterday.kite today.kite")
	}
	if before, err = loadSide(ctx, a, args[0]); err != nil {
		return nil, nil, err
	}
	word := ""
	if len(args) == 2 {
		word = args[1]
	}
	after, err = loadSide(ctx, a, word)
	return before, after, err
}

// loadSide loads one side of a comparison. from has the syntax of --from; "" means the value of --from itself.
func loadSide(ctx context.Context, a *cli.App, from string) (*model.Cluster, error) {
	return a.Load(ctx, cmp.Or(from, a.Flags.From), meta.Want{Parts: model.PartAll})
}
