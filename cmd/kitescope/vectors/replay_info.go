package vectors

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/layout"
)

func replayInfo(a *cli.App) *cobra.Command {
	var in replayInput
	var report cli.ReportFlags
	cmd := &cobra.Command{
		Use: "info COLLECTION",
		Long: `Show what a replay of a collection would use: which node searches which segments, their state, index
and files; the nodes' cores; and what had to be assumed. With --storage it also checks that the files
exist.`,
		Example: `  kitescope replay info docs --from etcd://10.0.0.5:2379
  kitescope replay info docs --from cluster.kite --storage /backup/milvus -o json`,
		Args: oneCollection("kitescope replay info docs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, o, err := report.Settle(a, cmd)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			c, l, err := in.readLayout(ctx, a, args[0])
			if err != nil {
				return err
			}
			cover, err := in.lookForFiles(a, cmd, l)
			if err != nil {
				return err
			}
			if err := a.Write(func(w *bufio.Writer) error { return replays.WriteLayout(w, l, cover, format, o) }); err != nil {
				return err
			}
			return infoOutcome(a, c, cover)
		},
	}
	in.register(a, cmd)
	cli.LeaveOut(cmd, "load-threads", "memory-limit", "replica")
	report.Register(cmd, render.ReportFormats(), 20, "maximum number of segments, 0 for all")
	report.List(cmd, replays.LayoutSchema, "state=growing", "-rows,segment_id", "segment_id,rows; +insert_logs")
	return cmd
}

// lookForFiles holds a layout against storage, where a place is named; nil where none is.
func (in *replayInput) lookForFiles(a *cli.App, cmd *cobra.Command, l *replay.Layout) (*replay.Coverage, error) {
	if in.storage == "" {
		return nil, nil
	}
	ctx := cmd.Context()
	store, _, err := in.openStorage(ctx, a, l)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	located, _, err := layout.Locate(ctx, holds(store), l)
	if err != nil {
		return nil, err
	}
	return replay.Look(ctx, store, located)
}

func infoOutcome(a *cli.App, c *model.Cluster, cover *replay.Coverage) error {
	if cover != nil && len(cover.Missing) > 0 && a.Flags.Strict {
		return &cli.CodeError{Code: cli.ExitIncomplete, Err: errors.New("some segment files are missing")}
	}
	return a.Completeness(c)
}
