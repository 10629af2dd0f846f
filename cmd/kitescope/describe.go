package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
)

// describeFlags holds the flags of the describe command.
type describeFlags struct {
	cli.DocumentFlags
	nodes             *cli.NodeFlags
	records, findings bool
	// unknown shows the values of settings that are not known Milvus settings.
	unknown bool
}

func describeCommand(a *cli.App) *cobra.Command {
	var f describeFlags
	cmd := &cobra.Command{
		Use: "describe RESOURCE NAME|ID, or RESOURCE/NAME",
		Long: `Show one object in full: what is wrong with it and the fix, every column, related objects and,
with --records, the decoded metadata records it was read from.

Findings need all of the metadata. --findings=false skips them: then only what belongs to a
collection is read.`,
		Example: `  kitescope describe collection docs --from etcd://10.0.0.5:2379
  kitescope describe segment 470590760626297685 --records
  kitescope get nodes -o name | xargs -n1 kitescope describe
  kitescope describe node querynode-4 -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if _, _, ok := view.ParseNames(args); ok && len(args) == 1 {
				return nil
			}
			return cli.Args(2, 2, "a resource and a name or id", "kitescope describe collection docs")(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteGet(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if r, names, ok := view.ParseNames(args); ok && len(args) == 1 {
				args = []string{r.Name, names[0]}
			}
			return f.run(cmd.Context(), a, args[0], args[1])
		},
	}
	f.Register(cmd)
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	cmd.Flags().BoolVar(&f.findings, "findings", true, "include findings and their fixes")
	cmd.Flags().BoolVar(&f.records, "records", false, "add the decoded metadata records")
	cli.AddUnknownSettings(cmd, &f.unknown)
	return cmd
}

func (f *describeFlags) run(ctx context.Context, a *cli.App, resource, word string) error {
	r, err := view.Find(resource)
	if err != nil {
		return cli.Usage(err, "see: kitescope get --help")
	}
	options, err := f.Options(a)
	if err != nil {
		return err
	}
	c, err := f.load(ctx, a, r, word)
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	table := r.Table(env)
	row, err := view.Lookup(table, word)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return err
	}
	d := table.Describe(row)
	var found *clusters.Found
	if f.findings {
		report := check.Run(c, env.Now, rules.All())
		found = &clusters.Found{Report: report, List: report.About(d.Ref.Resource, d.Ref.ID)}
	}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Description(w, d, env, found, options) }); err !=
		nil {
		return err
	}
	return a.Completeness(c)
}

// load reads the metadata needed to describe an object. For a collection it reads only the records of that
// collection, because other collections may have a million segments.
func (f *describeFlags) load(ctx context.Context, a *cli.App, r *view.Resource, word string) (*model.Cluster, error) {
	if r.Describes == 0 || f.findings {
		return a.LoadLive(ctx, f.nodes, meta.Want{
			Parts: model.PartAll, Records: f.records || r.Keyspace, UnknownSettings: f.unknown,
		})
	}
	want := meta.Want{Parts: r.Describes, Collection: word, Records: f.records, UnknownSettings: f.unknown}
	c, err := a.LoadLive(ctx, f.nodes, want)
	if _, unknown := errors.AsType[*meta.UnknownCollectionError](err); !unknown {
		return c, err
	}
	// The word may be another kind of selector, e.g. "name=do*". If not, Lookup returns the error from all collections.
	c, err = a.Load(ctx, a.Flags.From, meta.Want{Parts: r.Needs, UnknownSettings: f.unknown})
	if err != nil {
		return nil, err
	}
	table := r.Table(view.NewEnv(c, a.Now()))
	row, err := view.Lookup(table, word)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return nil, err
	}
	want.Collection = table.Ref(row).ID
	return a.LoadLive(ctx, f.nodes, want)
}
