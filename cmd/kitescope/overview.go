package main

import (
	"bufio"
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
)

// overviewFlags holds the flags of the overview command.
type overviewFlags struct {
	cli.DocumentFlags
	nodes *cli.NodeFlags
}

func overviewCommand(a *cli.App) *cobra.Command {
	var f overviewFlags
	cmd := &cobra.Command{
		Use: "overview",
		Long: `Show a cluster at a glance: its health, what is wrong and how to fix it, and what
it holds. "kitescope diagnose" has all findings with their evidence.`,
		Example: `  kitescope overview --from etcd://10.0.0.5:2379
  kitescope overview --from today.kite -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	f.Register(cmd)
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	f.nodes.Outage = true
	return cmd
}

func (f *overviewFlags) run(ctx context.Context, a *cli.App) error {
	o, err := f.Options(a)
	if err != nil {
		return err
	}
	c, err := a.LoadLive(ctx, f.nodes, meta.Want{Parts: view.OverviewNeeds})
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	report := check.Run(c, env.Now, rules.All())
	found := &clusters.Found{Report: report, List: report.Findings}
	if err := a.Write(func(w *bufio.Writer) error {
		return clusters.Overview(w, view.NewOverview(env), found, o)
	}); err != nil {
		return err
	}
	return cmp.Or(a.Completeness(c), cli.CheckRead(c))
}
