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

func treeCommand(a *cli.App) *cobra.Command {
	var output string
	var nodes *cli.NodeFlags
	var ascii bool
	var options view.TreeOptions
	cmd := &cobra.Command{
		Use: "tree COLLECTION",
		Example: `  kitescope tree docs --from etcd://10.0.0.5:2379
  kitescope tree tenant_a.orders --dropped -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.WantArgs(cmd, args, 1, 1, "one collection", "kitescope tree docs")
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteGet(cmd, []string{"collections"}, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return tree(cmd.Context(), a, nodes, output, ascii, options, args[0])
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", cli.DocumentFormats)
	nodes = cli.AddNodeFlags(cmd, false)
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw the branches with ASCII characters")
	cmd.Flags().BoolVar(&options.Dropped, "dropped", false, "show dropped segments too")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.Fixed("text", "json", "yaml"))
	return cmd
}

func tree(ctx context.Context, a *cli.App, nodes *cli.NodeFlags, output string, ascii bool, options view.TreeOptions, collection string) error {
	o, err := a.DocumentOptions(output)
	if err != nil {
		return err
	}
	o.ASCII = ascii
	c, err := a.LoadLive(ctx, nodes, meta.Want{Parts: view.TreeNeeds, Collection: collection})
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	root, err := view.NewTree(env, collection, options)
	if err != nil {
		_ = a.Completeness(c) // what could not be read may be what was asked for
		return err
	}
	if err := a.Write(func(w *bufio.Writer) error { return render.Tree(w, root, env, o) }); err != nil {
		return err
	}
	return a.Completeness(c)
}
