package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/vectors"
)

// Groups of commands in the help.
const (
	groupInspect = "inspect"
	groupFiles   = "files"
	groupSetup   = "setup"
)

// program is kitescope with its commands. They are made once a process: that is a good part of what a short command takes.
type program struct {
	*cli.App
	root *cobra.Command
}

func newProgram(s *cli.Streams) *program {
	if s.ErrTTY && s.Transient == nil {
		s.Transient = &cli.Transient{W: s.Err}
	}
	a := &cli.App{Streams: s, Demo: new(cli.LazyDemo)}
	return &program{App: a, root: rootCommand(a)}
}

// run executes one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	s := p.Streams // the command may take others
	p.root.SetArgs(args)
	err := p.root.ExecuteContext(ctx)
	p.Demo.Close()
	if stopped := p.Own.Stop(); err == nil {
		err = stopped
	}
	code := cli.ExitCode(ctx, err)
	if err != nil {
		cli.TellError(ctx, s, err)
	}
	return code
}

func rootCommand(a *cli.App) *cobra.Command {
	var nodes *cli.NodeFlags
	root := &cobra.Command{
		Use:   "kitescope",
		Short: "See what is in a Milvus cluster, live or from a file",
		Long: `kitescope shows what is in a Milvus cluster (2.1 to 2.6): collections, channels,
segments, indexes, replicas, sessions, from a live etcd or from a file that
someone mailed you. Without a command it opens the terminal UI.

It only reads. It never writes to a cluster.`,
		Example: `  kitescope demo                                          a captured cluster, nothing needed
  kitescope --from etcd://10.0.0.5:2379                   the terminal UI on a live cluster
  kitescope get segments coll=docs state=growing --from etcd_snapshot.db
  kitescope snapshot save today.kite --from etcd://10.0.0.5:2379/by-dev
  kitescope diff yesterday.kite today.kite`,
		Args:              cobra.ArbitraryArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.Begin() },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(cmd, args[0])
			}
			if !a.InTTY || !a.OutTTY {
				return cli.Usage(errors.New("no command, and no terminal to open the UI on"), "see: kitescope help")
			}
			return runUI(cmd.Context(), a, cli.UIFlags{Nodes: nodes})
		},
	}
	root.Version = cli.VersionText() // gives the flag --version
	root.SetVersionTemplate(versionLine())
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(err, "see: "+cmd.CommandPath()+" --help")
	})
	root.CompletionOptions.DisableDefaultCmd = true
	a.AddGlobalFlags(root)
	nodes = cli.AddNodeFlags(root, true)
	root.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // "ui" lists them
	root.AddGroup(groups()...)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		uiCommand(a), getCommand(a), describeCommand(a), treeCommand(a), overviewCommand(a), demoCommand(a),
		balanceCommand(a), diagnoseCommand(a), explainCommand(a),
		profileCommand(a), pgoCommand(a), compareCommand(a), vectors.EngineCommand(a), vectors.ReplayCommand(a),
		snapshotCommand(a), diffCommand(a),
		contextCommand(a), completionCommand(a), manCommand(a), versionCommand(a),
	)
	root.AddCommand(helpTopics()...)
	usageOnly(root)
	return root
}

// groups are those of the commands, in the order of the help.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupInspect, Title: "Look at a cluster:"},
		{ID: groupProfile, Title: "Look at programs:"},
		{ID: cli.GroupEngine, Title: "Look at vector indexes:"},
		{ID: groupFiles, Title: "Keep and compare:"},
		{ID: groupSetup, Title: "Set up:"},
	}
}

// usageOnly makes wrong argument counts usage errors (exit 2), with the command named.
func usageOnly(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var usage *cli.UsageError
			if err != nil && !errors.As(err, &usage) {
				return cli.Usage(err, "see: "+cmd.CommandPath()+" --help")
			}
			return err
		}
	}
	for _, child := range cmd.Commands() {
		usageOnly(child)
	}
}
