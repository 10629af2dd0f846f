package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/enginecmd"
	"kitescope/cmd/kitescope/pgocmd"
)

// IDs of the command groups in the help that only this package uses.
const (
	groupInspect = "inspect"
	groupFiles   = "files"
)

// program is the application with its command tree.
type program struct {
	*cli.App
	tree *cli.Tree
}

func newProgram(s *cli.Streams) *program {
	if s.ErrTTY && s.Transient == nil {
		s.Transient = &cli.Transient{W: s.Err}
	}
	a := &cli.App{Streams: s, Demo: new(cli.LazyDemo)}
	return &program{App: a, tree: newTree(a)}
}

// run executes one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	p.tree.Prepare(args)
	p.tree.Root.SetArgs(args)
	err := p.tree.Root.ExecuteContext(ctx)
	p.Demo.Close()
	if ended := p.EndDebug(); err == nil {
		err = ended
	}
	code := cli.ExitCode(ctx, err)
	if err != nil {
		cli.PrintError(ctx, p.Streams, err)
	}
	return code
}

func newTree(a *cli.App) *cli.Tree {
	tree := cli.NewTree(a, rootCommand(a))
	tree.Root.SetHelpCommand(helpCommand(tree))
	tree.Root.AddCommand(manCommand(tree))
	tree.Root.AddCommand(helpTopics(a, tree)...)
	tree.Add(commands())
	return tree
}

func rootCommand(a *cli.App) *cobra.Command {
	var nodes *cli.NodeFlags
	root := &cobra.Command{
		Use:   "kitescope",
		Short: "Find out what is wrong in a Milvus cluster, live or from a file",
		Long: `kitescope shows what is in a Milvus cluster (2.1 to 3.0), live or from a file, and
what is wrong with it. It only reads. To try it: kitescope demo`,
		Args:              cobra.ArbitraryArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.Begin(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(cmd, args[0])
			}
			if !a.InTTY || !a.OutTTY {
				return cli.Usage(errors.New("no command, and no terminal for the UI"), "see: kitescope help")
			}
			if err := a.CanDrawUI(noUIHint); err != nil {
				return err
			}
			if !a.NamesCluster() {
				if err := chooseCluster(cmd.Context(), a); err != nil {
					return err
				}
			}
			return runUI(cmd.Context(), a, cli.UIFlags{Nodes: nodes})
		},
	}
	version := versionFacts()
	root.Version = version["version"] // gives the flag --version
	root.SetVersionTemplate(versionLine(version))
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(cli.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	a.AddGlobalFlags(root)
	a.AddHelp(root)
	nodes = cli.AddNodeFlags(root, true)
	a.AddAt(root)
	root.InitDefaultVersionFlag()
	root.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // listed by "ui --help"
	root.AddGroup(groups()...)
	return root
}

// commands returns the top-level commands, except help, man and the help topics.
func commands() []cli.Entry { //nolint:funlen // a table
	return slices.Concat([]cli.Entry{
		{
			Name: "ui", Short: "Open the terminal UI (the default without a command)", Group: groupInspect,
			Build: uiCommand,
		},
		{
			Name: "get", Short: "List objects: collections, segments, channels, nodes, ...", Group: groupInspect,
			Build: getCommand,
		},
		{
			Name: "describe", Short: "Show one object in full, with related objects", Group: groupInspect,
			Build: describeCommand,
		},
		{
			Name: "tree", Short: "Show a collection as a tree: partition, vchannel, segment, index",
			Group: groupInspect, Build: treeCommand,
		},
		{Name: "overview", Short: "Show the cluster at a glance", Group: groupInspect, Build: overviewCommand},
		{
			Name: "demo", Short: "Open the UI on a captured real cluster; nothing to set up", Group: groupInspect,
			Build: demoCommand,
		},
		{
			Name: "impact", Short: "Show which kinds of requests fail, hang or are slow", Group: groupInspect,
			Build: impactCommand,
		},
		{
			Name: "latency", Short: "Show where the time of searches and writes goes, by phase", Group: groupInspect,
			Build: latencyCommand,
		},
		{
			Name: "why", Short: "Explain why searches and writes are slow, and what would help", Group: groupInspect,
			Build: whyCommand,
		},
		{
			Name: "metrics", Short: "Show the processes' /metrics: values, rates, quantiles", Group: groupInspect,
			Build: metricsCommand,
		},
		{
			Name: "slow", Short: "List slow requests from proxies and access logs", Group: groupInspect,
			Build: slowCommand,
		},
		{
			Name: "balance", Short: "Show how evenly query nodes share the work, and how to balance it",
			Group: groupInspect, Build: balanceCommand,
		},
		{
			Name: "diagnose", Short: "Find what is wrong with a cluster, and what to do", Group: groupInspect,
			Build: diagnoseCommand,
		},
		{
			Name: "preflight", Short: "Check what an upgrade or rollback would break", Group: groupInspect,
			Build: preflightCommand,
		},
		{
			Name: "report", Short: "Write one page with the cause, the fix and the evidence, to mail",
			Group: groupInspect, Build: reportCommand,
		},
		{
			Name: "history", Short: "Show a cluster's history from the revisions etcd keeps", Group: groupInspect,
			Build: historyCommand,
		},
		{
			Name: "explain", Short: "Explain a check of diagnose: what it reads, what to do", Group: groupInspect,
			Build: explainCommand,
		},
		{
			Name: "decode", Short: "Read message ids and hybrid timestamps: msgid, ts", Group: groupInspect,
			Build: decodeCommand, Subcommands: decodeCommands(),
		},
		{
			Name: "profile", Short: "Profile CPU, memory and goroutines: pull, top, flame, diff, ...",
			Group: cli.GroupProfile, Build: profileCommand, Subcommands: profileCommands(),
		},
		{
			Name: "snapshot", Short: "Save a cluster's metadata in one file: save, info", Group: groupFiles,
			Build: snapshotCommand, Subcommands: snapshotCommands(),
		},
		{
			Name: "record", Short: "Record a live cluster into a folder: changes, answers, metrics", Group: groupFiles,
			Build: recordCommand,
		},
		{Name: "diff", Short: "Show what changed between two sources", Group: groupFiles, Build: diffCommand},
		{
			Name: "context", Short: "Manage named clusters: add, use, list, remove", Group: cli.GroupSetup,
			Build: contextCommand, Subcommands: contextCommands(),
		},
		{
			Name: "config", Short: "Find and check config.yaml, the file of preferences", Group: cli.GroupSetup,
			Build: configCommand, Subcommands: configCommands(),
		},
		{
			Name: "completion", Short: "Print a completion script for a shell", Group: cli.GroupSetup,
			Build: completionCommand,
		},
		{
			Name: "licenses", Short: "Print the licenses of all code in kitescope", Group: cli.GroupSetup,
			Build: licensesCommand,
		},
		{
			Name: "version", Short: "Print the version and how it was built", Group: cli.GroupSetup,
			Build: versionCommand,
		},
	}, pgocmd.Commands(func() pgocmd.Profiles { return new(profileInput) }), enginecmd.Commands())
}

// groups returns the groups of commands, in the order of the help.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupInspect, Title: "Inspect a cluster:"},
		{ID: cli.GroupProfile, Title: "Profile and benchmark programs:"},
		{ID: cli.GroupEngine, Title: "Vector indexes and replay:"},
		{ID: groupFiles, Title: "Save and compare:"},
		{ID: cli.GroupSetup, Title: "Set up:"},
	}
}
