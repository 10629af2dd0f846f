package enginecmd

import (
	"bufio"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/render"
	"kitescope/render/replays"
)

func replayInfo(a *cli.App) *cobra.Command {
	var in replayInput
	var report cli.ReportFlags
	cmd := &cobra.Command{
		Use: "info COLLECTION",
		Long: `Show what a replay of a collection would use: which node searches which segments, their state, index
and files; the nodes' cores; and what had to be assumed.`,
		Example: `  kitescope replay info docs --from etcd://10.0.0.5:2379
  kitescope replay info docs --from cluster.kite -o json`,
		Args: oneCollection("kitescope replay info docs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, o, err := report.Parse(a, cmd)
			if err != nil {
				return err
			}
			c, l, err := in.readLayout(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if err := a.Write(func(w *bufio.Writer) error { return replays.WriteLayout(w, l, format, o) }); err != nil {
				return err
			}
			return a.Completeness(c)
		},
	}
	in.register(a, cmd)
	cli.RemoveFlags(cmd, "storage", "load-threads", "memory-limit", "replica")
	report.Register(cmd, render.ReportFormats(), 20, "maximum number of segments, 0 for all")
	report.List(cmd, replays.LayoutSchema, "state=growing", "-rows,segment_id", "segment_id,rows; +insert_logs")
	return cmd
}
