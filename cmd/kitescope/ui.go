package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/tui"
	"kitescope/tui/cluster"
	"kitescope/tui/profiles"
	"kitescope/tui/replays"
	"kitescope/tui/timeline"
)

func uiCommand(a *cli.App) *cobra.Command {
	var f cli.UIFlags
	cmd := &cobra.Command{
		Use: "ui [PAGE [selector...]]",
		Long: `Open the terminal UI on a live cluster or a file. Press ? for its keys. PAGE is
what you would type after ":" in it, such as "segments coll=docs".

History comes from etcd or its files: , and . step back and forward by event, @
goes to a moment, 0 to the timeline. With --at it opens at a moment.`,
		Example: `  kitescope ui --from etcd://10.0.0.5:2379
  kitescope ui segments coll=docs --from etcd_snapshot.db
  kitescope ui timeline --from etcd_snapshot.db --at 09:14`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.CompleteGet,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.OutTTY {
				return cli.Usage(errors.New("the UI needs a terminal on stdout"), "for scripts: kitescope get --help")
			}
			f.Page = strings.Join(args, " ")
			return runUI(cmd.Context(), a, f)
		},
	}
	f.Register(cmd)
	a.AddAt(cmd)
	f.Nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "prometheus") // Prometheus is read only once, but the UI refreshes
	return cmd
}

// runUI opens the UI on the cluster that the flags, the environment or the context name.
func runUI(ctx context.Context, a *cli.App, f cli.UIFlags) error {
	c, err := a.Connection()
	if err != nil {
		return err
	}
	// Report a missing source now, before the UI takes over the screen and before a password prompt.
	if c.From != demo.From {
		if err := source.Find(c.From); err != nil {
			return err
		}
	}
	return openUI(ctx, a, f, c)
}

// openUI opens the UI on a cluster. The caller has checked that the source exists, as far as possible without
// opening it.
func openUI(ctx context.Context, a *cli.App, f cli.UIFlags, c cli.Connection) error {
	if err := a.CanDrawUI(noUIHint); err != nil {
		return err
	}
	if err := a.Flags.DebugNeedsFile(); err != nil {
		return err
	}
	next, page, err := showUI(ctx, a, f, c)
	if err != nil || next == "" {
		return err
	}
	a.UseContext(next)
	nodes := cli.AddNodeFlags(&cobra.Command{}, true) // addresses and credentials belong to one cluster
	nodes.Live = f.Nodes.Live
	f.Nodes, f.Page = nodes, page
	return runUI(ctx, a, f)
}

// noUIHint is the hint on commands that show similar data without the UI.
const noUIHint = "use kitescope overview, or kitescope diagnose"

// uiCluster is a cluster opened for the UI.
type uiCluster struct {
	feed        *session.Feed
	profileFeed *profileFeed
	close       func()
}

// openFeed opens a cluster for the UI. It prompts for passwords now, because the UI owns the terminal afterwards.
func openFeed(ctx context.Context, a *cli.App, f cli.UIFlags, c cli.Connection) (*uiCluster, error) {
	password, err := a.Password(ctx, c)
	if err != nil {
		return nil, err
	}
	spec, err := a.FeedSpec(c.Newest(), f.Nodes) // the UI itself moves to --at
	if err != nil {
		return nil, err
	}
	spec.Password = func(context.Context) (string, error) { return password, nil }
	spec.Want = meta.Want{Parts: model.PartAll | model.PartReported}
	loader := a.Loader()
	loader.OnRead = nil // the UI shows the progress
	feed, done, err := loader.Feed(spec)
	if err != nil {
		return nil, err
	}
	feed.Interval, feed.WithHistory = f.Interval, true
	pulled := newProfileFeed(a, loader, spec, f.Nodes)
	return &uiCluster{feed, pulled, func() { pulled.close(); done() }}, nil
}

// pages returns the pages of the cluster in addition to the built-in pages of the UI.
func (o *uiCluster) pages() []tui.PageKind {
	return slices.Concat(profiles.Pages(o.profileFeed), replays.Pages(nil), cluster.Pages(), timeline.Pages())
}

// showUI runs the UI on a cluster. It returns the context selected with ":ctx" and the page to open on it. If
// nothing could be read from the source, showUI returns the source's error after the terminal is restored.
func showUI(ctx context.Context, a *cli.App, f cli.UIFlags, c cli.Connection) (next, page string, err error) {
	o, err := openFeed(ctx, a, f, c)
	if err != nil {
		return "", "", err
	}
	defer o.close()
	o.feed.At = a.Flags.At
	color, err := a.UseColor()
	if err != nil {
		return "", "", err
	}
	input := a.In
	if c.From == "-" {
		input = nil // standard input is the source, so read keys from the terminal
	}
	cfg := tui.Config{
		Input: input, Output: a.Out, Feed: o.feed, Resources: view.Resources,
		Title: c.From, Version: cli.Version, Command: a.CommandFor(c), NodeFlags: f.Nodes.CommandFor(c),
		NoColor:   !color,
		StartPage: f.Page, Now: a.Now, SaveFile: cli.SaveFile, Pages: o.pages(),
		Contexts: a.ContextNames(), Switch: func(name, on string) { next, page = name, on },
	}
	if err := a.ApplyPreferences(&cfg, &f); err != nil {
		return "", "", err
	}
	if err := tui.Run(ctx, cfg); err != nil || next != "" {
		return next, page, err
	}
	return "", "", o.feed.Err()
}
