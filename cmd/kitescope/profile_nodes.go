package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render/profiles"
)

func profileNodes(a *cli.App) *cobra.Command {
	var f profileTable
	cmd := &cobra.Command{
		Use: "nodes [DIR]",
		Long: `Print how many cores each process of a record kept busy and with what: Go code, GC, native
libraries, syscalls; which node of a role idles while others work; and where a node differs
significantly from the others of its role.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 -O now && kitescope profile nodes now
  kitescope profile nodes now -o json`,
		Args: cli.Args(0, 1, "one record", "kitescope profile nodes DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.settleTable(a, cmd)
			if err != nil {
				return err
			}
			list, err := f.input.series(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			nodes, err := report.NewNodes(list, report.NodesOptions{Options: s.options})
			if err != nil {
				return err
			}
			return a.Write(func(w *bufio.Writer) error { return profiles.WriteNodes(w, nodes, s.format, s.render) })
		},
	}
	f.register(cmd)
	f.report.List(cmd, profiles.NodesSchema, "load=idle", "-cores_busy,node", "node,cores_busy; +location")
	cli.LeaveOut(cmd, "by", "label", "cum", "mean")
	return cmd
}

func profileTrend(a *cli.App) *cobra.Command {
	var f profileTable
	cmd := &cobra.Command{
		Use: "trend DIR",
		Long: `Print how the share of each function moved over the rounds of a rolling record (profile pull
--every), with a line of the shares, and whether that is more than noise.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --every 10m --keep 50 -O record
  kitescope profile trend record --node querynode-3
  kitescope profile trend record --where verdict=more --sort -change_percent`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(errors.New("no record given: expected a folder from profile pull --every, or profiles in time order"), "kitescope profile trend record")
			}
			s, err := f.settleTable(a, cmd)
			if err != nil {
				return err
			}
			points, err := f.input.series(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			if err := enoughPoints(points); err != nil {
				return err
			}
			trend, err := report.NewTrend(points, report.TrendOptions{Options: s.options})
			if err != nil {
				return err
			}
			return a.Write(func(w *bufio.Writer) error { return profiles.WriteTrend(w, trend, s.format, s.render) })
		},
	}
	f.register(cmd)
	f.report.List(cmd, profiles.TrendSchema, "verdict=more", "-p,function", "function,p; +node")
	cli.LeaveOut(cmd, "mean")
	return cmd
}

// enoughPoints refuses what has no time to look at.
func enoughPoints(list []*profile.Profile) error {
	perNode := map[string]int{}
	for _, p := range list {
		if perNode[p.Origin.Node]++; perNode[p.Origin.Node] > 1 {
			return nil
		}
	}
	return &hints.Error{
		Err:    errors.New("a trend needs at least two profiles of a process"),
		Advice: "record some with kitescope profile pull --every 10m -O record; compare two with kitescope profile diff",
	}
}
