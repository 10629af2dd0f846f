package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/render"
)

func overviewCommand(a *cli.App) *cobra.Command {
	var output string
	var nodes *cli.NodeFlags
	cmd := &cobra.Command{
		Use: "overview",
		Example: `  kitescope overview --from etcd://10.0.0.5:2379
  kitescope overview --from today.kite -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return overview(cmd.Context(), a, nodes, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", cli.DocumentFormats)
	nodes = cli.AddNodeFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("output", cli.Fixed("text", "json", "yaml"))
	return cmd
}

func overview(ctx context.Context, a *cli.App, nodes *cli.NodeFlags, output string) error {
	o, err := a.DocumentOptions(output)
	if err != nil {
		return err
	}
	c, err := a.LoadLive(ctx, nodes, meta.Want{Parts: view.OverviewNeeds})
	if err != nil {
		return err
	}
	overview := view.NewOverview(view.NewEnv(c, a.Now()))
	if err := a.Write(func(w *bufio.Writer) error { return render.Overview(w, overview, o) }); err != nil {
		return err
	}
	return a.Completeness(c)
}
