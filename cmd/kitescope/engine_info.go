package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"kitescope/engine/target"
	"kitescope/render"
)

func (a *app) engineInfo() *cobra.Command {
	var f engineFlags
	cmd := &cobra.Command{
		Use: "info FILE", Short: "What is in an index file",
		Long: `Say what an index file is: type, metric, dimension, rows, parameters, where its bytes go. Of a
graph also degrees by level, links that are not answered, and nodes that no search can reach.`,
		Example: `  kitescope engine info base.hnsw
  kitescope engine info index_files/443/1/100/200 -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return wantArgs(cmd, args, 1, 1, "one file", "kitescope engine info base.hnsw")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, ro, err := a.reportOutput(cmd, f.output, 0)
			if err != nil {
				return err
			}
			t, err := a.openTarget(cmd.Context(), &f, args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			d, err := target.Describe(cmd.Context(), t)
			if err != nil {
				return err
			}
			return a.write(func(w *bufio.Writer) error { return render.WriteEngineInfo(w, d, format, ro) })
		},
	}
	f.registerOutput(cmd)
	f.registerMetric(cmd)
	return cmd
}
