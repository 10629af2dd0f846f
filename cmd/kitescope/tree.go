package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render/clusters"
)

// treeFlags holds the flags of the tree command.
type treeFlags struct {
	cli.DocumentFlags
	nodes   *cli.NodeFlags
	options view.TreeOptions
	// findings runs the checks and marks the objects that have findings.
	findings bool
}

func treeCommand(a *cli.App) *cobra.Command {
	var f treeFlags
	cmd := &cobra.Command{
		Use: "tree COLLECTION",
		Example: `  kitescope tree docs --from etcd://10.0.0.5:2379
  kitescope tree tenant_a.orders --all -o json`,
		Args: cli.Args(1, 1, "one collection", "kitescope tree docs"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteGet(cmd, []string{"collections"}, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), a, args[0])
		},
	}
	f.Register(cmd)
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, false)
	cmd.Flags().BoolVarP(&f.options.All, "all", "a", false, "show dropped segments too")
	cmd.Flags().BoolVar(&f.findings, "findings", false, "mark objects that have findings in diagnose; the worst first")
	return cmd
}

func (f *treeFlags) run(ctx context.Context, a *cli.App, collection string) error {
	o, err := f.Options(a)
	if err != nil {
		return err
	}
	defer a.Collector.LimitGrowth()() // a collection of 20,000 segments is in memory at once, and written line by line
	want := meta.Want{Parts: view.TreeNeeds, Collection: collection}
	if f.findings {
		want, f.options.Worst = meta.Want{Parts: model.PartAll}, true // checks on one collection read all metadata
	}
	c, err := a.LoadLive(ctx, f.nodes, want)
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	if f.findings {
		env = env.WithJudgement(clusters.JudgementOf(check.Run(c, env.Now, rules.All())))
	}
	root, err := view.NewTree(env, collection, f.options)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return err
	}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Tree(w, root, env, o) }); err != nil {
		return err
	}
	if root.Omitted > 0 && !o.Format.Structured() {
		a.Warn("%s hidden (--all shows them)", words.Plural(root.Omitted, "dropped segment"))
	}
	return a.Completeness(c)
}
