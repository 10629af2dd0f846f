package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups of commands in the help.
const (
	groupInspect = "inspect"
	groupEngine  = "engine"
	groupFiles   = "files"
	groupSetup   = "setup"
)

// program is kitescope with its commands. They are made once a process: that is a good part of what a short command takes.
type program struct {
	*app
	root *cobra.Command
}

func newProgram(s *streams) *program {
	if s.errTTY && s.transient == nil {
		s.transient = &transient{w: s.err}
	}
	a := &app{streams: s, demo: new(lazyDemo)}
	return &program{app: a, root: rootCommand(a)}
}

// run executes one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	s := p.streams // the command may take others
	p.root.SetArgs(args)
	err := p.root.ExecuteContext(ctx)
	p.demo.close()
	if stopped := p.own.stop(); err == nil {
		err = stopped
	}
	code := exitCode(ctx, err)
	if err != nil {
		tellError(ctx, s, err)
	}
	return code
}

func rootCommand(a *app) *cobra.Command {
	var nodes *nodeFlags
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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.begin() },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			if !a.inTTY || !a.outTTY {
				return &usageError{errors.New("no command, and no terminal to open the UI on"), "see: kitescope help"}
			}
			return runUI(cmd.Context(), a, uiFlags{nodes: nodes})
		},
	}
	root.Version = versionText() // gives the flag --version
	root.SetVersionTemplate(versionLine())
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err, "see: " + cmd.CommandPath() + " --help"}
	})
	root.CompletionOptions.DisableDefaultCmd = true
	a.addGlobalFlags(root)
	nodes = addNodeFlags(root, true)
	root.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // "ui" lists them
	root.AddGroup(groups()...)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		uiCommand(a), getCommand(a), describeCommand(a), treeCommand(a), overviewCommand(a), demoCommand(a),
		balanceCommand(a), diagnoseCommand(a), explainCommand(a),
		profileCommand(a), pgoCommand(a), compareCommand(a), engineCommand(a), replayCommand(a),
		snapshotCommand(a), diffCommand(a),
		contextCommand(a), completionCommand(a), manCommand(a), versionCommand(a),
	)
	root.AddCommand(helpTopics()...)
	usageOnly(root)
	return root
}

// begin settles what all commands have in common, once their flags are read.
func (a *app) begin() error {
	if err := a.setClock(); err != nil {
		return err
	}
	if a.flags.quiet {
		a.transient = nil
	}
	if a.flags.from != "" && a.flags.context != "" {
		return &usageError{errors.New("--from and --context name two clusters"), "leave one of them out"}
	}
	return a.own.start(a.flags.cpuProfile)
}

// groups are those of the commands, in the order of the help.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupInspect, Title: "Look at a cluster:"},
		{ID: groupProfile, Title: "Look at programs:"},
		{ID: groupEngine, Title: "Look at vector indexes:"},
		{ID: groupFiles, Title: "Keep and compare:"},
		{ID: groupSetup, Title: "Set up:"},
	}
}

// addGlobalFlags adds the flags of every command.
func (a *app) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	g := &a.flags
	f.StringVar(&g.from, "from", "", "what to read: etcd://host:port[,host:port]/root, etcds://..., a file, or - for standard input")
	f.StringVar(&g.context, "context", "", "a named cluster of the configuration file instead of --from")
	f.StringVar(&g.root, "root", "", "Milvus root path in etcd, where there are several")
	f.StringVar(&g.user, "user", "", "etcd user; the password comes from KITESCOPE_ETCD_PASSWORD, --password-file or a prompt")
	f.StringVar(&g.passwordFile, "password-file", "", "file that holds the etcd password")
	f.StringVar(&g.ca, "ca", "", "certificate authority of an etcds:// server (PEM)")
	f.StringVar(&g.cert, "cert", "", "client certificate for mTLS (PEM)")
	f.StringVar(&g.key, "key", "", "key of the client certificate (PEM)")
	f.StringVar(&g.serverName, "server-name", "", "name to expect in the server's certificate")
	f.BoolVar(&g.insecure, "insecure", false, "do not verify the server's certificate")
	f.DurationVar(&g.timeout, "timeout", 30*time.Second, "deadline of each request")
	f.StringVar(&g.now, "now", "", "take this for the time now (RFC 3339): ages in a live source count to it")
	f.BoolVar(&g.salvage, "salvage", false, "read what is left of a damaged file; the rest is listed as missing")
	f.BoolVar(&g.staleRead, "stale-read", false, "read what one etcd member has, without asking the others: when etcd has lost its leader")
	f.BoolVar(&g.strict, "strict", false, "exit 4 when something could not be read or decoded")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no messages on stderr but errors")
	f.StringVar(&g.color, "color", "auto", "auto, always or never; NO_COLOR is honoured")
	f.StringVar(&g.cpuProfile, "cpuprofile", "", "write a CPU profile of kitescope itself to this file")
	_ = f.MarkHidden("cpuprofile") // for who builds kitescope
	_ = root.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		path, err := configPath(a.getenv)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		config, err := readConfig(path)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return config.names(), cobra.ShellCompDirectiveNoFileComp
	})
	_ = root.RegisterFlagCompletionFunc("color", fixed("auto", "always", "never"))
}

// setClock stops the clock at what --now says.
func (a *app) setClock() error {
	if a.flags.now == "" {
		return nil
	}
	start, err := time.Parse(time.RFC3339, a.flags.now)
	if err != nil {
		return &usageError{fmt.Errorf("--now %q is no time", a.flags.now), "for example: --now 2026-11-20T09:06:11Z"}
	}
	a.stopClock(start)
	return nil
}

func (a *app) stopClock(at time.Time) {
	side := *a.streams
	side.now = clockAt(at)
	a.streams, a.stopped = &side, true
}

// clockAt is a clock that stands still.
func clockAt(at time.Time) func() time.Time { return func() time.Time { return at } }

// runClock lets a clock that was stopped run on from there: what is measured takes time.
func (a *app) runClock() {
	if !a.stopped {
		return
	}
	base, start := a.now(), time.Now()
	side := *a.streams
	side.now = func() time.Time { return base.Add(time.Since(start)) }
	a.streams = &side
}

// fixed completes a flag that has one of a few words.
func fixed(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// wantArgs checks how many arguments a command was given; what they are is a noun with its article.
func wantArgs(cmd *cobra.Command, args []string, from, to int, what, hint string) error {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	switch {
	case len(args) < from:
		return &usageError{fmt.Errorf("%s needs %s", name, what), hint}
	case len(args) > to:
		return &usageError{fmt.Errorf("%s takes %s, not %d arguments", name, what, len(args)), hint}
	}
	return nil
}

// usageOnly makes wrong argument counts usage errors (exit 2), with the command named.
func usageOnly(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var usage *usageError
			if err != nil && !errors.As(err, &usage) {
				return &usageError{err, "see: " + cmd.CommandPath() + " --help"}
			}
			return err
		}
	}
	for _, child := range cmd.Commands() {
		usageOnly(child)
	}
}

// unknownCommand is the error of a word that is no command, with those that are spelled alike.
func unknownCommand(cmd *cobra.Command, word string) error {
	err := fmt.Errorf("unknown command %q", word)
	hint := "see: " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = max(cmd.SuggestionsMinimumDistance, 2) // cobra's own, which it sets for the root alone
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean: " + strings.Join(near, ", ")
	}
	return &usageError{err, hint}
}

// plainTerminal reports whether the terminal is one of those whose fonts lack most signs: the Linux
// console, and what speaks as the VT terminals did.
func (a *app) plainTerminal() bool {
	term := a.getenv("TERM")
	return term == "dumb" || term == "linux" || term == "ansi" || strings.HasPrefix(term, "vt")
}

// useColor settles --color, NO_COLOR and whether out is a terminal.
func (a *app) useColor() (bool, error) {
	switch a.flags.color {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return a.outTTY && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb", nil
	}
	return false, usagef("--color is auto, always or never, not %q", a.flags.color)
}
