package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/render"
)

func overviewCommand(a *app) *cobra.Command {
	var output string
	var nodes *nodeFlags
	cmd := &cobra.Command{
		Use: "overview", Short: "Show the cluster at a glance", GroupID: groupInspect,
		Example: `  kitescope overview --from etcd://10.0.0.5:2379
  kitescope overview --from today.kite -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return overview(cmd.Context(), a, nodes, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", documentFormats)
	nodes = addNodeFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("output", fixed("text", "json", "yaml"))
	return cmd
}

func overview(ctx context.Context, a *app, nodes *nodeFlags, output string) error {
	o, err := a.documentOptions(output)
	if err != nil {
		return err
	}
	c, err := a.loadLive(ctx, nodes, meta.Want{Parts: view.OverviewNeeds})
	if err != nil {
		return err
	}
	overview := view.NewOverview(view.NewEnv(c, a.now()))
	if err := a.write(func(w *bufio.Writer) error { return render.Overview(w, overview, o) }); err != nil {
		return err
	}
	return a.completeness(c)
}
