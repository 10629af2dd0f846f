package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render"
)

func describeCommand(a *cli.App) *cobra.Command {
	var output string
	var nodes *cli.NodeFlags
	var records bool
	cmd := &cobra.Command{
		Use: "describe RESOURCE NAME|ID",
		Long: `Show one thing in full: every column, what hangs on it, and with --records the
decoded metadata records that it was read from.`,
		Example: `  kitescope describe collection docs --from etcd://10.0.0.5:2379
  kitescope describe segment 470590760626297685 --records
  kitescope describe vchannel by-dev-rootcoord-dml_0_470590760625897534v0 -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.WantArgs(cmd, args, 2, 2, "a resource and a name or id", "kitescope describe collection docs")
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteGet(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return describe(cmd.Context(), a, nodes, output, records, args[0], args[1])
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", cli.DocumentFormats)
	nodes = cli.AddNodeFlags(cmd, false)
	cmd.Flags().BoolVar(&records, "records", false, "add the decoded metadata records")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.Fixed("text", "json", "yaml"))
	return cmd
}

func describe(ctx context.Context, a *cli.App, nodes *cli.NodeFlags, output string, records bool, resource, word string) error {
	r, err := view.Find(resource)
	if err != nil {
		return cli.Usage(err, "see: kitescope get --help")
	}
	options, err := a.DocumentOptions(output)
	if err != nil {
		return err
	}
	c, err := loadToDescribe(ctx, a, nodes, r, word, records)
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	table := r.Table(env)
	row, err := view.Lookup(table, word)
	if err != nil {
		_ = a.Completeness(c) // what could not be read may be what was asked for
		return err
	}
	d := table.Describe(row)
	if err := a.Write(func(w *bufio.Writer) error { return render.Description(w, d, env, options) }); err != nil {
		return err
	}
	return a.Completeness(c)
}

// loadToDescribe reads what a description of a word is made of: of a collection only what is its own, as there may be a million
// segments of others.
func loadToDescribe(ctx context.Context, a *cli.App, nodes *cli.NodeFlags, r *view.Resource, word string, records bool) (*model.Cluster, error) {
	if r.Describes == 0 {
		return a.LoadLive(ctx, nodes, meta.Want{Parts: model.PartAll, Records: records || r.Keyspace})
	}
	want := meta.Want{Parts: r.Describes, Collection: word, Records: records}
	c, err := a.LoadLive(ctx, nodes, want)
	if _, unknown := errors.AsType[*meta.UnknownCollectionError](err); !unknown {
		return c, err
	}
	// The word may select one in another way, "name=do*"; else what is said of it is what Lookup says of all collections.
	c, err = a.Load(ctx, a.Flags.From, meta.Want{Parts: r.Needs})
	if err != nil {
		return nil, err
	}
	table := r.Table(view.NewEnv(c, a.Now()))
	row, err := view.Lookup(table, word)
	if err != nil {
		_ = a.Completeness(c) // what could not be read may be what was asked for
		return nil, err
	}
	want.Collection = table.Ref(row).ID
	return a.LoadLive(ctx, nodes, want)
}
