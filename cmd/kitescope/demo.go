package main

import (
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

func demoCommand(a *app) *cobra.Command {
	var serve bool
	var f uiFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Open the UI on a captured real cluster; nothing needed", GroupID: groupInspect,
		Long: `Open the UI on a captured Milvus 2.3.5 cluster (four query nodes, one of them
underloaded): exactly as on a real one. Its metadata is in memory, and a small
server on loopback stands in the place of each of its processes and answers as it
did. The clock stands at the moment of the capture.

Every command reads it with --from demo://.`,
		Example: `  kitescope demo
  kitescope diagnose --from demo://`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if serve {
				return &usageError{
					errors.New("kitescope has no etcd server in it any more, and so nothing to serve the demo with"),
					"any command reads it with --from demo://; a real etcd with it is served by: go run -C tools/bench ./demo (in a checkout of kitescope)",
				}
			}
			if !a.outTTY {
				return &usageError{errors.New("the UI needs a terminal on standard output"), "for scripts: kitescope diagnose --from demo://"}
			}
			a.tell("read the demo from a second terminal: %s diagnose --from demo://", programName())
			a.stopForDemo()
			return openUI(cmd.Context(), a, f, connection{contextSpec: contextSpec{From: demo.From}})
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "")
	_ = cmd.Flags().MarkHidden("serve") // it says what to do instead
	f.register(cmd)
	f.nodes = addNodeFlags(cmd, true)
	return cmd
}

// stopForDemo lets ages count to the time of the capture, if --now names no other.
func (a *app) stopForDemo() {
	if !a.stopped {
		a.stopClock(demo.Now())
	}
}

// lazyDemo is the demo once it is wanted: all sources of one run have the same servers.
type lazyDemo struct {
	once    sync.Once
	cluster *demo.Cluster
	err     error
}

func (d *lazyDemo) start(ctx context.Context) (*demo.Cluster, error) {
	d.once.Do(func() { d.cluster, d.err = demo.Start(ctx) })
	return d.cluster, d.err
}

func (d *lazyDemo) open(ctx context.Context, root string) (source.Source, error) {
	c, err := d.start(ctx)
	if err != nil {
		return nil, err
	}
	return c.Source(root)
}

// close ends its servers, if it was started.
func (d *lazyDemo) close() {
	if d.cluster != nil {
		d.cluster.Close()
	}
}
