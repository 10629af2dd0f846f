package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"kitescope/inspect/source"
)

func (a *app) demoCommand() *cobra.Command {
	var serve bool
	var f uiFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Open the UI on a captured real cluster; nothing needed", GroupID: groupInspect,
		Long: `Start an etcd of its own on loopback with a captured Milvus 2.3.5 cluster in it
(four query nodes, one of them underloaded), and a small server in the place of each
of its processes that answers as it did, and open the UI on them: exactly as on a
real cluster. The clock stands at the moment of the capture. Everything is
temporary and is removed at the end.`,
		Example: `  kitescope demo
  kitescope demo --serve      only serve, until interrupted`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if serve {
				return a.serveDemo(cmd.Context())
			}
			if !a.outTTY {
				return &usageError{errors.New("the UI needs a terminal on standard output"), "to serve only: kitescope demo --serve"}
			}
			return a.showDemo(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "serve the cluster without opening the UI, until interrupted")
	f.register(cmd)
	a.addNodeFlags(cmd, true)
	return cmd
}

func (a *app) serveDemo(ctx context.Context) error {
	demo, err := newDemoEtcd(ctx)
	if err != nil {
		return err
	}
	defer demo.stop()
	if err := demo.start(ctx); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.out, demo.from()); err != nil {
		return err
	}
	a.warn("serving a captured Milvus 2.3.5 cluster until interrupted; read it from a second terminal:")
	a.warn("%s", demo.secondTerminal())
	a.warn("%s", demo.profileTerminal())
	select {
	case <-ctx.Done():
		return nil
	case err := <-demo.etcd.Err():
		return fmt.Errorf("serve the demo: %w", err)
	}
}

// secondTerminal is a command line that reads the demo.
func (d *demoEtcd) secondTerminal() string {
	return programName() + " diagnose --from " + d.from() + " --now " + d.taken().UTC().Format(time.RFC3339)
}

// profileTerminal is a command line that takes the profiles of the demo. Its proxy does not tell where
// its HTTP server is, as those of 2.3 do not.
func (d *demoEtcd) profileTerminal() string {
	text := programName() + " profile pull --from " + d.from() + " --seconds 2"
	if port := d.proxyPort(); port != "" {
		text += " --metrics-port " + port
	}
	return text
}

// showDemo opens the UI at once and starts the etcd behind it.
func (a *app) showDemo(ctx context.Context, f uiFlags) error {
	demo, err := newDemoEtcd(ctx)
	if err != nil {
		return err
	}
	defer demo.stop()
	if err := demo.settle(ctx); err != nil {
		return err
	}
	a.tell("read the demo from a second terminal: %s", demo.secondTerminal())
	c := connection{contextSpec: contextSpec{From: demo.from()}}
	side := *a
	side.streams = &streams{}
	*side.streams = *a.streams
	side.now = clockAt(demo.taken())
	side.flags.now = demo.taken().UTC().Format(time.RFC3339) // for commands that are copied
	feed := &sourceFeed{interval: f.interval}
	done, err := side.feedRuntime(c, feed)
	if err != nil {
		return err
	}
	defer done()
	feed.open = func(ctx context.Context) (source.Source, error) {
		if demo.etcd == nil {
			if err := demo.start(ctx); err != nil {
				return nil, err
			}
		}
		return source.Open(ctx, c.From, side.sourceOptions(ctx, c, ""))
	}
	profiles := side.newProfileFeed(c, "")
	defer profiles.close()
	return side.showUI(ctx, f, c, feed, profiles)
}
