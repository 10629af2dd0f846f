package main

import (
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session/demo"
)

func demoCommand(a *cli.App) *cobra.Command {
	var serve bool
	var f cli.UIFlags
	cmd := &cobra.Command{
		Use: "demo",
		Long: `Open the UI on a captured Milvus 2.3.5 cluster (four query nodes, one of them
underloaded): exactly as on a real one. Its metadata is in memory, and a small
server on loopback replaces each of its processes and answers as it did. The clock
is fixed at the moment of the capture, but counters keep running at the rates they
had, so kitescope latency and why work. The history is there too: the key "," goes
back in time, 0 shows the timeline.

Every command reads it with --from demo://.`,
		Example: `  kitescope demo
  kitescope diagnose --from demo://`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if serve {
				return cli.Usage(
					errors.New("kitescope no longer includes an etcd server to serve the demo"),
					"any command reads it with --from demo://; to serve it from a real etcd: "+
						"go run -C tools/bench ./demo (in a checkout of kitescope)",
				)
			}
			if !a.OutTTY {
				return cli.Usage(errors.New("the UI needs a terminal on stdout"),
					"for scripts: kitescope diagnose --from demo://")
			}
			a.Notef("read the demo from a second terminal: %s diagnose --from demo://", cli.ProgramName())
			a.SetDemoClock()
			return openUI(cmd.Context(), a, f, cli.Connection{ContextSpec: cli.ContextSpec{From: demo.From}})
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "")
	_ = cmd.Flags().MarkHidden("serve") // the flag only prints the replacement command
	f.Register(cmd)
	a.AddAt(cmd)
	f.Nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "prometheus")
	return cmd
}
