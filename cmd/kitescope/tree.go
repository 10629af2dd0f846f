package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/render"
)

func treeCommand(a *app) *cobra.Command {
	var output string
	var nodes *nodeFlags
	var ascii bool
	var options view.TreeOptions
	cmd := &cobra.Command{
		Use: "tree COLLECTION", Short: "Show a collection as a tree: partition, vchannel, segment, index", GroupID: groupInspect,
		Example: `  kitescope tree docs --from etcd://10.0.0.5:2379
  kitescope tree tenant_a.orders --dropped -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return wantArgs(cmd, args, 1, 1, "one collection", "kitescope tree docs")
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeGet(cmd, []string{"collections"}, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return tree(cmd.Context(), a, nodes, output, ascii, options, args[0])
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", documentFormats)
	nodes = addNodeFlags(cmd, false)
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw the branches with ASCII characters")
	cmd.Flags().BoolVar(&options.Dropped, "dropped", false, "show dropped segments too")
	_ = cmd.RegisterFlagCompletionFunc("output", fixed("text", "json", "yaml"))
	return cmd
}

func tree(ctx context.Context, a *app, nodes *nodeFlags, output string, ascii bool, options view.TreeOptions, collection string) error {
	o, err := a.documentOptions(output)
	if err != nil {
		return err
	}
	o.ASCII = ascii
	c, err := a.loadLive(ctx, nodes, meta.Want{Parts: view.TreeNeeds, Collection: collection})
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.now())
	root, err := view.NewTree(env, collection, options)
	if err != nil {
		_ = a.completeness(c) // what could not be read may be what was asked for
		return err
	}
	if err := a.write(func(w *bufio.Writer) error { return render.Tree(w, root, env, o) }); err != nil {
		return err
	}
	return a.completeness(c)
}
