package enginecmd

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineInfo(a *cli.App) *cobra.Command {
	var f engineFlags
	cmd := &cobra.Command{
		Use: "info FILE",
		Long: `Show an index file: type, metric, dimension, rows, parameters, size by part. For a graph also degrees
by level, one-way links, and nodes no search can reach.

For an insert log, or the folder of one field's logs: rows, type, range and lengths, and their owner;
for a delta log: the deletes with keys and times.`,
		Example: `  kitescope engine info base.hnsw
  kitescope engine info index_files/443/1/100/200 -o json
  kitescope engine info insert_log/441/442/443/101
  kitescope engine info delta_log/441/442/443/450`,
		Args: cli.Args(1, 1, "one file", "kitescope engine info base.hnsw"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, ro, err := f.report.Parse(a, cmd)
			if err != nil {
				return err
			}
			if l, err := target.DescribeLog(cmd.Context(), args[0]); l != nil || err != nil {
				if err != nil {
					return err
				}
				if ro.HasQuery() {
					return noLevels(args[0])
				}
				return a.Write(func(w *bufio.Writer) error { return replays.WriteLog(w, l, format, ro) })
			}
			t, err := f.openTarget(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			d, err := target.Describe(cmd.Context(), t)
			if err != nil {
				return err
			}
			if ro.HasQuery() && len(d.Levels) == 0 {
				return noLevels(args[0])
			}
			return a.Write(func(w *bufio.Writer) error { return replays.WriteInfo(w, d, format, ro) })
		},
	}
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, replays.InfoSchema, "'level>0'", "-level", "level,nodes; + in front")
	f.registerMetric(cmd)
	return cmd
}

// noLevels returns the error for list flags if the file has no levels to list.
func noLevels(path string) error {
	return cli.Usage(fmt.Errorf("%s has no levels: only graphs have levels", path),
		"omit --where, --sort, --columns and -n: they select levels of an HNSW index")
}
